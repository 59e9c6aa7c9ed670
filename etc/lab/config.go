//go:build lab

package lab

import "fmt"

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
