package bgp

import (
	"fmt"
	"net/netip"

	api "github.com/osrg/gobgp/v3/api"
	"google.golang.org/protobuf/types/known/anypb"
)

// The reasons for which a path never reaches the RIB.
const (
	refusedMalformed = "malformed"        // GoBGP's path could not be read
	refusedPrefix    = "martian-prefix"   // never routed: multicast, loopback, link-local, reserved
	refusedOwn       = "own-address"      // the prefix is an address of ours
	refusedNextHop   = "martian-next-hop" // no global unicast address
	refusedOwnHop    = "own-next-hop"     // the next hop is an address of ours
)

// learned is what is known of a prefix now: its best paths, best first, none when it is gone.
type learned struct {
	prefix netip.Prefix
	hops   []nextHop
}

type nextHop struct {
	addr     netip.Addr
	internal bool
	metric   uint32 // MULTI_EXIT_DISC
}

// boundary turns GoBGP's paths into what the RIB may hear. It trusts nothing in them.
type boundary struct {
	as      uint32                // ours: what comes from it is internal
	own     func(netip.Addr) bool // reports whether an address is ours
	refused func(reason string)
}

// learn converts the paths of one event: the equally good paths of one prefix or of several, one prefix
// after the other, or withdrawals.
func (b boundary) learn(paths []*api.Path) (all []learned) {
	defer func() {
		if recover() != nil {
			b.refused(refusedMalformed)
		}
	}()
	at := map[netip.Prefix]int{}
	for _, p := range paths {
		prefix, ok := b.prefix(p)
		if !ok {
			continue
		}
		i, known := at[prefix]
		if !known {
			i = len(all)
			at[prefix] = i
			all = append(all, learned{prefix: prefix})
		}
		if hop, ok := b.hop(p, prefix); ok {
			all[i].hops = append(all[i].hops, hop)
		}
	}
	return all
}

// prefix reads the destination; ok is false for what no route may lead to.
func (b boundary) prefix(p *api.Path) (prefix netip.Prefix, ok bool) {
	var nlri api.IPAddressPrefix
	if p.GetNlri() == nil || p.Nlri.UnmarshalTo(&nlri) != nil {
		b.refused(refusedMalformed)
		return prefix, false
	}
	addr, err := netip.ParseAddr(nlri.Prefix)
	if err != nil || addr.Zone() != "" || addr.Is4In6() || int(nlri.PrefixLen) > addr.BitLen() {
		b.refused(refusedMalformed)
		return prefix, false
	}
	prefix = netip.PrefixFrom(addr, int(nlri.PrefixLen)).Masked()
	if f := p.GetFamily(); f.GetSafi() != api.Family_SAFI_UNICAST || (f.GetAfi() == api.Family_AFI_IP) != addr.Is4() {
		b.refused(refusedMalformed)
		return prefix, false
	}
	switch {
	case prefix.Bits() > 0 && !routable(prefix):
		b.refused(refusedPrefix)
	case prefix.IsSingleIP() && b.own(prefix.Addr()):
		b.refused(refusedOwn)
	default:
		return prefix, true
	}
	return prefix, false
}

// routable reports whether a prefix other than the default route lies in addresses that are routed.
func routable(p netip.Prefix) bool {
	for _, m := range martians() {
		if m.Overlaps(p) && m.Bits() <= p.Bits() {
			return false
		}
	}
	return true
}

// announceable reports whether we may announce a prefix.
func announceable(p netip.Prefix) bool { return p.Bits() == 0 || routable(p) }

// martians are the prefixes inside which nothing is routed (RFC 6890: not forwardable).
func martians() []netip.Prefix {
	return []netip.Prefix{
		four(0, 0, 8), four(127, 0, 8), four(169, 254, 16), four(224, 0, 3), // multicast and reserved together
		six(0, 0, 8), // unspecified, loopback, IPv4-mapped and -compatible
		six(0xfe, 0x80, 10), six(0xfe, 0xc0, 10), six(0xff, 0, 8),
	}
}

func four(a, b byte, bits int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{a, b}), bits)
}

func six(a, b byte, bits int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom16([16]byte{a, b}), bits)
}

// hop reads a path's next hop. It is not ok for withdrawals and for our own announcements, which the RIB
// knows from where they come.
func (b boundary) hop(p *api.Path, prefix netip.Prefix) (h nextHop, ok bool) {
	if from, err := netip.ParseAddr(p.GetNeighborIp()); p.GetIsWithdraw() || err != nil || from.IsUnspecified() {
		return h, false
	}
	h.internal = p.GetSourceAsn() == b.as
	for _, a := range p.GetPattrs() {
		if err := h.read(a); err != nil {
			b.refused(refusedMalformed)
			return h, false
		}
	}
	switch {
	case !h.addr.IsValid() || !unicast(h.addr) || h.addr.IsLinkLocalUnicast() || !routable(netip.PrefixFrom(h.addr, h.addr.BitLen())):
		b.refused(refusedNextHop)
	case prefix.Addr().Is6() && h.addr.Is4():
		b.refused(refusedNextHop)
	case b.own(h.addr):
		b.refused(refusedOwnHop)
	default:
		return h, true
	}
	return h, false
}

// read takes from an attribute what a route needs. An IPv6 next hop may come with a link-local one, which
// has no meaning without an interface: the global one counts (RFC 2545 3).
func (h *nextHop) read(a *anypb.Any) error {
	switch {
	case a.MessageIs((*api.NextHopAttribute)(nil)):
		var v api.NextHopAttribute
		if err := a.UnmarshalTo(&v); err != nil {
			return err
		}
		return h.take(v.NextHop)
	case a.MessageIs((*api.MpReachNLRIAttribute)(nil)):
		var v api.MpReachNLRIAttribute
		if err := a.UnmarshalTo(&v); err != nil {
			return err
		}
		for _, text := range v.NextHops {
			if err := h.take(text); err != nil {
				return err
			}
		}
	case a.MessageIs((*api.MultiExitDiscAttribute)(nil)):
		var v api.MultiExitDiscAttribute
		if err := a.UnmarshalTo(&v); err != nil {
			return err
		}
		h.metric = v.Med
	}
	return nil
}

func (h *nextHop) take(text string) error {
	addr, err := netip.ParseAddr(text)
	if err != nil {
		return fmt.Errorf("read next hop: %w", err)
	}
	if addr = addr.Unmap().WithZone(""); !h.addr.IsValid() || h.addr.IsLinkLocalUnicast() {
		h.addr = addr
	}
	return nil
}
