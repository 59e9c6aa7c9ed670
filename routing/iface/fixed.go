package iface

import (
	"maps"
	"net/netip"
	"slices"
)

// fixNeighbors brings the neighbours that the operator named to what is configured.
func (i *Interfaces) fixNeighbors(l *link) {
	i.dropNeighbors(l, func(n *neighbor) bool {
		_, named := l.fixed()[n.addr]
		return n.fixed && !named
	})
	wanted := l.fixed()
	for _, a := range slices.SortedFunc(maps.Keys(wanted), netip.Addr.Compare) {
		mac := wanted[a]
		n := l.neighbors[a]
		if n == nil {
			n = i.addNeighbor(l, a)
		}
		if n.fixed && n.mac == mac {
			continue
		}
		i.disarm(n)
		l.unqueue(n)
		n.fixed, n.mac, n.state, n.since = true, mac, reachable, i.loop.Now()
		i.convergeNeighbor(n)
	}
}
