// Package rib is the routing table of each VRF: it hears of routes from their sources, chooses the
// best of each prefix, and is the only one that programs entry.Route.
//
//	interfaces ---- connected, local, host ----+
//	static ---------- next hops ---------------+--> candidates of a prefix, best first
//	sessions ---- subscribers, aggregates -----+         |
//	                                                     v best usable
//	neighbours <-- Want / Unwant -- next hops <--- changed prefixes --> one batch in flight --> forwarder
//
// A change marks its prefix; marked prefixes are compiled into a batch when the inbox has been
// emptied, and what arrives while that batch is on its way gathers for the next one. So a storm of
// changes costs one entry per prefix, and every withdrawn route's cover is computed from exactly
// what the forwarder holds when it applies the entry.
//
// A static route's next hop must lie on a connected prefix. The neighbour entry it needs is asked
// for (Neighbors.Want) and stands before the route is programmed; it is given back after the
// forwarder has confirmed that no route leads there any more.
//
// A refused batch is taken back whole: the refused route is put aside with its reason, the rest is
// sent again.
//
// Reading order: source.go, rib.go, subscriber.go, table.go, flight.go, nexthop.go, static.go, show.go.
package rib
