// Package policy holds what filters and changes routes on their way in and out: prefix lists and route
// maps. A protocol reads them from the configuration tree with Read and applies them itself; the package
// is the subsystem that declares, checks and shows them.
//
//	ip prefix-list customers
//	 seq 10 permit 203.0.113.0/24 le 28
//	 seq 20 deny 0.0.0.0/0 le 32
//	!
//	route-map transit-in
//	 seq 10 permit
//	  match ip prefix-list customers
//	  set local-preference 200
//
// Both are lists in the order of their sequence numbers: the first entry that matches decides, and what
// no entry matches is denied. A route-map entry without match matches every route.
//
// Reading order: prefixlist.go, routemap.go, types.go, config.go, subsystem.go, show.go.
package policy
