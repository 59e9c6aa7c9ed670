#!/bin/sh
# What the DHCP clients of the labs run in place of the packages' scripts, which would rewrite the
# machine's resolv.conf and host name. It writes a line per event into the file "events" beside itself,
# and gives the interface what dhclient and udhcpc leave to their script; dhcpcd does that by itself.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
here=${0%/*}
case ${1:-} in
-*) set -- ;;
esac
event=${reason:-${1:-none}}

# udhcpc says ip, mask (a prefix length), router, dns; dhclient and dhcpcd say new_*.
address=${new_ip_address:-${ip:-}}
routers=${new_routers:-${router:-}}
dns=${new_domain_name_servers:-${dns:-}}
address6=${new_ip6_address:-${new_dhcp6_ia_na1_ia_addr1:-}}
prefix6=${new_ip6_prefix:-}
[ -z "${new_dhcp6_ia_pd1_prefix1:-}" ] || prefix6=$new_dhcp6_ia_pd1_prefix1/$new_dhcp6_ia_pd1_prefix1_length
dns6=${new_dhcp6_name_servers:-}
echo "$event address=$address router=$routers address6=$address6 prefix6=$prefix6 dns=$(echo $dns | tr ' ' ,) dns6=$(echo $dns6 | tr ' ' ,)" >>"$here/events"

[ ! -e "$here/self" ] || exit 0 # the client configures the interface
gateway=${routers%% *}
case $event in
BOUND | RENEW | REBIND | REBOOT | bound | renew)
	ip addr replace "$address/32" dev "$interface"
	ip route replace "$gateway" dev "$interface" src "$address"
	ip route replace default via "$gateway" dev "$interface"
	;;
EXPIRE | FAIL | RELEASE | STOP | deconfig) ip -4 addr flush dev "$interface" scope global ;;
BOUND6 | RENEW6 | REBIND6)
	[ -z "$address6" ] || ip addr replace "$address6/128" dev "$interface" nodad
	;;
esac
exit 0
