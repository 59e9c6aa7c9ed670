package iface

import (
	"maps"
	"net/netip"
	"slices"
	"time"

	"vbng/forwarding/entry"
)

// link is a layer 3 interface: on a port, or a loopback.
type link struct {
	id         entry.InterfaceID
	name       string
	want       *settings   // nil: no longer configured
	port       *port       // nil: a loopback
	linkLocal6 netip.Addr  // announced last
	vrf        entry.VRFID // of its routes; it changes when none is left
	programmed entry.Interface
	locals     []netip.Addr          // programmed
	routes     map[routeKey]presence // in the RIB
	neighbors  map[netip.Addr]*neighbor
	unresolved []*neighbor // in the order of their arrival, those that no route needs
	problem    string
	quiet      limiter   // of log lines that outsiders can cause
	defended   time.Time // no defence of an address before
}

// routeKey tells a link's routes apart; its own address may be a /32 of each kind.
type routeKey struct {
	prefix netip.Prefix
	kind   entry.TargetKind
}

// presence is how a route stands with the RIB.
type presence uint8

const (
	absent presence = iota
	present
	leaving // withdrawn, the forwarder's answer is awaited
)

// wantLink notes an interface's configuration.
func (i *Interfaces) wantLink(id entry.InterfaceID, s *settings, portID entry.PortID) {
	l, ok := i.links[id]
	if !ok {
		l = &link{id: id, name: s.name, routes: map[routeKey]presence{}, neighbors: map[netip.Addr]*neighbor{}}
		i.links[id] = l
	}
	l.want = s
	if s.class != classLoopback {
		l.port = i.ports[portID]
	}
}

// inService reports whether the configuration wants the link to work.
func (l *link) inService() bool {
	return l.want != nil && !l.want.shutdown && (l.want.class == classLoopback || l.port != nil && l.port.stands())
}

// up reports whether the link works: its addresses are reachable.
func (l *link) up() bool {
	return l.inService() && (l.port == nil || l.port.up()) && l.want.layer3()
}

// layer3 reports whether something of layer 3 is configured.
func (s *settings) layer3() bool { return len(s.addresses) > 0 || s.ipv6 }

// entry returns the Interface entry that is wanted, zero for none. Without an address nothing of
// layer 3 happens on a port.
func (i *Interfaces) entryOf(l *link) entry.Interface {
	if !l.inService() || l.port == nil || !l.want.layer3() {
		return entry.Interface{}
	}
	return entry.Interface{
		ID: l.id, Port: l.port.id, VRF: l.want.vrf, MAC: l.want.mac, MTU: l.mtu(),
		OuterTPID: l.want.tags.outerTPID, OuterVLAN: l.want.tags.outerVLAN, InnerVLAN: l.want.tags.innerVLAN,
		Source4: i.errorSource(l, netip.Addr.Is4), Source6: i.errorSource(l, netip.Addr.Is6),
		Verify: l.want.verify, MSS: l.want.mss,
	}
}

// errorSource returns the address from which ICMP errors about a link's packets are sent: its primary one, the
// loopback's lowest where it has none of the family (RFC 1812 4.3.2.4), else none.
func (i *Interfaces) errorSource(l *link, family func(netip.Addr) bool) netip.Addr {
	if a := l.want.primary(family); a.IsValid() {
		return a
	}
	a, loopback := i.ownSource(l.want.vrf, family)
	if !loopback {
		return netip.Addr{}
	}
	return a
}

func (l *link) mtu() uint16 {
	if l.want.mtu != 0 {
		return l.want.mtu
	}
	return l.port.mtu()
}

// mac returns our Ethernet address on the link, zero when it is not known yet.
func (l *link) mac() entry.MAC {
	if l.want != nil && l.want.mac != (entry.MAC{}) {
		return l.want.mac
	}
	if l.port == nil {
		return entry.MAC{}
	}
	return l.port.mac()
}

// replaced reports whether the programmed entry must go before the wanted one can come: everything
// that refers to it was built on what differs.
func replaced(programmed, want entry.Interface) bool {
	programmed.MTU, programmed.MSS, programmed.Verify = want.MTU, want.MSS, want.Verify
	programmed.Source4, programmed.Source6 = want.Source4, want.Source6
	return programmed.ID != 0 && programmed != want
}

// moving reports whether the link has to leave its VRF for another one.
func (l *link) moving() bool { return l.want != nil && l.want.vrf != l.vrf && !l.idle() }

// convergeLink brings the link to what is wanted, as far as it can go now. Whatever it waits for
// comes back here.
func (i *Interfaces) convergeLink(l *link) {
	want := i.entryOf(l)
	if replaced(l.programmed, want) || l.moving() {
		i.withdraw(l, nil)
		i.dropNeighbors(l, func(*neighbor) bool { return true })
		if !l.idle() {
			return
		}
		i.unprogram(l)
	}
	if l.want != nil {
		l.vrf = l.want.vrf
	}
	i.programLink(l, want)
	routes := l.wantedRoutes()
	i.withdraw(l, routes)
	i.dropNeighbors(l, func(n *neighbor) bool { return !l.up() || !l.onLink(n.addr) })
	i.fixNeighbors(l)
	i.recallNeighbors(l)
	i.later(func() { i.announce(l) })
	if l.want == nil && l.idle() {
		delete(i.links, l.id)
	}
}

// idle reports that neither the RIB nor an entry refers to the link.
func (l *link) idle() bool { return len(l.routes) == 0 && len(l.neighbors) == 0 }

// unprogram takes the link's entries away.
func (i *Interfaces) unprogram(l *link) {
	var b entry.Batch
	for _, a := range l.locals {
		b.Delete(entry.Local{Interface: l.id, Addr: a})
	}
	b.Delete(entry.Interface{ID: l.id})
	l.locals, l.programmed = nil, entry.Interface{}
	i.program(&b, func(reason string) { l.problem = reason })
}

// programLink puts what differs between the programmed entries and the wanted ones.
func (i *Interfaces) programLink(l *link, want entry.Interface) {
	if want.ID == 0 {
		return
	}
	var b entry.Batch
	if l.programmed != want {
		b.Put(want)
		l.programmed = want
	}
	locals := l.ownAddresses()
	for _, a := range l.locals {
		if !slices.Contains(locals, a) {
			b.Delete(entry.Local{Interface: l.id, Addr: a})
		}
	}
	for _, a := range locals {
		if !slices.Contains(l.locals, a) {
			b.Put(entry.Local{Interface: l.id, Addr: a})
		}
	}
	if len(b.Ops) == 0 {
		return
	}
	l.locals, l.problem = locals, ""
	i.program(&b, func(reason string) {
		// Whatever brings us here next puts all of it again.
		l.programmed, l.locals, l.problem = entry.Interface{}, nil, reason
	})
}

// wantedRoutes returns the routes that the link should have in the RIB, in the order of its addresses.
func (l *link) wantedRoutes() []routeKey {
	if !l.up() || l.want.vrf != l.vrf {
		return nil
	}
	network := entry.TargetConnected
	if l.port == nil {
		network = entry.TargetDrop // nobody but us lives on a loopback
	}
	var keys []routeKey
	for _, p := range l.want.addresses {
		if !p.IsSingleIP() {
			keys = append(keys, routeKey{p.Masked(), network})
		}
		keys = append(keys, routeKey{netip.PrefixFrom(p.Addr(), p.Addr().BitLen()), entry.TargetLocal})
	}
	if l.port != nil && l.want.ipv6 {
		// No route comes of it: it tells the RIB that link-local next hops are reached here.
		keys = append(keys, routeKey{netip.MustParsePrefix("fe80::/64"), entry.TargetConnected})
	}
	return keys
}

// target returns where a route of the link leads.
func (l *link) target(k routeKey) entry.Target {
	t := entry.Target{Kind: k.kind}
	if k.kind == entry.TargetConnected {
		t.Interface = l.id
	}
	return t
}

// withdraw takes the routes back that are not among the wanted ones.
func (i *Interfaces) withdraw(l *link, wanted []routeKey) {
	for _, k := range slices.SortedFunc(maps.Keys(l.routes), compareRouteKeys) {
		if l.routes[k] != present || slices.Contains(wanted, k) {
			continue
		}
		l.routes[k] = leaving
		i.later(func() {
			i.options.Routes.DeleteInterfaceRoute(l.vrf, k.prefix, l.id, l.target(k), func() { i.loop.Post(routeGone{l, k}) })
		})
	}
}

func compareRouteKeys(a, b routeKey) int {
	if c := a.prefix.Addr().Compare(b.prefix.Addr()); c != 0 {
		return c
	}
	if c := a.prefix.Bits() - b.prefix.Bits(); c != 0 {
		return c
	}
	return int(a.kind) - int(b.kind)
}

// announce gives the RIB the routes that are wanted and missing, and tells the neighbourhood about
// new addresses of ours.
func (i *Interfaces) announce(l *link) {
	for _, k := range l.wantedRoutes() {
		if l.routes[k] != absent {
			continue // one that is leaving comes back when it has left
		}
		l.routes[k] = present
		i.options.Routes.AddInterfaceRoute(l.vrf, k.prefix, l.id, l.target(k))
		if k.kind == entry.TargetLocal {
			i.appear(l, k.prefix.Addr())
		}
	}
	i.appearLinkLocal(l)
}

// routeGone tells that the forwarder has let go of a withdrawn route.
type routeGone struct {
	link *link
	key  routeKey
}

func (m routeGone) handle(i *Interfaces) {
	delete(m.link.routes, m.key)
	i.convergeOne(m.link)
}

// convergeOne converges a link and the port that may have waited for it.
func (i *Interfaces) convergeOne(l *link) {
	i.convergeLink(l)
	if l.port != nil {
		i.removePort(l.port)
	}
	i.removeDomains()
	i.publish()
}

// onLink reports whether a neighbour of ours may have the address.
func (l *link) onLink(a netip.Addr) bool { return l.source(a).IsValid() }

// source returns our address from which a neighbour is asked, not valid when the address is not that
// of a possible neighbour.
func (l *link) source(a netip.Addr) netip.Addr {
	switch {
	case l.want == nil || l.own(a):
		return netip.Addr{}
	case a.Is6() && a.IsLinkLocalUnicast():
		return l.linkLocal()
	}
	return l.want.sourceFor(a)
}

// own reports whether the address is one of ours on the link.
func (l *link) own(a netip.Addr) bool { return slices.Contains(l.ownAddresses(), a) }

// ownAddresses returns our addresses on the link, the link-local one last.
func (l *link) ownAddresses() []netip.Addr {
	if l.want == nil {
		return nil
	}
	var all []netip.Addr
	for _, p := range l.want.addresses {
		all = append(all, p.Addr())
	}
	if a := l.linkLocal(); a.IsValid() {
		all = append(all, a)
	}
	return all
}

// linkLocal returns our link-local address, not valid without IPv6 or when our MAC address is not known yet.
func (l *link) linkLocal() netip.Addr {
	mac := l.mac()
	switch {
	case l.want == nil || !l.want.ipv6 || l.port == nil:
		return netip.Addr{}
	case l.want.linkLocal.IsValid():
		return l.want.linkLocal
	case mac == entry.MAC{}:
		return netip.Addr{}
	}
	return linkLocal6(mac)
}
