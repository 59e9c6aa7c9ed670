package crowd

import (
	"fmt"

	"vbng/cmd/vbng-sim/frame"
	"vbng/cmd/vbng-sim/traffic"
)

// receiveAccess takes a frame of the access port.
func (c *Crowd) receiveAccess(b []byte) {
	e, err := frame.ParseEthernet(b)
	if err != nil || e.Type != frame.TypeDiscovery && e.Type != frame.TypeSession {
		return
	}
	i := e.Dst.Uint64() - c.options.macBase.Uint64()
	if i >= uint64(len(c.subscribers)) {
		c.receiveForNobody(e)
		return
	}
	s := &c.subscribers[i]
	if e.Tags != s.Tags {
		c.strays++
		c.receiveForNobody(e)
		return
	}
	if p, information, ok := userPacket(e); ok {
		c.receiveUser(uint32(i), e.Src, p.Session, information)
		return
	}
	c.after(uint32(i), s.Receive(c.now, e))
}

// userPacket finds the IP packet in a session frame.
func userPacket(e frame.Ethernet) (p frame.PPPoE, information []byte, ok bool) {
	if e.Type != frame.TypeSession {
		return p, nil, false
	}
	p, err := frame.ParsePPPoE(e.Payload)
	if err != nil || p.Code != frame.CodeSession {
		return p, nil, false
	}
	protocol, information, err := p.PPP()
	return p, information, err == nil && protocol == frame.ProtocolIPv4
}

// receiveForNobody looks whether a frame with an encapsulation of none of ours carries one of our
// packets: then it was misdelivered.
func (c *Crowd) receiveForNobody(e frame.Ethernet) {
	if _, information, ok := userPacket(e); ok {
		if p, err := traffic.Parse(information, c.run); err == nil {
			c.judgeDownstream(traffic.Arrival{}, p, nil)
		}
	}
}

// receiveUser takes an IP packet that came to a subscriber's MAC on its VLANs.
func (c *Crowd) receiveUser(i uint32, from frame.MAC, session uint16, b []byte) {
	s := &c.subscribers[i]
	at := traffic.Arrival{Session: i, Known: s.Mine(from, session), Src: c.options.address, Dst: s.Addr}
	if at.Known {
		s.octets.outPackets++
		s.octets.outBytes += uint64(len(b))
	}
	p, err := traffic.Parse(b, c.run)
	switch {
	case err == traffic.ErrNotProbe:
		if at.Known {
			c.answerPing(i, b)
		}
		return
	case err == nil && p.Bytes != len(b):
		err = fmt.Errorf("PPPoE payload of %d bytes for a packet of %d: %w", len(b), p.Bytes, frame.ErrMalformed)
	}
	c.judgeDownstream(at, p, err)
}

func (c *Crowd) judgeDownstream(at traffic.Arrival, p traffic.Probe, err error) {
	if v := c.meters[traffic.Downstream].Arrive(c.now, at, p, err); v >= traffic.Foreign {
		c.complain("downstream", v, at.Session, p, err)
	}
}

// complain tells details of the first faults; the counts tell the rest.
func (c *Crowd) complain(direction string, v traffic.Verdict, at uint32, p traffic.Probe, err error) {
	const complaints = 20
	if c.faults++; c.faults <= complaints {
		c.log("%s packet at subscriber %d is %v: session %d, sequence %d, %v to %v (%v)",
			direction, at, v, p.Session, p.Sequence, p.Src, p.Dst, err)
	}
}

// answerPing lets a subscriber that is up answer an ICMP echo.
func (c *Crowd) answerPing(i uint32, b []byte) {
	s := &c.subscribers[i]
	ip, err := frame.ParseIPv4(b)
	if err != nil || s.place < 0 || ip.Dst != s.Addr {
		return
	}
	if reply, ok := frame.EchoReply(ip); ok {
		c.sendUser(i, reply)
		c.countSent(i, len(reply))
	}
}

// sendUser sends an IP packet on a subscriber's session.
func (c *Crowd) sendUser(i uint32, b []byte) {
	s := &c.subscribers[i]
	f := frame.AppendEthernet(c.scratch[:0], s.AC, s.MAC, s.Tags, frame.TypeSession)
	f = frame.AppendPPP(f, s.SessionID, frame.ProtocolIPv4, len(b))
	c.scratch = frame.Pad(append(f, b...))
	c.access.send(c.scratch)
}

func (c *Crowd) countSent(i uint32, bytes int) {
	s := &c.subscribers[i]
	s.octets.inPackets++
	s.octets.inBytes += uint64(bytes)
}
