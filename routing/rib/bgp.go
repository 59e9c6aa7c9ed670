package rib

import (
	"net/netip"

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
	t := r.table(m.vrf)
	for p := range t.bgp {
		r.withdrawBGP(t, p)
	}
}

func (r *RIB) putBGP(t *table, p *Path) {
	if !p.Prefix.IsValid() || len(p.NextHops) == 0 || len(p.NextHops) > entry.MaxHops {
		r.log.Error("path of BGP without prefix or next hops, or with too many", "prefix", p.Prefix, "next-hops", len(p.NextHops))
		return
	}
	key := p.Prefix.Masked()
	r.withdrawBGP(t, key)
	d := t.destination(key)
	rt := &route{source: BGP, distance: externalBGP}
	if p.Internal {
		rt.distance = internalBGP
	}
	rt.via = &recursion{destination: d, gateways: p.NextHops}
	t.bgp[key] = rt
	r.addTo(d, rt)
	t.recursive = append(t.recursive, rt)
	r.resolveRoute(rt)
}

func (r *RIB) withdrawBGP(t *table, p netip.Prefix) {
	if rt, ok := t.bgp[p]; ok {
		delete(t.bgp, p)
		r.removeFrom(t.destination(p), rt)
	}
}
