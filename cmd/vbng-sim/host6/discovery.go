package host6

import (
	"net/netip"
	"time"

	"vbng/cmd/vbng-sim/frame"
)

const addressBits = 64 // RFC 4862 section 5.5.3: prefix and identifier must make 128 bits

func (c *Client) solicitRouter(now time.Duration) {
	c.sent++
	c.out = append(c.out, frame.RouterSolicitation(c.LinkLocal, c.linkMAC()))
	c.Deadline = now + c.settings.RouterWait
}

// solicitNeighbor asks for the router's link-layer address.
func (c *Client) solicitNeighbor(now time.Duration) {
	c.sent++
	c.out = append(c.out, frame.NeighborSolicitation(c.LinkLocal, c.Router, c.linkMAC()))
	c.Deadline = now + c.settings.NeighborWait
}

// probe asks once whether somebody else has the address (RFC 4862 section 5.4). The address is used meanwhile
// (RFC 4429). IPV6CP has made sure of the identifier on PPP.
func (c *Client) probe(address netip.Addr) {
	if c.settings.Link {
		c.out = append(c.out, frame.NeighborSolicitation(netip.IPv6Unspecified(), address, frame.MAC{}))
	}
}

func (c *Client) receiveDiscovery(now time.Duration, p frame.IPv6, from frame.MAC) {
	kind, body, err := frame.ParseICMP6(p)
	if err != nil {
		return
	}
	switch kind {
	case frame.TypeRouterAdvertisement:
		if a, err := frame.ParseRouterAdvert(body); err == nil && p.Src.IsLinkLocalUnicast() {
			c.receiveAdvert(now, p.Src, from, a)
		}
	case frame.TypeNeighborSolicitation:
		if n, err := frame.ParseNeighbor(body); err == nil && c.Owns(n.Target) && !p.Src.IsUnspecified() {
			c.out = append(c.out, frame.NeighborAdvertisement(p.Src, n.Target, c.linkMAC()))
		}
	case frame.TypeNeighborAdvertisement:
		if n, err := frame.ParseNeighbor(body); err == nil {
			c.receiveNeighbor(n, from)
		}
	}
}

// receiveAdvert takes the first advertisement of a default router; a later one changes nothing.
func (c *Client) receiveAdvert(now time.Duration, router netip.Addr, from frame.MAC, a frame.RouterAdvert) {
	if c.Phase != Routers || a.Lifetime == 0 {
		return
	}
	c.Router, c.RouterMAC, c.DNS = router, from, a.DNS
	for _, p := range a.Prefixes {
		if p.Autonomous && p.Valid > 0 && p.Prefix.Bits() == addressBits && !c.SLAAC.IsValid() {
			c.SLAAC = frame.Join(p.Prefix.Addr(), c.id)
			c.probe(c.SLAAC)
		}
	}
	switch {
	case c.settings.NA || c.settings.PD:
		c.startExchange(now, Solicit)
	case !c.SLAAC.IsValid():
		c.fail(CauseNoPrefix, "")
	default:
		c.reach(now)
	}
}

// reach makes sure of the router's link-layer address where there are such.
func (c *Client) reach(now time.Duration) {
	if !c.settings.Link {
		c.ready()
		return
	}
	c.enter(Resolve)
	c.solicitNeighbor(now)
}

func (c *Client) receiveNeighbor(n frame.Neighbor, from frame.MAC) {
	switch {
	case c.Owns(n.Target) && from != c.mac:
		c.fail(CauseDuplicate, n.Target.String()+" is also at "+from.String())
	case c.Phase == Resolve && n.Target == c.Router && n.Solicited && n.Link != frame.MAC{}:
		c.RouterMAC = n.Link
		c.ready()
	}
}

// ready waits for the lease to need a renewal.
func (c *Client) ready() {
	c.enter(Ready)
	c.Deadline = c.t1
}
