package host6

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"time"

	"vbng/cmd/vbng-sim/dhcp"
	"vbng/cmd/vbng-sim/frame"
)

// Retransmission of RFC 8415 section 7.6: the first wait and the longest one.
var patience = map[Phase]struct{ first, longest time.Duration }{
	Solicit: {time.Second, 3600 * time.Second},
	Request: {time.Second, 30 * time.Second},
	Renew:   {10 * time.Second, 600 * time.Second},
	Rebind:  {10 * time.Second, 600 * time.Second},
	Release: {time.Second, 3600 * time.Second},
}

var messageOf = map[Phase]byte{
	Solicit: dhcp.Solicit6, Request: dhcp.Request6, Renew: dhcp.Renew6, Rebind: dhcp.Rebind6, Release: dhcp.Release6,
}

const (
	duidLinkLayer = 3 // RFC 8415 section 11.4
	ethernet      = 1
	hopLimit      = 64
)

// duid is the client's identifier: DUID-LL.
func (c *Client) duid() []byte {
	return append([]byte{0, duidLinkLayer, 0, ethernet}, c.mac[:]...)
}

// startExchange begins an exchange with a transaction id of its own.
func (c *Client) startExchange(now time.Duration, p Phase) {
	c.enter(p)
	c.xid, c.began = c.settings.Random()&0xffffff, now
	c.transmit(now)
}

// transmit sends the phase's message, and waits twice as long each time (RFC 8415 section 15).
func (c *Client) transmit(now time.Duration) {
	m := dhcp.V6{
		Type: messageOf[c.Phase], XID: c.xid, ClientID: c.duid(), Elapsed: now - c.began,
		AskDNS: c.Phase != Release,
	}
	if c.Phase != Solicit && c.Phase != Rebind {
		m.ServerID = c.server
	}
	iaid := binary.BigEndian.Uint32(c.mac[2:])
	if c.settings.NA {
		m.NA = &dhcp.IA{ID: iaid}
		if c.Assigned.IsValid() {
			m.NA.Prefix = netip.PrefixFrom(c.Assigned, c.Assigned.BitLen())
		}
	}
	if c.settings.PD {
		m.PD = &dhcp.IA{ID: iaid, Prefix: c.Delegated}
	}
	c.sendDHCP(m)
	wait := patience[c.Phase]
	c.Deadline = now + c.jitter(min(wait.first<<min(c.sent, 12), wait.longest))
	c.sent++
}

// jitter spreads a wait by a tenth to both sides.
func (c *Client) jitter(d time.Duration) time.Duration {
	const parts = 1 << 16
	return d - d/10 + d/5*time.Duration(c.settings.Random()%parts)/parts
}

func (c *Client) sendDHCP(m dhcp.V6) {
	src, dst := c.LinkLocal, frame.AllServers()
	payload := m.Append(nil)
	header := frame.IPv6{Src: src, Dst: dst, NextHeader: frame.UDP, HopLimit: hopLimit}
	b := frame.AppendIPv6(make([]byte, 0, 192), header, frame.UDPBytes+len(payload))
	c.out = append(c.out, frame.AppendUDP6(b, src, dst,
		frame.Datagram{SrcPort: dhcp.ClientPort6, DstPort: dhcp.ServerPort6, Payload: payload}))
}

// expireLease runs the timers of DHCPv6.
func (c *Client) expireLease(now time.Duration) {
	s := c.settings
	switch c.Phase {
	case Solicit:
		c.repeat(s.SolicitMax, CauseSolicitTimeout, func() { c.transmit(now) })
	case Request:
		c.repeat(s.RequestMax, CauseRequestTimeout, func() { c.transmit(now) })
	case Release:
		if c.sent >= s.ReleaseMax {
			c.enter(Released)
			return
		}
		c.transmit(now)
	case Ready:
		c.startExchange(now, Renew)
		c.Deadline = earlier(c.t2, c.Deadline)
	case Renew, Rebind:
		c.expireRenewal(now)
	}
}

// expireRenewal asks again; from T2 on any server may answer, and at the end of the lease all is over.
func (c *Client) expireRenewal(now time.Duration) {
	switch {
	case passed(c.expiry, now):
		c.fail(CauseLeaseExpired, "")
		return
	case c.Phase == Renew && passed(c.t2, now):
		c.startExchange(now, Rebind)
	default:
		c.transmit(now)
	}
	if c.Phase == Renew {
		c.Deadline = earlier(c.t2, c.Deadline)
	} else {
		c.Deadline = earlier(c.expiry, c.Deadline)
	}
}

// passed takes 0 for never.
func passed(moment, now time.Duration) bool { return moment != 0 && now >= moment }

// receiveDHCP takes a message of the server (RFC 8415 sections 16.3 and 16.10: it must bear both identifiers).
func (c *Client) receiveDHCP(now time.Duration, b []byte) {
	m, err := dhcp.ParseV6(b)
	if err != nil || m.XID != c.xid || !bytes.Equal(m.ClientID, c.duid()) || len(m.ServerID) == 0 {
		return
	}
	switch {
	case c.Phase == Solicit && m.Type == dhcp.Advertise6:
		if c.accept(m) {
			c.server = m.ServerID
			c.startExchange(now, Request)
		}
	case m.Type != dhcp.Reply6:
	case c.Phase == Request:
		if c.accept(m) {
			c.bind(now, m)
			c.probeAssigned()
			c.reach(now)
		}
	case c.Phase == Renew || c.Phase == Rebind:
		if c.accept(m) {
			c.server = m.ServerID
			c.bind(now, m)
			c.ready()
		}
	case c.Phase == Release:
		c.enter(Released)
	}
}

func (c *Client) probeAssigned() {
	if c.Assigned.IsValid() {
		c.probe(c.Assigned)
	}
}

// accept takes the address and the prefix of a message, or fails. There is one router, so there is no better answer
// to wait for.
func (c *Client) accept(m dhcp.V6) bool {
	if m.Status != dhcp.StatusSuccess {
		c.refuse(m.Status, m.Message)
		return false
	}
	if c.settings.NA {
		p, ok := c.granted(m.NA, "IA_NA")
		if !ok {
			return false
		}
		c.Assigned = p.Addr()
	}
	if c.settings.PD {
		p, ok := c.granted(m.PD, "IA_PD")
		if !ok {
			return false
		}
		c.Delegated = p
	}
	if len(m.DNS) > 0 {
		c.DNS = m.DNS
	}
	return true
}

func (c *Client) granted(a *dhcp.IA, name string) (netip.Prefix, bool) {
	switch {
	case a == nil:
		c.fail(CauseRefused, "no "+name)
	case a.Status != dhcp.StatusSuccess:
		c.refuse(a.Status, name+": "+a.Message)
	case !a.Prefix.IsValid() || a.Valid == 0:
		c.fail(CauseRefused, name+" without anything in it that is valid")
	default:
		return a.Prefix, true
	}
	return netip.Prefix{}, false
}

func (c *Client) refuse(status uint16, message string) {
	cause := CauseRefused
	if status == dhcp.StatusNoBinding {
		cause = CauseNoBinding
	}
	c.fail(cause, fmt.Sprintf("status %d: %s", status, message))
}

// bind sets the times of the lease: the earliest of what both associations say.
func (c *Client) bind(now time.Duration, m dhcp.V6) {
	c.t1, c.t2, c.expiry = 0, 0, 0
	for _, a := range []*dhcp.IA{m.NA, m.PD} {
		if a != nil && a.Valid != dhcp.Infinite {
			c.bindOne(now, a)
		}
	}
}

// bindOne: T1 and T2 of 0 are ours to choose (RFC 8415 section 14.2 recommends 0.5 and 0.8).
func (c *Client) bindOne(now time.Duration, a *dhcp.IA) {
	t1, t2 := a.T1, a.T2
	if t1 == 0 {
		t1 = a.Preferred / 2
	}
	if t2 == 0 {
		t2 = a.Preferred * 4 / 5
	}
	c.t1 = earlier(c.t1, now+t1)
	c.t2 = earlier(c.t2, now+max(t1, t2))
	c.expiry = earlier(c.expiry, now+a.Valid)
}

// earlier takes 0 for never.
func earlier(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// Renewal asks for a renewal now, whatever T1 says.
func (c *Client) Renewal(now time.Duration) {
	if c.Phase == Ready && (c.settings.NA || c.settings.PD) {
		c.startExchange(now, Renew)
	}
}

// GiveBack releases what DHCPv6 gave; phase Released follows, at once if there is nothing to give back.
func (c *Client) GiveBack(now time.Duration) {
	if !c.Phase.Usable() && c.Phase != Resolve || len(c.server) == 0 {
		c.enter(Released)
		return
	}
	c.startExchange(now, Release)
}
