package iface

import (
	"maps"
	"net/netip"
	"slices"
	"time"

	"vbng/control/clock"
	"vbng/forwarding/entry"
)

const (
	retryInterval = time.Second     // RFC 4861 10, RETRANS_TIMER
	maxAttempts   = 3               // RFC 4861 10, MAX_MULTICAST_SOLICIT and MAX_UNICAST_SOLICIT
	failedHold    = 5 * time.Second // how long nobody is asked again
)

// Limits bound the neighbour table, so that a scan of our networks cannot exhaust it. Neighbours that routes
// need as next hops are always admitted.
type Limits struct {
	Total             int // neighbours in all
	PerInterface      int // resolved and unresolved
	UnresolvedPerLink int // being asked for, or failed: the oldest makes room
}

func (l Limits) orUsual() Limits {
	if l.Total == 0 {
		l.Total = 12288 // within what the forwarder holds as a rule, with room for next hops
	}
	if l.PerInterface == 0 {
		l.PerInterface = 8192
	}
	if l.UnresolvedPerLink == 0 {
		l.UnresolvedPerLink = 256
	}
	return l
}

// neighbor is one neighbour on a link.
type neighbor struct {
	link       *link
	addr       netip.Addr
	state      neighborState
	mac        entry.MAC
	since      time.Time // of the last answer, or of the first request
	attempts   int
	timer      clock.Timer
	generation uint64 // of the timer: a message of an older one is stale
	wants      int    // next hops that need the entry
	silent     bool   // they have been told that it does not answer
	programmed entry.Neighbor
	host       presence  // of its host route
	saved      entry.MAC // in the memory, zero: not there
	fixed      bool      // named by the operator: neither asked for nor forgotten
	router     bool      // it says so (RFC 4861 4.4)
}

// Want implements rib.Neighbors.
func (i *Interfaces) Want(id entry.InterfaceID, addr netip.Addr, ready func()) {
	i.loop.Post(want{id, addr, ready})
}

// Unwant implements rib.Neighbors.
func (i *Interfaces) Unwant(id entry.InterfaceID, addr netip.Addr) { i.loop.Post(unwant{id, addr}) }

type want struct {
	id    entry.InterfaceID
	addr  netip.Addr
	ready func()
}

func (m want) handle(i *Interfaces) {
	l := i.links[m.id]
	if l == nil || l.programmed.ID == 0 {
		i.options.Log.Error("next hop on an interface that is not there", "interface", m.id, "next-hop", m.addr)
		return
	}
	n := l.neighbors[m.addr]
	if n == nil {
		n = i.addNeighbor(l, m.addr)
	}
	n.wants++
	l.unqueue(n)
	i.convergeNeighbor(n)
	i.feed(n, need)
	i.later(m.ready)
}

type unwant struct {
	id   entry.InterfaceID
	addr netip.Addr
}

func (m unwant) handle(i *Interfaces) {
	l := i.links[m.id]
	if l == nil || l.neighbors[m.addr] == nil {
		return // the Want was refused
	}
	n := l.neighbors[m.addr]
	if n.wants == 0 {
		return // so was it, and the neighbour was learnt since
	}
	if n.wants--; n.wants == 0 && !n.state.resolved() {
		i.reset(n)
	}
	i.convergeNeighbor(n)
	i.settle(l)
}

// settle goes on with a link that may have waited for its last neighbour to go.
func (i *Interfaces) settle(l *link) {
	if l.idle() {
		i.convergeOne(l)
	}
}

// addNeighbor adds a neighbour, idle.
func (i *Interfaces) addNeighbor(l *link, addr netip.Addr) *neighbor {
	n := &neighbor{link: l, addr: addr, since: i.loop.Now()}
	l.neighbors[addr] = n
	i.neighbors++
	return n
}

// admit adds a neighbour that no route needs, if the limits allow it.
func (i *Interfaces) admit(l *link, addr netip.Addr) *neighbor {
	limits := i.options.Limits
	full := func() bool { return len(l.neighbors) >= limits.PerInterface || i.neighbors >= limits.Total }
	for len(l.unresolved) > 0 && (len(l.unresolved) >= limits.UnresolvedPerLink || full()) {
		i.heardOf(addr).evicted++
		i.reset(l.unresolved[0])
	}
	if full() {
		i.heardOf(addr).full++
		if l.quiet.allow(i.loop.Now()) {
			i.options.Log.Warn("neighbour table is full", "interface", l.name, "neighbors", len(l.neighbors), "total", i.neighbors)
		}
		return nil
	}
	return i.addNeighbor(l, addr)
}

// queue puts a neighbour behind the unresolved ones that may have to make room.
func (l *link) queue(n *neighbor) {
	if n.wants == 0 && !slices.Contains(l.unresolved, n) {
		l.unresolved = append(l.unresolved, n)
	}
}

func (l *link) unqueue(n *neighbor) {
	if at := slices.Index(l.unresolved, n); at >= 0 {
		l.unresolved = slices.Delete(l.unresolved, at, at+1)
	}
}

// feed gives the machine an event.
func (i *Interfaces) feed(n *neighbor, e neighborEvent) {
	next, actions := step(n.state, e)
	if n.state != next {
		n.state, n.attempts = next, 0
	}
	for _, a := range actions {
		i.act(n, a)
	}
	if n.state == incomplete || n.state == failed {
		n.link.queue(n)
	}
	if len(actions) > 0 {
		i.convergeNeighbor(n)
	}
}

func (i *Interfaces) act(n *neighbor, a action) {
	switch a {
	case ask, probe:
		n.attempts++
		i.request(n, a == probe)
		i.arm(n, retryInterval)
	case learn:
		n.since = i.loop.Now()
		n.link.unqueue(n)
		i.arm(n, n.life())
	case suppose:
		n.since = i.loop.Now()
		n.link.unqueue(n)
	case forget:
		n.mac = entry.MAC{}
	case hold:
		i.arm(n, failedHold)
	case remove:
		i.reset(n)
	}
}

// life is how long an answer is believed: the configured time less up to a tenth, different for each
// address, so that a network learnt at one time is not verified at one time.
func (n *neighbor) life() time.Duration {
	timeout := n.link.want.arpTimeout
	return timeout - timeout*time.Duration(spread(n.addr))/640
}

// spread returns a number from 0 to 63 that depends on the address alone.
func spread(a netip.Addr) uint8 {
	b := a.As16()
	return (b[15]*37 ^ b[14]*11 ^ b[13]) % 64
}

// arm starts the neighbour's timer in place of the one that runs.
func (i *Interfaces) arm(n *neighbor, d time.Duration) {
	i.disarm(n)
	n.timer = i.loop.After(d, neighborTimer{n, n.generation})
}

func (i *Interfaces) disarm(n *neighbor) {
	if n.timer != nil {
		n.timer.Stop()
		n.timer = nil
	}
	n.generation++
}

// neighborTimer tells that a neighbour's timer went off.
type neighborTimer struct {
	neighbor   *neighbor
	generation uint64
}

func (m neighborTimer) handle(i *Interfaces) {
	n := m.neighbor
	if m.generation != n.generation {
		return
	}
	n.timer = nil
	asking := n.state == incomplete || n.state == stale
	if asking && n.attempts < maxAttempts {
		i.feed(n, retry)
		return
	}
	i.feed(n, lapse)
	if n.state == idle && n.wants > 0 && n.link.up() {
		i.feed(n, need) // a route waits for it: never give up
	}
}

// reset returns a neighbour to idle; one that nothing needs vanishes.
func (i *Interfaces) reset(n *neighbor) {
	i.disarm(n)
	n.state, n.mac, n.attempts, n.fixed = idle, entry.MAC{}, 0, false
	n.link.unqueue(n)
	i.convergeNeighbor(n)
}

// convergeNeighbor programs what the neighbour's state asks for: an entry while a route needs it or
// it is resolved, and a host route while it is resolved.
func (i *Interfaces) convergeNeighbor(n *neighbor) {
	l := n.link
	// A link-local address is nobody's route: every link has the same ones.
	useful := n.state.resolved() && l.up() && !n.addr.IsLinkLocalUnicast()
	if !useful && n.host == present {
		n.host = leaving
		i.later(func() {
			i.options.Routes.DeleteInterfaceRoute(l.vrf, n.prefix(), l.id, n.target(), func() { i.loop.Post(hostGone{n}) })
		})
	}
	i.remember(n)
	i.programNeighbor(n, n.wants > 0 || useful || n.host != absent)
	if useful && n.host == absent {
		n.host = present
		i.later(func() { i.options.Routes.AddInterfaceRoute(l.vrf, n.prefix(), l.id, n.target()) })
	}
	i.tellState(n)
	if n.state == idle && n.wants == 0 && n.host == absent && l.neighbors[n.addr] == n {
		delete(l.neighbors, n.addr)
		i.neighbors--
	}
}

// tellState tells the RIB when a next hop does not answer, or has not yet, and when it does: groups of next hops
// leave it out meanwhile.
func (i *Interfaces) tellState(n *neighbor) {
	silent := n.wants > 0 && !n.state.resolved()
	if silent == n.silent {
		return
	}
	if n.silent = silent; n.wants > 0 {
		i.later(func() { i.options.Routes.NeighborState(n.link.id, n.addr, !silent) })
	}
}

// programNeighbor puts or deletes the entry.
func (i *Interfaces) programNeighbor(n *neighbor, wanted bool) {
	var b entry.Batch
	e := entry.Neighbor{Interface: n.link.id, Addr: n.addr}
	switch {
	case wanted:
		if e.Resolved = n.state.resolved(); e.Resolved {
			e.MAC = n.mac
		}
		if n.programmed == e {
			return
		}
		b.Put(e)
		n.programmed = e
	case n.programmed.Interface != 0:
		b.Delete(e)
		n.programmed = entry.Neighbor{}
	}
	i.program(&b, func(reason string) { n.link.problem = reason })
}

func (n *neighbor) prefix() netip.Prefix { return netip.PrefixFrom(n.addr, n.addr.BitLen()) }

func (n *neighbor) target() entry.Target {
	return entry.Target{Kind: entry.TargetNeighbor, Interface: n.link.id, Addr: n.addr}
}

// hostGone tells that the forwarder has let go of a neighbour's host route.
type hostGone struct{ neighbor *neighbor }

func (m hostGone) handle(i *Interfaces) {
	m.neighbor.host = absent
	i.convergeNeighbor(m.neighbor)
	i.settle(m.neighbor.link)
}

// dropNeighbors forgets the neighbours of a link that go, and asks for those that are needed again.
func (i *Interfaces) dropNeighbors(l *link, goes func(*neighbor) bool) {
	for _, a := range slices.SortedFunc(maps.Keys(l.neighbors), netip.Addr.Compare) {
		n := l.neighbors[a]
		switch {
		case goes(n):
			i.reset(n)
		case n.state == idle && n.wants > 0:
			i.feed(n, need)
		}
	}
}
