// Package vrf owns the names of the routing tables (VRFs, RFC 4364 3), their numbers, and the router's
// own sockets in them.
//
//	vrf red
//	 description Customers of the red tariff
//	!
//	interface core0.100
//	 vrf red
//
// The default VRF has number 0 and no line. The management VRF is no VRF of the router: it is the
// host's own stack in the network namespace that the router was started in.
//
// Every VRF has a TUN in the namespace of the control process, by which the kernel serves the VRF's
// addresses; a socket belongs to a VRF by being bound to that TUN (SO_BINDTODEVICE). routing/iface makes
// the TUNs and tells the kernel which addresses stand behind them.
//
// Reading order: table.go, config.go, sockets.go, icmp.go.
package vrf
