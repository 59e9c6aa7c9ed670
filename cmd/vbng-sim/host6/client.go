package host6

import (
	"net/netip"
	"time"

	"vbng/cmd/vbng-sim/dhcp"
	"vbng/cmd/vbng-sim/frame"
)

// Client is the IPv6 side of one subscriber. Times are distances from the start of the run. The zero value is of no
// use: New.
type Client struct {
	settings *Settings
	mac      frame.MAC

	Phase    Phase
	Deadline time.Duration // when Expire is due; 0: never
	Cause    Cause         // valid in phase Failed
	Message  string

	LinkLocal netip.Addr
	Router    netip.Addr // its link-local address; invalid before an advertisement
	RouterMAC frame.MAC
	SLAAC     netip.Addr   // invalid: none
	Assigned  netip.Addr   // by IA_NA
	Delegated netip.Prefix // by IA_PD
	DNS       []netip.Addr

	id   frame.InterfaceID
	sent int // transmissions of what the phase repeats

	xid    uint32
	began  time.Duration // of the exchange
	server []byte        // its DUID
	t1, t2 time.Duration // 0: never
	expiry time.Duration // of the lease; 0: never

	out [][]byte
}

// New returns an idle client.
func New(settings *Settings, mac frame.MAC) *Client {
	return &Client{settings: settings, mac: mac}
}

// Start begins from nothing, with the identifier that the line agreed.
func (c *Client) Start(now time.Duration, id frame.InterfaceID) {
	*c = Client{settings: c.settings, mac: c.mac, id: id, LinkLocal: frame.LinkLocal(id), Phase: Routers}
	c.probe(c.LinkLocal)
	c.solicitRouter(now)
}

// Take hands out the packets to send.
func (c *Client) Take() [][]byte {
	out := c.out
	c.out = nil
	return out
}

// IsControl reports whether a packet is for the client itself and no user data.
func IsControl(p frame.IPv6) bool {
	if p.NextHeader == frame.UDP && len(p.Payload) >= frame.UDPBytes {
		return int(p.Payload[2])<<8|int(p.Payload[3]) == dhcp.ClientPort6
	}
	return p.IsDiscovery()
}

// Receive takes a packet for which IsControl is true. from is the sender's Ethernet address, zero over PPP.
func (c *Client) Receive(now time.Duration, p frame.IPv6, from frame.MAC) {
	switch {
	case c.Phase == Idle || c.Phase >= Released:
	case p.NextHeader == frame.UDP:
		if datagram, err := frame.ParseUDP6(p); err == nil && p.Dst == c.LinkLocal {
			c.receiveDHCP(now, datagram.Payload)
		}
	default:
		c.receiveDiscovery(now, p, from)
	}
}

// Expire is called when the Deadline has come.
func (c *Client) Expire(now time.Duration) {
	if c.Deadline == 0 || now < c.Deadline {
		return
	}
	c.Deadline = 0
	switch c.Phase {
	case Routers:
		c.repeat(c.settings.RouterMax, CauseNoRouter, func() { c.solicitRouter(now) })
	case Resolve:
		c.repeat(c.settings.NeighborMax, CauseRouterUnreachable, func() { c.solicitNeighbor(now) })
	default:
		c.expireLease(now)
	}
}

// repeat transmits again, or gives up after limit transmissions.
func (c *Client) repeat(limit int, cause Cause, transmit func()) {
	if c.sent < limit {
		transmit()
		return
	}
	c.fail(cause, "")
}

// fail is the one way into phase Failed.
func (c *Client) fail(cause Cause, message string) {
	c.Phase, c.Deadline, c.Cause, c.Message = Failed, 0, cause, message
}

// enter changes the phase; nothing was sent in it yet.
func (c *Client) enter(p Phase) {
	c.Phase, c.sent, c.Deadline = p, 0, 0
}

// Owns reports whether an address is the client's own on its line.
func (c *Client) Owns(a netip.Addr) bool {
	return a == c.LinkLocal || a == c.SLAAC || a == c.Assigned
}

// linkMAC is our link-layer address as an option says it; zero where there are none.
func (c *Client) linkMAC() frame.MAC {
	if c.settings.Link {
		return c.mac
	}
	return frame.MAC{}
}
