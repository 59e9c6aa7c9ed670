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
	unknown   atomic.Uint64 // no interface for it
	overload  atomic.Uint64 // the inbox was full
}

// Punt implements entry.Receiver for ClassARP and ClassGlean.
func (i *Interfaces) Punt(p entry.Punt) {
	defer func() {
		if recover() != nil { // a malformed frame never stops the process
			i.received.malformed.Add(1)
		}
	}()
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
	case entry.ClassGlean:
		ip := wire.IPv4(p.Data[p.Payload:])
		if len(ip) < wire.IPv4Length || ip[0]>>4 != 4 {
			return nil, false
		}
		destination := netip.AddrFrom4(ip.Destination())
		return func(id entry.InterfaceID) message { return gleaned{id, destination} }, true
	}
	return nil, false
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
