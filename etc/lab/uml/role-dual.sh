# role: a router on the kernel's PPPoE with IPv6 on the line, and a network of its own (dummy0) that wide-dhcpv6
# gets a prefix for.
# arguments: user password server (Internet address) server6 bytes

. "${role%/*}/link.sh"
sysctl -qw "net.ipv6.conf.$link.disable_ipv6=1" # else the line's IPoE would serve it, too
/run/modprobe dummy
ip link add dummy0 type dummy && ip link set dummy0 up
mount -t tmpfs tmpfs /var/lib/dhcpv6
echo "\"$user\" * \"$password\" *" >/etc/ppp/chap-secrets
pppd plugin rp-pppoe.so "nic-$link" user "$user" noauth noipdefault usepeerdns defaultroute +ipv6 mtu 1492 mru 1492 \
	nodetach debug logfd 2 >/run/pppd.log 2>&1 &
pppd=$!
global() { ip -6 -o addr show dev "$1" scope global -tentative | sed -nE 's/.*inet6 ([0-9a-f:]+).*/\1/p' | head -n 1; }
has_global() { [ -n "$(global "$1")" ]; }
if ! until_true 200 has_global ppp0; then
	echo "RESULT slaac none"
	cat /run/pppd.log
	ip -6 addr
else
	echo "RESULT linklocal $(ip -6 -o addr show dev ppp0 scope link | sed -nE 's/.*inet6 ([0-9a-f:]+).*/\1/p')"
	slaac=$(global ppp0)
	cat >/run/dhcp6c.conf <<-CONF
		interface ppp0 {
			send ia-pd 0;
			send ia-na 0;
			request domain-name-servers;
			script "/run/dhcp6c.sh";
		};
		id-assoc pd 0 {
			prefix-interface dummy0 {
				sla-id 1;
				sla-len 8;
			};
		};
		id-assoc na 0 {
		};
	CONF
	printf '#!/bin/sh\necho "$new_domain_name_servers" >/run/dns6\n' >/run/dhcp6c.sh
	chmod +x /run/dhcp6c.sh
	dhcp6c -f -D -c /run/dhcp6c.conf ppp0 >/run/dhcp6c.log 2>&1 &
	dhcp6c=$!
	until_true 200 has_global dummy0 || cat /run/dhcp6c.log
	until_true 20 test -s /run/dns6
	own=$(global dummy0)
	echo "RESULT na $(ip -6 -o addr show dev ppp0 scope global | sed -nE 's/.*inet6 ([0-9a-f:]+).*/\1/p' | grep -v "^$slaac\$" | head -n 1)"
	echo "RESULT dns6 $(cat /run/dns6)"
	pinged ping6 -I "$slaac" "$server6"
	pinged ping6-own -I "$own" "$server6"
	pinged ping6-1444 -M do -s 1444 -I "$own" "$server6"
	pinged ping "$server"
	ip -6 route add "$server6" dev ppp0 src "$own"
	bash "${role%/*}/transfer.sh" "$server6" "$bytes"
	ip -6 addr show
	echo "RESULT slaac $slaac"
	echo "RESULT own $own"
	sleep "${hold:-6}"
	kill $dhcp6c
	until_true 30 grep -qi 'release' /run/dhcp6c.log && echo "RESULT released yes"
	grep -iE 'prefix|address|release|reply|advertise' /run/dhcp6c.log | head -40
fi
kill $pppd && wait $pppd
grep -E 'sent|rcvd|IPV6' /run/pppd.log | head -60
