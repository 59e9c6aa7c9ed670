package ipoe

import (
	"time"

	"vbng/cmd/vbng-sim/dhcp"
	"vbng/cmd/vbng-sim/frame"
)

// parameters is what we want to be told: mask, routers, DNS, lease time, T1, T2.
const parameters = "\x01\x03\x06\x33\x3a\x3b"

func (c *Client) startDiscover(now time.Duration) {
	c.Phase, c.sent, c.began, c.xid = Discover, 0, now, c.settings.Random()
	c.transmit(now)
}

// transmit sends the phase's message and sets the timer of RFC 2131 section 4.1.
func (c *Client) transmit(now time.Duration) {
	m := c.message(now)
	switch c.Phase {
	case Discover:
		m.Type = dhcp.Discover
	case Request: // RFC 2131 section 4.3.2: in state SELECTING
		m.Type, m.Requested, m.Server = dhcp.Request, c.Addr, c.server
	case Renew, Rebind:
		m.Type, m.Client = dhcp.Request, c.Addr
	}
	if c.Phase == Renew {
		c.sendUnicast(m)
	} else {
		c.sendBroadcast(m)
	}
	wait := min(c.settings.FirstWait<<min(c.sent, 8), c.settings.LongestWait)
	const play = 2 * time.Second
	c.Deadline = now + wait - play/2 + play*time.Duration(c.settings.Random()&0xffff)/0x10000
	c.sent++
}

// message is what all our messages have in common.
func (c *Client) message(now time.Duration) dhcp.V4 {
	return dhcp.V4{
		Operation: dhcp.BootRequest, XID: c.xid, Seconds: uint16((now - c.began) / time.Second),
		Broadcast: c.settings.Broadcast && c.Phase <= Request, MAC: c.MAC,
		Hostname: c.Hostname, VendorClass: c.VendorClass, ClientID: c.ClientID, Parameters: []byte(parameters),
		Circuit: c.Circuit, Remote: c.Remote,
	}
}

// expire runs the timers of IPv4.
func (c *Client) expire(now time.Duration) {
	switch c.Phase {
	case Discover:
		c.repeat(c.settings.DiscoverMax, CauseDiscoverTimeout, func() { c.transmit(now) })
	case Request:
		c.repeat(c.settings.RequestMax, CauseRequestTimeout, func() { c.transmit(now) })
	case Resolve:
		c.repeat(c.settings.ARPMax, CauseARPTimeout, func() { c.askGateway(now) })
	case Up:
		c.startRenewal(now)
	case Network6:
		c.Deadline = now + time.Second // the renewal has to wait for the end of the set-up
	case Renew, Rebind:
		c.expireRenewal(now)
	}
}

// repeat transmits again, or gives up after limit transmissions.
func (c *Client) repeat(limit int, cause Cause, transmit func()) {
	if c.sent < limit {
		transmit()
		return
	}
	c.giveBackIPv4()
	c.finish(cause, "")
}

func (c *Client) startRenewal(now time.Duration) {
	c.Phase, c.sent, c.began, c.xid = Renew, 0, now, c.settings.Random()
	c.transmit(now)
	c.Deadline = earlier(c.t2, c.Deadline)
}

// expireRenewal asks again; from T2 on by broadcast, and at the end of the lease all is over (RFC 2131 section 4.4.5).
func (c *Client) expireRenewal(now time.Duration) {
	if passed(c.expiry, now) {
		c.finish(CauseLeaseExpired, "")
		return
	}
	if c.Phase == Renew && passed(c.t2, now) {
		c.Phase, c.sent = Rebind, 0
	}
	c.transmit(now)
	if c.Phase == Renew {
		c.Deadline = earlier(c.t2, c.Deadline)
	} else {
		c.Deadline = earlier(c.expiry, c.Deadline)
	}
}

// receiveIPv4 takes an answer of the server.
func (c *Client) receiveIPv4(now time.Duration, e frame.Ethernet) {
	m, ok := readReply(e)
	if !ok || m.Operation != dhcp.BootReply || m.XID != c.xid || m.MAC != c.MAC {
		return
	}
	switch {
	case c.Phase == Discover && m.Type == dhcp.Offer:
		c.receiveOffer(now, e.Src, m)
	case c.Phase != Request && c.Phase != Renew && c.Phase != Rebind:
	case m.Type == dhcp.Nak:
		c.finish(CauseNak, m.Message)
	case m.Type == dhcp.Ack && m.Your == c.Addr && m.Lease > 0:
		c.receiveAck(now, e.Src, m)
	}
}

func (c *Client) receiveOffer(now time.Duration, from frame.MAC, m dhcp.V4) {
	if m.Your == (frame.Addr{}) || m.Server == (frame.Addr{}) {
		c.finish(CauseBadOffer, "an offer without address or server identifier")
		return
	}
	c.Addr, c.server, c.serverMAC = m.Your, m.Server, from
	c.Phase, c.sent = Request, 0
	c.transmit(now)
}

func (c *Client) receiveAck(now time.Duration, from frame.MAC, m dhcp.V4) {
	c.serverMAC, c.DNS = from, m.DNS
	c.setTimes(now, m)
	if c.Phase != Request {
		c.Phase, c.Deadline = Up, c.t1
		return
	}
	c.Gateway = m.Router
	if c.Gateway == (frame.Addr{}) {
		c.Gateway = m.Server
	}
	c.Phase, c.sent = Resolve, 0
	c.askGateway(now)
}

// setTimes reads the lease's times; T1 and T2 that are not told are RFC 2131 section 4.4.5's.
func (c *Client) setTimes(now time.Duration, m dhcp.V4) {
	c.t1, c.t2, c.expiry = 0, 0, 0
	if m.Lease == dhcp.Infinite {
		return
	}
	t1, t2 := m.T1, m.T2
	if t1 == 0 {
		t1 = m.Lease / 2
	}
	if t2 == 0 {
		t2 = m.Lease * 7 / 8
	}
	c.t1, c.t2, c.expiry = now+t1, now+max(t1, t2), now+m.Lease
}

// giveBackIPv4 releases the lease, if there is one; nothing answers that (RFC 2131 section 4.4.6).
func (c *Client) giveBackIPv4() {
	if c.Addr == (frame.Addr{}) || c.Phase < Resolve {
		return
	}
	c.xid = c.settings.Random()
	m := dhcp.V4{
		Operation: dhcp.BootRequest, XID: c.xid, Client: c.Addr, MAC: c.MAC,
		Type: dhcp.Release, Server: c.server, ClientID: c.ClientID, Circuit: c.Circuit, Remote: c.Remote,
	}
	c.sendUnicast(m)
}
