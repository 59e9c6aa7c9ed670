# role: one subscriber on the kernel's PPPoE.
# arguments: user password auth (chap or pap) vlan (none, S, S.C) server (Internet address) bytes mtu (1492)

. "${role%/*}/link.sh"
echo "\"$user\" * \"$password\" *" >/etc/ppp/$auth-secrets
chmod 600 /etc/ppp/$auth-secrets

refuse=refuse-pap
[ "$auth" = pap ] && refuse=refuse-chap
pppd plugin rp-pppoe.so "nic-$link" user "$user" $refuse noauth noipdefault usepeerdns defaultroute \
	mtu "${mtu:-1492}" mru "${mtu:-1492}" lcp-echo-interval 2 lcp-echo-failure 5 noipv6 nodetach debug logfd 2 >/run/pppd.log 2>&1 &
pppd=$!
n=0
while [ $n -lt 150 ] && kill -0 $pppd 2>/dev/null && ! ip -4 addr show ppp0 2>/dev/null | grep -q inet; do
	sleep 0.1
	n=$((n + 1))
done
if ! ip -4 addr show ppp0 2>/dev/null | grep -q inet; then
	echo "RESULT up no"
	cat /run/pppd.log
else
	echo "RESULT up yes"
	echo "RESULT address $(ip -4 -o addr show ppp0 | sed -E 's/.*inet ([0-9.]+).*/\1/')"
	echo "RESULT dns $(sed -n 's/^nameserver //p' /etc/ppp/resolv.conf | tr '\n' ' ')"
	ping -c 5 -i 0.2 -W 2 "$server" >/run/ping.log 2>&1 && echo "RESULT ping ok" || { echo "RESULT ping failed"; cat /run/ping.log; }
	ping -c 2 -i 0.2 -W 2 -M do -s 1464 "$server" >/run/ping.log 2>&1 && echo "RESULT ping1464 ok" || { echo "RESULT ping1464 failed"; cat /run/ping.log; }
	[ -z "$mtu" ] || pinged "ping$((mtu - 28))" -M do -s $((mtu - 28)) "$server"
	[ -z "$bytes" ] || bash "${role%/*}/transfer.sh" "$server" "$bytes"
	sleep "${hold:-5}"
	echo "RESULT echo-replies $(grep -c 'rcvd \[LCP EchoRep' /run/pppd.log)"
	echo "RESULT ppp-bytes $(awk -F'[: ]+' '/ppp0/{print "rx=" $3 " tx=" $11}' /proc/net/dev)"
fi
[ -z "$silent" ] && kill $pppd && wait $pppd
grep -E 'sent|rcvd|CHAP|PAP|auth' /run/pppd.log | head -60
