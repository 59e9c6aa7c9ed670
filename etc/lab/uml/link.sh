# Makes the device that a role uses, and names it in $link.
# arguments: device (eth0), vlan (none, S, S.C), tpid (of S with S.C; 802.1ad)
link=${device:-eth0}
ip link set $link up
case $vlan in
none | '') ;;
*.*)
	ip link add link $link name s0 type vlan proto "${tpid:-802.1ad}" id "${vlan%.*}" && ip link set s0 up
	ip link add link s0 name c0 type vlan id "${vlan#*.}" && ip link set c0 up
	link=c0
	;;
*) ip link add link $link name s0 type vlan id "$vlan" && ip link set s0 up && link=s0 ;;
esac

# until_true TENTHS COMMAND...
until_true() {
	left=$1
	shift
	until "$@" >/dev/null 2>&1; do
		left=$((left - 1))
		[ $left -gt 0 ] || return 1
		sleep 0.1
	done
}
# pinged NAME OPTIONS...: RESULT NAME ok when each of three pings was answered
pinged() {
	name=$1
	shift
	ping -c 3 -i 0.2 -W 2 "$@" >/run/ping.log 2>&1 && echo "RESULT $name ok" || { echo "RESULT $name failed"; cat /run/ping.log; }
}
