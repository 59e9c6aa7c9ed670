//go:build lab

package lab

import "strings"

// changesConfig is the router whose configuration is changed under traffic. What its subscribers send leaves by static
// routes over neighbours that are not asked for, so that routes, next hops and neighbours can be changed, too.
func changesConfig() string {
	return strings.NewReplacer("$PROFILE", `ip unnumbered loopback0
 ip pool residential
 dns 9.9.9.9 149.112.112.112
 ipv6 prefix pool ra
 ipv6 address pool na
 ipv6 delegated pool pd
 ipv6 dns 2001:db8::53`, "$PPPOE", pppoeMAC, "$IPOE", ipoeMAC, "$CORE6", CoreAddr6, "$CORE", CoreAddr,
		"$RADIUS", RADIUSAddr, "$SECRET", Secret, "$MGMT", MgmtAddr).Replace(`hostname bng1
!
interface access0
 pppoe profile residential
 ipoe profile home
 subscriber vlans 102-103.any pppoe gold
!
interface core0
 ip address $CORE/24
 ip arp 198.51.100.9 mac $PPPOE
 ip arp 198.51.100.10 mac $PPPOE
 ip arp 198.51.100.11 mac $IPOE
 ipv6 address $CORE6/64
 ipv6 neighbor 2001:db8:ffff::9 mac $PPPOE
 ipv6 neighbor 2001:db8:ffff::10 mac $PPPOE
 ipv6 neighbor 2001:db8:ffff::11 mac $IPOE
!
interface spare0
 ip address 10.9.0.1/24
!
interface loopback0
 ip address 100.64.0.1/32
 ipv6 address 2001:db8::1/128
!
ip pool residential
 range 100.64.0.2 100.64.7.254
!
ipv6 pool ra
 prefix 2001:db8:a000::/48 length 64
!
ipv6 pool na
 prefix 2001:db8:b000::/64 length 128
!
ipv6 pool pd
 prefix 2001:db8:c000::/40 length 56
!
ip route 203.0.113.0/24 198.51.100.9
ip route 203.0.114.0/24 198.51.100.11
ipv6 route 2001:db8:f1::/48 2001:db8:ffff::9
ipv6 route 2001:db8:f2::/48 2001:db8:ffff::11
!
radius server main
 address $RADIUS
 secret $SECRET
 vrf management
!
aaa
 authentication radius
 accounting radius
 nas-ip-address $MGMT
 interim-interval 60
!
user spare
 password secret
!
pppoe profile residential
 ac-name bng1
 authentication chap pap
 echo-interval 5
 $PROFILE
!
pppoe profile gold
 authentication chap pap
 $PROFILE
!
ipoe profile home
 password ipoe
 $PROFILE
!
`)
}

// SpareLink gives the router a port that carries no traffic.
func (l *Lab) SpareLink() {
	l.t.Helper()
	l.link("R", "spare0", "I", "spare1", 1600)
	l.link("R", "spare2", "I", "spare3", 1600)
}
