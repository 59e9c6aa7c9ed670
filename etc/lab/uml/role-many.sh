# role: many subscribers on one wire, each with a VLAN pair, a MAC and a payload of its own.
# arguments: count user password server

echo "\"$user\" * \"$password\" *" >/etc/ppp/chap-secrets
chmod 600 /etc/ppp/chap-secrets
ip link add link eth0 name s0 type vlan proto 802.1ad id 300 && ip link set s0 up
i=1
while [ $i -le "$count" ]; do
	ip link add link s0 name "c$i" address "$(printf '02:50:00:00:00:%02x' $i)" type vlan id $((1000 + i))
	ip link set "c$i" up
	pppd plugin rp-pppoe.so "nic-c$i" unit $i user "$user" noauth noipdefault mtu 1492 mru 1492 noipv6 \
		lcp-echo-interval 10 nodetach >"/run/pppd$i.log" 2>&1 &
	i=$((i + 1))
done
n=0
while [ $n -lt 300 ] && [ "$(ip -4 -o addr show | grep -c ppp)" -lt "$count" ]; do sleep 0.1; n=$((n + 1)); done
echo "RESULT up $(ip -4 -o addr show | grep -c ppp)"
echo "RESULT addresses $(ip -4 -o addr show | sed -nE 's/.*ppp[0-9]+ +inet ([0-9.]+).*/\1/p' | sort -u | wc -l)"

# ping compares every payload byte with the pattern it sent, so a packet of another session shows.
good=0
i=1
while [ $i -le "$count" ]; do
	ip route add "$server" dev "ppp$i" table $((100 + i))
	ip rule add oif "ppp$i" lookup $((100 + i))
	ping -c 4 -i 0.2 -W 2 -s 1000 -p "$(printf '%02xa5%02x' $i $((255 - i)))" -I "ppp$i" "$server" >"/run/ping$i.log" 2>&1 &
	i=$((i + 1))
done
sleep 6
i=1
while [ $i -le "$count" ]; do
	if grep -q ' 4 received' "/run/ping$i.log" && ! grep -q 'wrong data' "/run/ping$i.log"; then
		good=$((good + 1))
	else
		cat "/run/ping$i.log"
	fi
	i=$((i + 1))
done
echo "RESULT payloads $good"
