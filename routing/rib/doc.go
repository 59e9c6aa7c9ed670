// Package rib is the routing table of each VRF: it hears of routes from their sources, chooses the
// best of each prefix, and is the only one that programs entry.Route.
//
//	interfaces ---- connected, local, host ----+
//	static ---------- next hops ---------------+--> candidates of a prefix, best first
//	BGP ------------- next hops ---------------+
//	sessions ---- subscribers, aggregates -----+         |
//	                                                     v best usable
//	neighbours <-- Want / Unwant -- next hops <--- changed prefixes --> one batch in flight --> forwarder
//
// A change marks its prefix; marked prefixes are compiled into a batch when the inbox has been
// emptied, and what arrives while that batch is on its way gathers for the next one. So a storm of
// changes costs one entry per prefix, and every withdrawn route's cover is computed from exactly
// what the forwarder holds when it applies the entry.
//
// What somebody waits for goes before the many that BGP brings.
//
// A route with next hops shares them, and where they lead is computed once for all of its kind:
//
//	routes --> nexthops --> gateways --resolve--> hops --> bundle: one neighbour, or an entry.Group
//	(users)    (a set)      (an address)          (neighbours)     (hops in order)
//
// A gateway is resolved by the longest prefix with a usable route, whatever its source, and on through
// that route's next hops, eight deep. A route that would lead through itself is passed over. BGP's next
// hops may come down to a default route when nothing longer leads there (as on routers by Cisco and in
// FRR's traditional profile); static ones may not. A discard is reached when the operator made it
// (remote blackholing); our own addresses, loopbacks, unused pool addresses and subscribers are no
// next hops. The resolution follows from the candidates alone, so the order of events does not matter.
// Gateways are indexed by address: a changed prefix soils those that it covers, if they were not
// resolved by a longer one, and those that were resolved through them.
//
// When a next hop is not reached any more its routes stay and are not usable; their source says when
// to take them away.
//
// Several hops are an entry.Group, shared by all sets that come down to the same ones. When hops go
// and come for all sets of a group alike (a link fails), the group is put anew and no route is
// touched. The neighbour entries are asked for (Neighbors.Want) and stand before the group and the
// routes are programmed; they are given back when the forwarder has confirmed that nothing leads there.
//
// A refused batch is taken back whole: the refused route is put aside with its reason, the rest is
// sent again; see refused.go for when it is tried again. If the forwarder takes no more groups, routes
// get the first of their hops.
//
// A route costs some 210 bytes; a million of IPv4 and a quarter million of IPv6 were loaded in 8 s on
// one core of 2.8 GHz, the forwarder not counted (bench_test.go).
//
// Reading order: source.go, rib.go, interface.go, subscriber.go, static.go, bgp.go, table.go,
// flight.go, handover.go, gateway.go, nexthops.go, bundle.go, refused.go, watch.go, show.go, explain.go.
package rib
