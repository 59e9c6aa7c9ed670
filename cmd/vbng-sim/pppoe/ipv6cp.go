package pppoe

import (
	"encoding/binary"
	"time"

	"vbng/cmd/vbng-sim/frame"
	"vbng/cmd/vbng-sim/host6"
)

const optionInterfaceID = 1 // RFC 5072 section 4.1

// receiveIPv6 takes IPV6CP packets and those IPv6 packets that are for the client itself. Without IPv6 in the settings
// both protocols are rejected.
func (c *Client) receiveIPv6(now time.Duration, protocol uint16, information []byte) {
	switch {
	case c.settings.IPv6 == nil:
		c.rejectProtocol(protocol, information)
	case c.Phase < Network || c.Phase > Up:
	case protocol == frame.ProtocolIPV6CP:
		c.receiveControl(now, &c.ip6cp, information)
	case c.runsIPv6():
		if p, err := frame.ParseIPv6(information); err == nil && host6.IsControl(p) {
			c.IPv6.Receive(now, p, frame.MAC{})
			c.followIPv6(now)
		}
	}
}

func (c *Client) ip6cpRequest() []byte {
	if c.identifier == (frame.InterfaceID{}) {
		return nil
	}
	return appendOption(nil, optionInterfaceID, c.identifier[:]...)
}

// judgeIPV6CP accepts an identifier that is neither zero nor ours (RFC 5072 section 4.1), and rejects all else.
func (c *Client) judgeIPV6CP(options []option) (code byte, reply []byte) {
	var naks, rejects []byte
	for _, o := range options {
		switch {
		case o.kind != optionInterfaceID || len(o.value) != len(c.RouterID):
			rejects = appendOption(rejects, o.kind, o.value...)
		case frame.InterfaceID(o.value) == c.identifier || frame.InterfaceID(o.value) == frame.InterfaceID{}:
			naks = appendOption(naks, optionInterfaceID, c.newIdentifier()...)
		default:
			c.RouterID = frame.InterfaceID(o.value)
		}
	}
	switch {
	case rejects != nil:
		return configureReject, rejects
	case naks != nil:
		return configureNak, naks
	}
	return configureAck, nil
}

// newIdentifier draws one that claims no global uniqueness (RFC 5072 section 4.1: the u bit is 0).
func (c *Client) newIdentifier() []byte {
	b := binary.BigEndian.AppendUint32(nil, c.settings.Random()&^0x02000000)
	return binary.BigEndian.AppendUint32(b, max(c.settings.Random(), 1))
}

func (c *Client) reviseIPV6CP(code byte, options []option) {
	for _, o := range options {
		switch {
		case o.kind != optionInterfaceID:
		case code == configureReject:
			c.identifier = frame.InterfaceID{}
		case len(o.value) == len(c.identifier):
			c.identifier = frame.InterfaceID(o.value)
		}
	}
}

// startIPv6 begins what comes behind IPV6CP; without an identifier there is no address to begin with. An IPV6CP that
// the router began before our IPCP was done waits for that.
func (c *Client) startIPv6(now time.Duration) {
	if c.identifier == (frame.InterfaceID{}) {
		c.end(CauseIPV6CPNoAgreement, "the router rejects the interface identifier")
		return
	}
	c.Deadline = 0
	c.IPv6 = host6.New(c.settings.IPv6, c.MAC)
	c.IPv6.Start(now, c.identifier)
}

func (c *Client) runsIPv6() bool {
	return c.IPv6 != nil && c.Phase >= Network && c.Phase <= Up
}

// followIPv6 acts on where the IPv6 side stands.
func (c *Client) followIPv6(now time.Duration) {
	switch {
	case c.IPv6.Phase == host6.Failed:
		c.End.IPv6 = c.IPv6.Cause
		c.end(CauseIPv6, c.IPv6.Message)
	case c.Phase == Network6 && c.IPv6.Phase.Usable():
		c.comeUp(now)
	}
}
