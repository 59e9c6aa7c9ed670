# role: a host with busybox's DHCP client; with a user, it has a PPPoE session on the same VLAN at the same time.
# arguments: vlan (none, S, S.C) server (Internet address) bytes user password

sysctl -qw net.ipv6.conf.all.disable_ipv6=1
. "${role%/*}/link.sh"
cp "${role%/*}/dhcp.sh" /run/
udhcpc -f -i $link -s /run/dhcp.sh -t 5 -T 2 -A 2 >/run/udhcpc.log 2>&1 &
udhcpc=$!
if [ -n "$user" ]; then
	echo "\"$user\" * \"$password\" *" >/etc/ppp/chap-secrets
	pppd plugin rp-pppoe.so "nic-$link" user "$user" noauth noipdefault mtu 1492 mru 1492 noipv6 nodetach >/run/pppd.log 2>&1 &
	pppd=$!
fi
has_address() { ip -4 addr show "$1" | grep -q inet; }
if ! until_true 200 has_address $link; then
	echo "RESULT up no"
	cat /run/udhcpc.log
else
	echo "RESULT up yes"
	echo "RESULT address $(ip -4 -o addr show $link | sed -E 's/.*inet ([0-9.]+).*/\1/')"
	pinged ping "$server"
	pinged ping1472 -M do -s 1472 "$server"
	bash "${role%/*}/transfer.sh" "$server" "$bytes"
	if [ -n "$user" ]; then
		until_true 100 has_address ppp0 || cat /run/pppd.log
		own=$(ip -4 -o addr show ppp0 | sed -E 's/.*inet ([0-9.]+).*/\1/')
		echo "RESULT ppp-address $own"
		ip route add "$server" dev ppp0 table 100
		ip rule add oif ppp0 lookup 100
		ip rule add from "$own" lookup 100
		pinged ping-again -I $link "$server"
		pinged ppp-ping -I ppp0 "$server"
		sleep "${hold:-3}"
		kill $pppd && wait $pppd
	fi
	kill -USR1 $udhcpc
	until_true 50 grep -q ^renew /run/events && echo "RESULT renewed yes"
	kill -USR2 $udhcpc
	until_true 50 grep -q released /run/udhcpc.log && echo "RESULT released yes"
fi
cat /run/udhcpc.log
