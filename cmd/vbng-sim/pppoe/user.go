package pppoe

import (
	"net/netip"
	"time"

	"vbng/cmd/vbng-sim/frame"
	"vbng/cmd/vbng-sim/host6"
	"vbng/cmd/vbng-sim/life"
)

// UserPacket finds the IP packet of a subscriber in a frame, and the session id; ok is false for what is the client's
// own business: discovery, control protocols, and the neighbour discovery and DHCP of IPv6.
func UserPacket(e frame.Ethernet) (packet []byte, session uint16, ok bool) {
	if e.Type != frame.TypeSession {
		return nil, 0, false
	}
	p, err := frame.ParsePPPoE(e.Payload)
	if err != nil || p.Code != frame.CodeSession {
		return nil, 0, false
	}
	protocol, information, err := p.PPP()
	switch {
	case err != nil:
		return nil, 0, false
	case protocol == frame.ProtocolIPv6:
		ip, err := frame.ParseIPv6(information)
		return information, p.Session, err != nil || !host6.IsControl(ip)
	}
	return information, p.Session, protocol == frame.ProtocolIPv4
}

// AppendUser appends the header of a frame to the router for an IP packet of our own.
func (c *Client) AppendUser(b []byte, ipv6 bool, bytes int) []byte {
	protocol := uint16(frame.ProtocolIPv4)
	if ipv6 {
		protocol = frame.ProtocolIPv6
	}
	b = frame.AppendEthernet(b, c.AC, c.MAC, c.Tags, frame.TypeSession)
	return frame.AppendPPP(b, c.Session, protocol, bytes)
}

// Renewal asks for a renewal of what DHCPv6 gave; nothing else in PPP is leased.
func (c *Client) Renewal(now time.Duration) [][]byte {
	if c.Phase == Up && c.runsIPv6() {
		c.IPv6.Renewal(now)
	}
	return c.flush()
}

// Who returns who the client is.
func (c *Client) Who() *life.Identity { return &c.Identity }

// SessionID is 0 before there is a session.
func (c *Client) SessionID() uint16 { return c.Session }

// State tells where the client stands.
func (c *Client) State() life.State {
	s := life.State{Stage: c.stage(), Phase: c.Phase.String(), Deadline: c.Deadline}
	switch {
	case c.Phase == Ended:
		s.Closed, s.Cause, s.Message = c.End.Cause == CauseClosed, c.End.Name(), c.End.Message
	case c.runsIPv6():
		if six := c.IPv6.Deadline; six != 0 && (s.Deadline == 0 || six < s.Deadline) {
			s.Deadline = six
		}
		if c.Phase == Network6 {
			s.Phase = c.IPv6.Phase.String()
		}
	}
	return s
}

func (c *Client) stage() life.Stage {
	switch {
	case c.Phase == Idle:
		return life.Idle
	case c.Phase < Up:
		return life.SettingUp
	case c.Phase == Up:
		return life.Up
	case c.Phase == Closing:
		return life.Closing
	case c.Phase == Ended:
		return life.Ended
	}
	return life.Silent
}

// Addresses are those that the client has at present.
func (c *Client) Addresses() (a life.Addresses) {
	if c.Addr != (frame.Addr{}) {
		a.IPv4 = netip.AddrFrom4(c.Addr)
	}
	if c.IPv6 != nil {
		a.SLAAC, a.Assigned, a.Delegated = c.IPv6.SLAAC, c.IPv6.Assigned, c.IPv6.Delegated
	}
	return a
}
