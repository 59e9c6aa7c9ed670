package graph

import (
	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
	"vbng/forwarding/wire"
)

// Tapping is what a worker needs to copy frames for captures.
type Tapping struct {
	// UnixNanos is a wall clock.
	UnixNanos func() int64
	// Words of counters: copies sent up, refused by the policer, and lost to a full ring.
	Sent, Policed, RingFull uint32
}

// Tap copies frames of one port for an entry.Capture. It stands at the port, not in the nodes: so it sees frames as
// they are on the wire, also those that nodes drop, answer or never see, and costs the others one look per vector.
type Tap struct {
	*TapState
	Tagged bool // only frames with these tags; a priority tag counts as none
	TPID   uint16
	Outer  uint16
	Inner  uint16
	// Of a session: the subscriber's address, and of a PPPoE session its id. HasPeer is false for a port or interface.
	HasPeer bool
	Peer    entry.MAC
	PPPoE   uint16
}

// TapState is what of a capture outlives a change of its port or session. The worker owns it.
type TapState struct {
	ID   entry.CaptureID
	Snap uint32 // bytes
	Left uint32 // copies to be sent
	Lost uint32
}

// Tap copies those frames of a vector that captures are after. A port whose captures all have enough is left alone
// until control says something new.
func (w *Worker) Tap(p *Port, v *packet.Vector, output bool) {
	if spent(p.Taps) {
		p.Taps = nil
		return
	}
	now := w.Tapping.UnixNanos()
	for i := range v.N {
		head := w.Arena.Head(v.Index[i], v.Offset[i], v.Length[i])
		tags, ok := wire.ReadTags(head)
		if !ok {
			continue
		}
		for _, t := range p.Taps {
			if t.Left > 0 && t.wants(head, &tags, output) {
				w.copyUp(p, t, entry.Punt{
					Output: output, OuterTPID: tags.OuterTPID, OuterVLAN: tags.OuterVLAN, InnerVLAN: tags.InnerVLAN,
					Data: head[:min(len(head), int(t.Snap))], Length: int(v.Length[i]), UnixNanos: now,
				})
			}
		}
	}
}

func spent(taps []*Tap) bool {
	for _, t := range taps {
		if t.Left > 0 {
			return false
		}
	}
	return true
}

func (w *Worker) copyUp(p *Port, t *Tap, copied entry.Punt) {
	if !w.Policers.Admit(entry.ClassCapture, entry.MAC{}, w.NowNanos) {
		t.Lost++
		w.Count.Add(w.Tapping.Policed, 1)
		return
	}
	copied.Class, copied.Port, copied.Capture, copied.Lost = entry.ClassCapture, p.ID, t.ID, t.Lost
	w.punted = copied
	if !w.Ring.Push(&w.punted) {
		t.Lost++
		w.Count.Add(w.Tapping.RingFull, 1)
		return
	}
	t.Left--
	w.Count.Add(w.Tapping.Sent, 1)
}

// wants reports whether a frame is one of those that are captured.
func (t *Tap) wants(frame []byte, tags *wire.Tagged, output bool) bool {
	if t.Tagged && !t.onTags(tags) {
		return false
	}
	if !t.HasPeer {
		return true
	}
	peer := entry.MAC(frame[6:12])
	if output {
		peer = entry.MAC(frame[0:6])
	}
	return (peer == t.Peer || output && broadcastReply(frame, tags.Offset, t.Peer)) && t.ofSession(frame, tags)
}

// broadcastReply reports a DHCP message to everybody that is for one client (RFC 2131 section 4.1).
func broadcastReply(frame []byte, at int, client entry.MAC) bool {
	const chaddr = wire.IPv4Length + wire.UDPLength + 28 // our own messages have no IP options
	if len(frame) < at+chaddr+len(client) || entry.MAC(frame[0:6]) != (entry.MAC{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}) {
		return false
	}
	p := wire.IPv4(frame[at:])
	return p[0] == 0x45 && p.Protocol() == wire.IPProtocolUDP && p[20] == 0 && p[21] == 67 && entry.MAC(p[chaddr:chaddr+6]) == client
}

func (t *Tap) onTags(tags *wire.Tagged) bool {
	tpid := tags.OuterTPID
	if tpid == wire.TypeVLAN && tags.OuterVLAN == 0 && tags.InnerVLAN == 0 {
		tpid = 0 // IEEE 802.1Q 6.9.1: a priority tag belongs to no VLAN
	}
	return tpid == t.TPID && tags.OuterVLAN == t.Outer && tags.InnerVLAN == t.Inner
}

// ofSession tells the sessions of one MAC address and VLAN apart: those of PPPoE by session id, IPoE by its being no
// PPPoE. Discovery before there is a session id (0) is everybody's.
func (t *Tap) ofSession(frame []byte, tags *wire.Tagged) bool {
	if tags.Type != wire.TypePPPoESession && tags.Type != wire.TypePPPoEDiscovery {
		return t.PPPoE == 0
	}
	p := wire.PPPoE(frame[tags.Offset:])
	if t.PPPoE == 0 || len(p) < wire.PPPoELength {
		return false
	}
	return p.Session() == t.PPPoE || p.Session() == 0 && tags.Type == wire.TypePPPoEDiscovery
}
