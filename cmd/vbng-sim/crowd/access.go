package crowd

import (
	"fmt"
	"net/netip"

	"vbng/cmd/vbng-sim/frame"
	"vbng/cmd/vbng-sim/life"
	"vbng/cmd/vbng-sim/traffic"
)

// receiveAccess takes a frame of the access port. Another simulator may live on the same wire: what is not for our MAC
// addresses or VLANs is passed over.
func (c *Crowd) receiveAccess(b []byte) {
	e, err := frame.ParseEthernet(b)
	if err != nil {
		return
	}
	if e.Dst.Group() {
		c.receiveGroup(e)
		return
	}
	i, ours := c.number(e.Dst)
	if !ours {
		c.receiveForNobody(e)
		return
	}
	s := &c.subscribers[i]
	if e.Tags != s.id.Tags {
		c.strays++
		c.receiveForNobody(e)
		return
	}
	if packet, session, ok := c.options.kind.userPacket(e); ok {
		c.receiveUser(i, e.Src, session, packet)
		return
	}
	c.after(i, s.Receive(c.now, e))
}

// number is which subscriber has a MAC address.
func (c *Crowd) number(m frame.MAC) (i uint32, ours bool) {
	n := m.Uint64() - c.options.macBase.Uint64()
	return uint32(n), n < uint64(len(c.subscribers))
}

// receiveGroup hands a frame that is for several stations to those on its VLANs; an ARP request only to the one that
// is asked for, as all others would ignore it.
func (c *Crowd) receiveGroup(e frame.Ethernet) {
	on := c.onTags[e.Tags]
	if _, ours := c.number(e.Src); ours || len(on) == 0 {
		return
	}
	if _, _, ok := c.options.kind.userPacket(e); ok {
		return
	}
	if a, err := frame.ParseARP(e.Payload); e.Type == frame.TypeARP {
		i, known := c.byAddr[netip.AddrFrom4(a.TargetAddr)]
		if err == nil && known && c.subscribers[i].id.Tags == e.Tags {
			c.after(i, c.subscribers[i].Receive(c.now, e))
		}
		return
	}
	for _, i := range on {
		c.after(i, c.subscribers[i].Receive(c.now, e))
	}
}

// receiveForNobody looks whether a frame with an encapsulation of none of ours carries one of our
// packets: then it was misdelivered.
func (c *Crowd) receiveForNobody(e frame.Ethernet) {
	if packet, _, ok := c.options.kind.userPacket(e); ok {
		if p, err := traffic.Parse(packet, c.run); err == nil {
			c.judgeDownstream(traffic.Arrival{}, p, nil)
		}
	}
}

// receiveUser takes an IP packet that came to a subscriber's MAC on its VLANs.
func (c *Crowd) receiveUser(i uint32, from frame.MAC, session uint16, b []byte) {
	s := &c.subscribers[i]
	if s.state.Stage == life.Silent || s.state.Stage == life.Idle {
		return
	}
	p, err := traffic.Parse(b, c.run)
	p.Flow = flowOf(p, b)
	at := traffic.Arrival{Session: i, Known: s.Mine(from, session), Dst: s.addresses[p.Flow]}
	if c.internet != nil {
		at.Src = c.internet.address(p.Flow != traffic.IPv4)
	}
	if at.Known {
		s.octets.outPackets++
		s.octets.outBytes += uint64(len(b))
	}
	switch {
	case err == traffic.ErrNotProbe:
		if at.Known {
			c.answerPing(i, b)
		}
		return
	case err == nil && p.Bytes != len(b):
		err = fmt.Errorf("payload of %d bytes for a packet of %d: %w", len(b), p.Bytes, frame.ErrMalformed)
	}
	c.judgeDownstream(at, p, err)
}

// flowOf finds the flow to which a packet is counted: its own, or one of its family if it is damaged.
func flowOf(p traffic.Probe, b []byte) traffic.Flow {
	ipv6 := len(b) > 0 && b[0]>>4 == 6
	switch {
	case !ipv6:
		return traffic.IPv4
	case p.Flow == traffic.IPv4:
		return traffic.SLAAC
	}
	return p.Flow
}

func (c *Crowd) judgeDownstream(at traffic.Arrival, p traffic.Probe, err error) {
	if v := c.meters[traffic.Downstream][p.Flow].Arrive(c.now, at, p, err); v >= traffic.Foreign {
		c.complain("downstream", v, at.Session, p, err)
	}
}

// complain tells details of the first faults; the counts tell the rest.
func (c *Crowd) complain(direction string, v traffic.Verdict, at uint32, p traffic.Probe, err error) {
	const complaints = 20
	if c.faults++; c.faults <= complaints {
		c.log("%s packet at subscriber %d is %v: session %d, %v, sequence %d, %v to %v (%v)",
			direction, at, v, p.Session, p.Flow, p.Sequence, p.Src, p.Dst, err)
	}
}

// answerPing lets a subscriber that is up answer an echo of either family.
func (c *Crowd) answerPing(i uint32, b []byte) {
	if s := &c.subscribers[i]; s.place < 0 {
		return
	}
	reply, ok := pong(b, func(a netip.Addr) bool { owner, known := c.byAddr[a]; return known && owner == i })
	if ok {
		c.sendUser(i, reply)
		c.countSent(i, len(reply))
	}
}

// pong is the answer to an echo request for an address that is ours.
func pong(b []byte, ours func(netip.Addr) bool) (reply []byte, ok bool) {
	if p, err := frame.ParseIPv6(b); err == nil {
		if !ours(p.Dst) {
			return nil, false
		}
		return frame.EchoReply6(p)
	}
	p, err := frame.ParseIPv4(b)
	if err != nil || !ours(netip.AddrFrom4(p.Dst)) {
		return nil, false
	}
	return frame.EchoReply(p)
}

// sendUser sends an IP packet on a subscriber's line.
func (c *Crowd) sendUser(i uint32, b []byte) {
	f := c.subscribers[i].AppendUser(c.scratch[:0], b[0]>>4 == 6, len(b))
	c.scratch = frame.Pad(append(f, b...))
	c.access.send(c.scratch)
}

func (c *Crowd) countSent(i uint32, bytes int) {
	s := &c.subscribers[i]
	s.octets.inPackets++
	s.octets.inBytes += uint64(bytes)
}
