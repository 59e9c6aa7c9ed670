package crowd

import (
	"time"

	"vbng/cmd/vbng-sim/frame"
	"vbng/cmd/vbng-sim/traffic"
)

const resolveInterval = time.Second

// internet is a host behind the router with a stack of its own: the kernel at that end of the wire
// needs no address, and may have another.
type internet struct {
	link       *link
	mac        frame.MAC
	address    frame.Addr
	gateway    frame.Addr
	gatewayMAC frame.MAC // zero: not yet resolved
	nextAsk    time.Duration
	scratch    []byte // a frame being written
}

func newInternet(l *link, o *options) *internet {
	return &internet{link: l, mac: o.internetMAC, address: o.address, gateway: o.gateway}
}

func (n *internet) resolved() bool { return n.gatewayMAC != frame.MAC{} }

// resolve asks for the gateway until it answers.
func (n *internet) resolve(now time.Duration) {
	if n.resolved() || now < n.nextAsk {
		return
	}
	n.nextAsk = now + resolveInterval
	n.sendARP(frame.Broadcast, frame.ARP{
		Operation: frame.ARPRequest, SenderMAC: n.mac, SenderAddr: n.address, TargetAddr: n.gateway,
	})
}

func (n *internet) sendARP(to frame.MAC, a frame.ARP) {
	b := frame.AppendEthernet(nil, to, n.mac, frame.Tags{}, frame.TypeARP)
	n.link.send(frame.Pad(frame.AppendARP(b, a)))
}

func (n *internet) receiveARP(b []byte) {
	a, err := frame.ParseARP(b)
	if err != nil {
		return
	}
	if a.SenderAddr == n.gateway {
		n.gatewayMAC = a.SenderMAC
	}
	if a.Operation == frame.ARPRequest && a.TargetAddr == n.address {
		n.sendARP(a.SenderMAC, frame.ARP{
			Operation: frame.ARPReply, SenderMAC: n.mac, SenderAddr: n.address,
			TargetMAC: a.SenderMAC, TargetAddr: a.SenderAddr,
		})
	}
}

// receiveInternet takes a frame of the Internet port.
func (c *Crowd) receiveInternet(b []byte) {
	e, err := frame.ParseEthernet(b)
	if err != nil || e.Tags != (frame.Tags{}) || e.Dst != c.internet.mac && e.Dst != frame.Broadcast {
		return
	}
	switch e.Type {
	case frame.TypeARP:
		c.internet.receiveARP(e.Payload)
	case frame.TypeIPv4:
		c.receiveUpstream(e)
	}
}

// receiveUpstream takes an IP packet from the router. Which session it came through is known only by
// its source address, which the router is bound to check.
func (c *Crowd) receiveUpstream(e frame.Ethernet) {
	p, err := traffic.Parse(e.Payload, c.run)
	if err == traffic.ErrNotProbe {
		c.internet.answerPing(e)
		return
	}
	i, known := c.byAddr[p.Src]
	at := traffic.Arrival{
		Session: i, Known: known && e.Src == c.internet.gatewayMAC, Src: p.Src, Dst: c.internet.address,
	}
	if v := c.meters[traffic.Upstream].Arrive(c.now, at, p, err); v >= traffic.Foreign {
		c.complain("upstream", v, i, p, err)
	}
}

func (n *internet) answerPing(e frame.Ethernet) {
	ip, err := frame.ParseIPv4(e.Payload)
	if err != nil || ip.Dst != n.address {
		return
	}
	if reply, ok := frame.EchoReply(ip); ok {
		n.sendIP(e.Src, reply)
	}
}

func (n *internet) sendIP(to frame.MAC, b []byte) {
	f := frame.AppendEthernet(n.scratch[:0], to, n.mac, frame.Tags{}, frame.TypeIPv4)
	n.scratch = frame.Pad(append(f, b...))
	n.link.send(n.scratch)
}
