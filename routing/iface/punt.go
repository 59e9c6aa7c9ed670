package iface

import (
	"net/netip"
	"sync/atomic"

	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
)

// received counts what the punt path did not pass on. Its writers are the caller's goroutines.
type received struct {
	malformed atomic.Uint64
	others    atomic.Uint64 // messages of neighbour discovery that are not for routers
	unknown   atomic.Uint64 // no interface for it
	overload  atomic.Uint64 // the inbox was full
}

// Punt implements entry.Receiver for ClassARP, ClassND and ClassGlean.
func (i *Interfaces) Punt(p entry.Punt) {
	defer func() {
		if recover() != nil { // a malformed frame never stops the process
			i.received.malformed.Add(1)
		}
	}()
	if p.Class == entry.ClassND && forHosts(p) {
		i.received.others.Add(1)
		return
	}
	m, ok := decode(p)
	if !ok {
		i.received.malformed.Add(1)
		return
	}
	id := p.Interface
	if id == 0 {
		id = i.snapshot.Load().interfaceAt(p.Port, tags{p.OuterTPID, p.OuterVLAN, p.InnerVLAN})
	}
	if id == 0 {
		i.received.unknown.Add(1)
		return
	}
	if !i.loop.Offer(m(id)) {
		i.received.overload.Add(1)
	}
}

// decode returns the message that a frame makes for an interface.
func decode(p entry.Punt) (m func(entry.InterfaceID) message, ok bool) {
	if p.Payload < 0 || p.Payload > len(p.Data) {
		return nil, false
	}
	switch p.Class {
	case entry.ClassARP:
		h, ok := decodeARP(p.Data[p.Payload:])
		return func(id entry.InterfaceID) message { h.id = id; return h }, ok
	case entry.ClassND:
		h, ok := decodeND(p.Data[p.Payload:])
		if e := wire.Ethernet(p.Data); ok && e.Valid() {
			h.frameMAC = e.Source()
		}
		return func(id entry.InterfaceID) message { h.id = id; return h }, ok
	case entry.ClassGlean:
		destination, ok := waitingFor(p.Data[p.Payload:])
		if !ok {
			return nil, false
		}
		return func(id entry.InterfaceID) message { return gleaned{id, destination} }, true
	}
	return nil, false
}

// forHosts reports whether a message of neighbour discovery is none that is about neighbours: routers are asked by
// hosts (which get no advertisements here), and the advertisements and redirects of others are not for us.
func forHosts(p entry.Punt) bool {
	ip := wire.IPv6(p.Data[p.Payload:])
	if !ip.Valid() || ip.NextHeader() != wire.NextICMPv6 || !wire.ICMPv6(ip.Payload()).Valid() {
		return false
	}
	t := wire.ICMPv6(ip.Payload()).Type()
	return t != wire.ICMPv6NeighborSolicitation && t != wire.ICMPv6NeighborAdvertisement
}

// waitingFor returns the destination of a packet.
func waitingFor(b []byte) (a netip.Addr, ok bool) {
	switch ip4, ip6 := wire.IPv4(b), wire.IPv6(b); {
	case len(b) >= wire.IPv4Length && b[0]>>4 == 4:
		return netip.AddrFrom4(ip4.Destination()), true
	case len(b) >= wire.IPv6Length && b[0]>>4 == 6:
		return netip.AddrFrom16(ip6.Destination()), true
	}
	return a, false
}

// decodeARP reads an ARP packet. Of one that is not for IPv4 over Ethernet, is neither request nor
// reply, or binds a group address, nothing can be learnt.
func decodeARP(b []byte) (m heard, ok bool) {
	a := wire.ARP(b)
	if !a.Valid() || a.Operation() != wire.ARPRequest && a.Operation() != wire.ARPReply {
		return m, false
	}
	m = heard{
		operation: a.Operation(), mac: a.SenderMAC(),
		sender: netip.AddrFrom4(a.SenderIP()), target: netip.AddrFrom4(a.TargetIP()),
	}
	return m, m.mac[0]&1 == 0 && m.mac != entry.MAC{} && !m.sender.IsMulticast()
}
