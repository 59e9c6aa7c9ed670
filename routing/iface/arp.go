package iface

import (
	"net/netip"
	"time"

	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
)

const (
	announcements    = 2                // RFC 5227 1.1, ANNOUNCE_NUM
	announceInterval = 2 * time.Second  // RFC 5227 1.1, ANNOUNCE_INTERVAL
	defendInterval   = 10 * time.Second // RFC 5227 1.1, DEFEND_INTERVAL
	quietInterval    = time.Second      // between log lines that outsiders can cause
)

var broadcastMAC = entry.MAC{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// neighborCounters count what ARP or neighbour discovery saw and did.
type neighborCounters struct {
	requests    uint64 // sent, solicitations
	unsent      uint64 // the ring to the forwarder was full
	answers     uint64 // taken over
	unsolicited uint64 // for neighbours that we do not know and did not ask for
	offLink     uint64 // sender or destination is no neighbour of the interface
	conflicts   uint64 // somebody uses our address
	moved       uint64 // a neighbour changed its MAC address
	evicted     uint64 // unresolved ones that made room
	full        uint64 // not admitted
}

// limiter lets one event through per quietInterval.
type limiter struct{ next time.Time }

func (l *limiter) allow(now time.Time) bool {
	if now.Before(l.next) {
		return false
	}
	l.next = now.Add(quietInterval)
	return true
}

// heardOf returns the counters of an address's family.
func (i *Interfaces) heardOf(a netip.Addr) *neighborCounters {
	if a.Is4() {
		return &i.arp
	}
	return &i.nd
}

// request asks for a neighbour's MAC address: the neighbour alone, where it was last, or everybody.
func (i *Interfaces) request(n *neighbor, alone bool) {
	source := n.link.source(n.addr)
	if !source.IsValid() {
		return
	}
	i.heardOf(n.addr).requests++
	switch {
	case n.addr.Is6():
		i.solicit(n, source, alone)
	case alone:
		i.sendARP(n.link, source, n.addr, n.mac)
	default:
		i.sendARP(n.link, source, n.addr, broadcastMAC)
	}
}

// announceAddress tells the neighbourhood where an address of ours is (RFC 5227 2.3): caches that
// hold it with another MAC address take ours over.
func (i *Interfaces) announceAddress(l *link, addr netip.Addr, times int) {
	if l.port == nil || !l.up() || !l.own(addr) {
		return
	}
	if addr.Is4() {
		i.sendARP(l, addr, addr, broadcastMAC)
	} else {
		i.advertise(l, addr)
	}
	if times > 1 {
		i.loop.After(announceInterval, announceAgain{l, addr, times - 1})
	}
}

type announceAgain struct {
	link  *link
	addr  netip.Addr
	times int
}

func (m announceAgain) handle(i *Interfaces) { i.announceAddress(m.link, m.addr, m.times) }

// announcePort announces all addresses of a port whose MAC address changed.
func (i *Interfaces) announcePort(p *port) {
	for _, l := range i.links {
		if l.port != p || !l.up() {
			continue
		}
		for _, a := range l.ownAddresses() {
			i.announceAddress(l, a, announcements)
		}
	}
}

func (i *Interfaces) sendARP(l *link, source, target netip.Addr, destination entry.MAC) {
	if !i.options.Programmer.Inject(l.port.id, arpRequest(l.mac(), destination, l.want.tags, source, target)) {
		i.arp.unsent++
	}
}

// arpRequest returns the frame of an ARP request. The target's hardware address is unknown, so zero
// (RFC 826), also when the frame goes to one neighbour only.
func arpRequest(source, destination entry.MAC, t tags, sourceIP, targetIP netip.Addr) []byte {
	frame := make([]byte, wire.EthernetLength+2*wire.TagLength+wire.ARPLength)
	n := wire.PutTagged(frame, destination, source, t.outerTPID, t.outerVLAN, t.innerVLAN, wire.TypeARP)
	n += wire.PutARP(frame[n:], wire.ARPRequest, source, sourceIP.As4(), [6]byte{}, targetIP.As4())
	return frame[:n]
}

// heard is a decoded ARP packet.
type heard struct {
	id        entry.InterfaceID
	operation uint16
	mac       entry.MAC // of the sender
	sender    netip.Addr
	target    netip.Addr
}

// RFC 826, "Packet Reception": what we know is brought up to date, what is new is learnt only from
// somebody who asked for us (or whom we asked: then it is there as incomplete).
func (m heard) handle(i *Interfaces) {
	l := i.links[m.id]
	if l == nil || !l.up() || m.mac == l.mac() {
		return
	}
	if l.own(m.sender) {
		i.conflict(l, m.sender, m.mac)
		return
	}
	if m.sender.IsUnspecified() {
		return // a probe (RFC 5227 2.1.1); the forwarder answers if it is for us
	}
	if !l.onLink(m.sender) {
		i.arp.offLink++
		return
	}
	n := l.neighbors[m.sender]
	if n == nil || n.state == idle && n.wants == 0 {
		if m.operation != wire.ARPRequest || !l.own(m.target) {
			i.arp.unsolicited++
			return
		}
		if n == nil {
			n = i.admit(l, m.sender)
		}
	}
	if n != nil {
		i.bind(n, m.mac, answer)
	}
}

// bind takes a neighbour's MAC address over.
func (i *Interfaces) bind(n *neighbor, mac entry.MAC, e neighborEvent) {
	if n.fixed {
		return
	}
	c := i.heardOf(n.addr)
	c.answers++
	if n.state.resolved() && n.mac != mac {
		c.moved++
		if n.link.quiet.allow(i.loop.Now()) {
			i.options.Log.Warn("neighbour changed its MAC address", "interface", n.link.name, "address", n.addr, "from", n.mac, "to", mac)
		}
	}
	n.mac = mac
	i.feed(n, e)
}

// conflict deals with somebody who uses an address of ours: it is told, and the address is defended
// (RFC 5227 2.4 (b): an announcement, not more often than each DEFEND_INTERVAL).
func (i *Interfaces) conflict(l *link, ours netip.Addr, theirs entry.MAC) {
	i.heardOf(ours).conflicts++
	now := i.loop.Now()
	if l.quiet.allow(now) {
		i.options.Log.Error("another host uses our address", "interface", l.name, "address", ours, "mac", theirs)
	}
	if now.Before(l.defended) {
		return
	}
	l.defended = now.Add(defendInterval)
	i.announceAddress(l, ours, 1)
}

// gleaned is the destination of a packet that waits for a neighbour.
type gleaned struct {
	id          entry.InterfaceID
	destination netip.Addr
}

func (m gleaned) handle(i *Interfaces) {
	l := i.links[m.id]
	if l == nil || !l.up() {
		return
	}
	if !l.onLink(m.destination) {
		i.heardOf(m.destination).offLink++ // through a next hop, which is asked for as long as a route needs it
		return
	}
	n := l.neighbors[m.destination]
	if n == nil {
		n = i.admit(l, m.destination)
	}
	if n != nil {
		i.feed(n, need)
	}
}

// clearNeighbors forgets a neighbour, or all of a family when addr is not valid, and returns how many. Those
// that routes need are asked for at once; those that the operator named stay.
func (i *Interfaces) clearNeighbors(family func(netip.Addr) bool, addr netip.Addr) (cleared int) {
	for _, l := range i.links {
		i.dropNeighbors(l, func(n *neighbor) bool {
			hit := n.state != idle && !n.fixed && family(n.addr) && (!addr.IsValid() || n.addr == addr)
			if hit {
				cleared++
			}
			return hit
		})
		if l.up() {
			i.dropNeighbors(l, func(*neighbor) bool { return false })
		}
	}
	return cleared
}
