//go:build lab

package lab

import (
	"fmt"
	"strings"
)

// Secret is shared by the router and the RADIUS servers of the labs.
const Secret = "lab-secret"

// radiusConfig is the router of the standard lab with RADIUS as its only judge. Server carries extra
// lines of the server ("legacy"), profile extra lines of the PPPoE profile.
func radiusConfig(server, profile string) string {
	return fmt.Sprintf(`hostname bng1
!
engine
 workers 1
!
interface access0
 pppoe profile residential
!
interface core0
 ip address %s/24
!
interface loopback0
 ip address 100.64.0.1/32
!
ip pool residential
 range 100.64.0.2 100.64.63.254
!
ip route 0.0.0.0/0 %s
!
radius server main
 address %s
 secret %s
 vrf management
 %s
!
aaa
 authentication radius
 accounting radius
 nas-ip-address %s
 interim-interval 60
!
pppoe profile residential
 ac-name bng1
 authentication chap pap
 ip unnumbered loopback0
 ip pool residential
 dns 9.9.9.9 149.112.112.112
 echo-interval 5
 echo-misses 3
 %s
!
`, CoreAddr, InternetAddr, RADIUSAddr, Secret, server, MgmtAddr, profile)
}

// dualConfig is the router of the standard lab with both families for PPPoE and IPoE on the same port. Addresses of
// every kind come from pools unless RADIUS says others. Lines are added to the IPoE profile.
func dualConfig(lines ...string) string {
	return radiusConfig("", dualLines) + fmt.Sprintf(`interface access0
 ipoe profile home
!
interface core0
 ipv6 address %s/64
!
interface loopback0
 ipv6 address 2001:db8::1/128
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
ipv6 route ::/0 %s
!
ipoe profile home
 password ipoe
 ip unnumbered loopback0
 ip pool residential
 dns 9.9.9.9 149.112.112.112
 %s
 %s
!
`, CoreAddr6, InternetAddr6, dualLines, strings.Join(lines, "\n "))
}

const dualLines = ` ipv6 prefix pool ra
 ipv6 address pool na
 ipv6 delegated pool pd
 ipv6 dns 2001:db8::53 2001:db8::54`
