package rib

import (
	"net/netip"
	"slices"

	"vbng/forwarding/entry"
)

// Path is the best path of BGP to a prefix, or its best ones.
type Path struct {
	Prefix netip.Prefix
	// NextHops are as BGP carries them, 1 to entry.MaxHops of equal cost. A link-local one has the number
	// of its interface (entry.InterfaceID, decimal) as zone.
	NextHops []netip.Addr
	Internal bool   // learned within our own AS: distance 200, else 20
	Metric   uint32 // MED, shown only: BGP has chosen already
}

// UpdateBGP puts paths, each in place of what the VRF had from BGP for its prefix, and takes others
// back. Of several changes of a prefix that come close together only the last is programmed. It may
// be called from any goroutine; both slices belong to the RIB afterwards. A path whose next hops
// cannot be resolved is kept and becomes usable when they can.
func (r *RIB) UpdateBGP(vrf entry.VRFID, put []Path, withdrawn []netip.Prefix) {
	r.loop.Post(updateBGP{vrf, put, withdrawn})
}

// FlushBGP takes back everything that the VRF has from BGP.
func (r *RIB) FlushBGP(vrf entry.VRFID) { r.loop.Post(flushBGP{vrf}) }

type updateBGP struct {
	vrf       entry.VRFID
	put       []Path
	withdrawn []netip.Prefix
}

func (m updateBGP) handle(r *RIB) {
	t := r.table(m.vrf)
	for _, p := range m.withdrawn {
		r.withdrawBGP(t, p.Masked())
	}
	for i := range m.put {
		r.putBGP(t, &m.put[i])
	}
}

type flushBGP struct{ vrf entry.VRFID }

func (m flushBGP) handle(r *RIB) {
	var all []*route
	for _, s := range r.table(m.vrf).sets {
		for _, rt := range s.users {
			if rt.source == BGP {
				rt.doomed = true
				all = append(all, rt)
			}
		}
	}
	slices.SortFunc(all, func(a, b *route) int { return comparePrefixes(a.destination.prefix, b.destination.prefix) })
	dooms{all}.handle(r)
}

// flushChunk bounds the routes that one message takes away: a million would keep everybody waiting.
const flushChunk = 10_000

// dooms takes routes away that were there when it was said to flush; what comes meanwhile stays.
type dooms struct{ routes []*route }

func (m dooms) handle(r *RIB) {
	n := min(len(m.routes), flushChunk)
	for _, rt := range m.routes[:n] {
		r.removeFrom(rt.destination, rt)
	}
	if n < len(m.routes) {
		r.loop.Post(dooms{m.routes[n:]})
	}
}

func (r *RIB) putBGP(t *table, p *Path) {
	if !p.Prefix.IsValid() || len(p.NextHops) == 0 || len(p.NextHops) > entry.MaxHops {
		r.log.Error("path of BGP without prefix or next hops, or with too many", "prefix", p.Prefix, "next-hops", len(p.NextHops))
		return
	}
	if !r.fit(p) {
		r.log.Error("path of BGP with an impossible next hop", "prefix", p.Prefix, "next-hops", p.NextHops)
		return
	}
	d := t.destination(p.Prefix.Masked())
	via := r.nextHops(t, keysOf(p.NextHops))
	distance := uint8(externalBGP)
	if p.Internal {
		distance = internalBGP
	}
	if old := d.find(BGP, 0); old != nil && old.via == via && old.distance == distance && !old.doomed {
		old.metric = p.Metric
		return
	}
	r.addTo(d, &route{source: BGP, distance: distance, metric: p.Metric, via: via})
}

// fit reports whether the next hops can be such of the prefix: unicast, and for IPv6 IPv6 (RFC 8950
// knows only the other way round).
func (r *RIB) fit(p *Path) bool {
	for _, a := range p.NextHops {
		bad := !a.IsValid() || a.IsUnspecified() || a.IsMulticast() || a.IsLoopback() || a.Is4In6()
		if bad || p.Prefix.Addr().Is6() && a.Is4() {
			return false
		}
	}
	return true
}

// keysOf returns next hops in order, each once. They may be reached by a default route when nothing
// longer leads there, as on routers by Cisco and in FRR's traditional profile.
func keysOf(hops []netip.Addr) []gatewayKey {
	keys := make([]gatewayKey, len(hops))
	for i, a := range hops {
		keys[i] = gatewayOf(a, 0, true)
	}
	if len(keys) > 1 {
		slices.SortFunc(keys, compareGateways)
		keys = slices.Compact(keys)
	}
	return keys
}

func (r *RIB) withdrawBGP(t *table, p netip.Prefix) {
	if d, ok := t.destinations.get(p); ok {
		if rt := d.find(BGP, 0); rt != nil {
			r.removeFrom(d, rt)
		}
	}
}
