#!/usr/bin/env bash
# A lab of your own on one machine: the router between simulated subscribers and an "Internet", each
# in a network namespace. With a terminal you are left in the router's CLI; without one the result is
# printed and judged. Everything is removed at the end.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ "$(id -u)" = 0 ] || { echo "run: namespaces and raw sockets need root" >&2; exit 1; }
subscribers=4
id=vbngrun$$
dir=$(mktemp -d /tmp/vbng-run.XXXXXX)
router=$id-router own=$id-own access=$id-access internet=$id-internet
pids=()

cleanup() {
	status=$?
	set +e
	# Last started, first ended: the subscribers hang up while the router still answers.
	for ((i = ${#pids[@]} - 1; i >= 0; i--)); do kill "${pids[i]}" 2>/dev/null; wait "${pids[i]}" 2>/dev/null; done
	bin/vbngd stop -run "$dir" >/dev/null 2>&1
	for ns in $router $own $access $internet; do ip netns del $ns 2>/dev/null; done
	if [ $status -ne 0 ]; then tail -n 30 "$dir"/*.log >&2; fi
	rm -rf "$dir"
	exit $status
}
trap cleanup EXIT
trap 'exit 130' INT TERM

wire() { # namespace device namespace device
	ip link add "$2" netns "$1" mtu 1600 type veth peer name "$4" netns "$3" mtu 1600
	for end in "$1 $2" "$3 $4"; do
		set -- $end
		ip netns exec "$1" ethtool -K "$2" tx off tso off gso off gro off >/dev/null 2>&1
		ip -n "$1" link set "$2" up
	done
}
until_true() { # seconds what command...
	local deadline=$((SECONDS + $1)) what=$2
	shift 2
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $deadline ] || { echo "run: $what: gave up" >&2; return 1; }
		sleep 0.1
	done
}
vbng() { bin/vbng -socket "$dir/vbng.sock" "$@"; }
all_up() { [ "$(vbng -c 'show subscribers' | grep -cE ' sub[0-9]+ .* up( |$)')" -eq $subscribers ]; }

for ns in $router $own $access $internet; do
	ip netns add $ns
	ip -n $ns link set lo up
done
wire $router access0 $access acc0
wire $router core0 $internet net0
ip -n $internet addr add 198.51.100.2/24 dev net0
ip -n $internet route add default via 198.51.100.1

ip netns exec $router bin/vbngd -netns $own -run "$dir" -state "$dir/state" -seed etc/vbng.conf >"$dir/vbngd.log" 2>&1 &
pids+=($!)
until_true 15 "router start" vbng -c 'show engine'

ip netns exec $access bin/vbng-sim pppoe --interface acc0 --count $subscribers --user sub%d --password lab-only \
	--svlan 100 --cvlan 1-100 --script "up; hold 24h" >"$dir/vbng-sim.log" 2>&1 &
pids+=($!)
until_true 20 "subscribers up" all_up
address=$(vbng -c 'show subscribers' | awk '/ sub1 /{for (i=1;i<=NF;i++) if ($i ~ /^100\.64\./) print $i}')

if [ -t 0 ] && [ -t 1 ]; then
	ip netns exec $internet ping -c 3 -i 0.2 "$address" || true
	cat <<-TEXT

	The router is up with $subscribers subscribers. Try: show subscribers, show interfaces, show ip route, show engine,
	configure, ?   From another terminal the Internet side is: ip netns exec $internet ping $address
	'exit' ends the lab.

	TEXT
	trap : INT # Ctrl-C is the shell's: it stops a command there, not the lab
	vbng || true
	trap 'exit 130' INT
	exit 0
fi

vbng -c 'show subscribers'
ip netns exec $internet ping -c 3 -i 0.2 -W 2 "$address" | tee "$dir/ping.txt"
vbng -c 'show interfaces'
all_up || { echo "run: a subscriber is missing" >&2; exit 1; }
grep -q ' 3 received' "$dir/ping.txt" || { echo "run: a ping reply is missing" >&2; exit 1; }
