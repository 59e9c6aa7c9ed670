package sessions

import (
	"sync"
	"time"

	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
	"vbng/sessions/pppoe"
)

// maxInformationBytes is the longest PPP packet of control that is heard: a whole Ethernet frame's.
const maxInformationBytes = 1500

// frameBuffer holds the information field of one PPP packet on its way to the loop.
type frameBuffer struct {
	n    int
	data [maxInformationBytes]byte
}

var frameBuffers = sync.Pool{New: func() any { return new(frameBuffer) }}

// Punt implements entry.Receiver for the classes of PPPoE and of what subscribers say in IP.
// Discovery up to a good PADR is answered here, on the caller's goroutine: it needs no state.
func (m *Manager) Punt(p entry.Punt) {
	defer m.survive()
	if p.Payload > len(p.Data) || len(p.Data) < wire.EthernetLength {
		m.stats.malformed.Add(1)
		return
	}
	switch p.Class {
	case entry.ClassPPPoEDiscovery:
		m.discovery(p)
	case entry.ClassPPPControl:
		m.control(p)
	case entry.ClassPPPoEUnknown:
		m.unknown(p)
	case entry.ClassDHCPv4, entry.ClassDHCPv6, entry.ClassSubscriberND:
		if m.paced(p) {
			m.inIP(p)
		}
	default:
		m.stats.malformed.Add(1)
	}
}

func (m *Manager) inIP(p entry.Punt) {
	switch p.Class {
	case entry.ClassDHCPv4:
		m.dhcp(p)
	case entry.ClassDHCPv6:
		m.dhcp6(p)
	default:
		m.discoverNeighbor(p)
	}
}

// survive keeps a frame that finds a fault of ours from stopping the process.
func (m *Manager) survive() {
	if fault := recover(); fault != nil {
		m.stats.faults.Add(1)
		m.needs.Log.Error("internal fault on a punted frame, dropped", "fault", fault)
	}
}

func placeOf(p entry.Punt) Place {
	return Place{Port: p.Port, OuterTPID: p.OuterTPID, OuterVLAN: p.OuterVLAN, InnerVLAN: p.InnerVLAN}
}

func (m *Manager) discovery(p entry.Punt) {
	name, own, _, ok := m.needs.Ports.Port(p.Port)
	profile := m.settings.Load().at(name, placeOf(p)).pppoe
	if !ok || own == (entry.MAC{}) || profile == nil {
		m.stats.noProfile.Add(1)
		return
	}
	frame := wire.Ethernet(p.Data)
	m.tellArrival(p)
	reply, event := profile.responder.Handle(pppoe.Frame{
		Line: line(placeOf(p)), Own: pppoe.MAC(own), Dst: frame.Destination(), Src: frame.Source(),
		Payload: p.Data[p.Payload:],
	}, m.needs.Clock.Now())
	m.stats.countDiscovery(event)
	who := client{place: placeOf(p), mac: frame.Source()}
	switch event.Kind {
	case pppoe.EventOffered:
		if m.full.Load() { // silence sends the client to another concentrator
			m.stats.offersWithheld.Add(1)
			return
		}
		m.sendDiscovery(who, own, reply)
	case pppoe.EventRefused:
		if reply != nil {
			m.sendDiscovery(who, own, reply)
		}
	case pppoe.EventRequested:
		m.offer(requested{place: who.place, request: event.Request})
	case pppoe.EventTerminated:
		m.offer(terminated{client: who, pppoe: event.Termination.SessionID})
	}
}

// line returns the space of PPPoE session ids that a place belongs to.
func line(p Place) pppoe.Line {
	return pppoe.Line{Port: uint32(p.Port), Outer: p.OuterVLAN, Inner: p.InnerVLAN}
}

func (m *Manager) control(p entry.Punt) {
	packet := wire.PPPoE(p.Data[p.Payload:])
	if !packet.Valid() {
		m.stats.malformed.Add(1)
		return
	}
	ppp := wire.PPP(packet.Payload())
	if !ppp.Valid() {
		m.stats.malformed.Add(1)
		return
	}
	buffer := frameBuffers.Get().(*frameBuffer)
	if len(ppp.Information()) > len(buffer.data) {
		m.stats.malformed.Add(1)
		frameBuffers.Put(buffer)
		return
	}
	buffer.n = copy(buffer.data[:], ppp.Information())
	if !m.offer(received{id: p.Session, protocol: ppp.Protocol(), buffer: buffer}) {
		frameBuffers.Put(buffer)
	}
}

// unknown takes frames that may deserve a PADT: session data from one station to our own address.
func (m *Manager) unknown(p entry.Punt) {
	frame, packet := wire.Ethernet(p.Data), wire.PPPoE(p.Data[p.Payload:])
	_, own, _, ok := m.needs.Ports.Port(p.Port)
	source := entry.MAC(frame.Source())
	group := source[0]&1 != 0
	if !ok || !packet.Valid() || packet.Code() != wire.CodeSession || group || frame.Destination() != own {
		m.stats.malformed.Add(1)
		return
	}
	m.offer(stray{tuple: tuple{client: client{place: placeOf(p), mac: source}, pppoe: packet.Session()}, own: own})
}

// offer puts what came from outside into the inbox; the loop counts what it refuses.
func (m *Manager) offer(msg message) bool { return m.loop.Offer(msg) }

// stray answers a frame for a session that is not: its client thinks it has one, and would go on
// thinking so until its echoes fail. The forwarder may just not know it yet, after its restart.
func (m *Manager) stray(msg stray) {
	if m.index.byTuple[msg.tuple] != nil || !m.restore.finished {
		return
	}
	if !m.padts.allow(msg.tuple.mac, m.loop.Now()) {
		m.stats.padtsWithheld.Add(1)
		return
	}
	packet, err := pppoe.BuildPADT(msg.tuple.pppoe, "no such session")
	if err != nil { // session id 0 or 0xffff: no session of anybody
		m.stats.malformed.Add(1)
		return
	}
	m.stats.padtsUnknown.Add(1)
	m.sendDiscovery(msg.tuple.client, msg.own, packet)
}

// maxSources bounds the memory of a flood with changing source addresses.
const maxSources = 4096

// oncePerSecond lets each source through once in a second, and maxSources of them in all.
type oncePerSecond struct {
	last  map[entry.MAC]time.Time
	swept time.Time
}

func newOncePerSecond() *oncePerSecond { return &oncePerSecond{last: map[entry.MAC]time.Time{}} }

func (o *oncePerSecond) allow(source entry.MAC, now time.Time) bool {
	if now.Sub(o.swept) >= time.Second {
		o.swept = now
		for each, at := range o.last {
			if now.Sub(at) >= time.Second {
				delete(o.last, each)
			}
		}
	}
	at, heard := o.last[source]
	if heard && now.Sub(at) < time.Second || !heard && len(o.last) >= maxSources {
		return false
	}
	o.last[source] = now
	return true
}
