package forwarding

import (
	"fmt"
	"net/netip"

	"vbng/forwarding/entry"
	"vbng/forwarding/table"
)

// route6Key is the key of an IPv6 prefix.
type route6Key struct {
	high, low uint64
	vrf       uint32 // slot
	length    uint8
}

// route6Info is an IPv6 prefix. Key and value hold no pointers: there may be many.
type route6Info struct {
	target     table.Target
	generation uint64
}

func newRoute6Key(vrf uint32, p netip.Prefix) route6Key {
	a := table.NewAddress6(p.Addr())
	return route6Key{a.High, a.Low, vrf, uint8(p.Bits())}
}

func (k route6Key) address() table.Address6 { return table.Address6{High: k.high, Low: k.low} }

// over returns the key of the shorter prefix that covers another one.
func (k route6Key) over(length int) route6Key {
	a := k.address().Mask(length)
	return route6Key{a.High, a.Low, k.vrf, uint8(length)}
}

func (e *Engine) planRoute6(x *entry.Route, s *step) string {
	d := e.directory
	vrf, reason := d.routeVRF(x)
	if reason != "" {
		return reason
	}
	target, reason := d.resolve(&x.Target)
	if reason != "" {
		return fmt.Sprintf("route %v: %s", x.Prefix, reason)
	}
	key := newRoute6Key(vrf.slot, x.Prefix)
	before, there := d.routes6[key]
	s.action = keep
	switch {
	case !there:
		if reason := d.room6(int(key.length)); reason != "" {
			return reason
		}
		s.action = add
	case before.target != target:
		s.action = change
	}
	s.is6, s.key6, s.route6, s.target, s.vrf = true, key, before, target, vrf.slot
	d.bindRoute6(key, route6Info{target, d.generation})
	return ""
}

// room6 says why one more prefix of a length cannot be, empty if it can.
func (d *directory) room6(length int) string {
	if len(d.routes6) >= d.limits.Routes6 {
		return fmt.Sprintf("limit of %d IPv6 routes is reached", d.limits.Routes6)
	}
	if d.groups6+table.GroupsOf6(length) > table.Groups6(d.limits.Routes6) {
		return fmt.Sprintf("limit of %d IPv6 routes is reached in memory: many are of 65 to 126 bits", d.limits.Routes6)
	}
	return ""
}

// bindRoute6 adds or replaces a prefix, with its references.
func (d *directory) bindRoute6(key route6Key, next route6Info) {
	before, there := d.routes6[key]
	d.hold(entry.KindVRF, key.vrf)
	d.holdTarget(next.target, 1)
	if there {
		d.release(entry.KindVRF, key.vrf)
		d.holdTarget(before.target, ^uint32(0))
	} else {
		d.groups6 += table.GroupsOf6(int(key.length))
	}
	d.routes6[key] = next
}

// forgetRoute6 removes a prefix that is there, with its references.
func (d *directory) forgetRoute6(key route6Key) {
	d.release(entry.KindVRF, key.vrf)
	d.holdTarget(d.routes6[key].target, ^uint32(0))
	d.groups6 -= table.GroupsOf6(int(key.length))
	delete(d.routes6, key)
}

func (e *Engine) planRoute6Gone(x *entry.Route, s *step) string {
	d := e.directory
	vrf, reason := d.routeVRF(x)
	if reason != "" {
		return reason
	}
	key := newRoute6Key(vrf.slot, x.Prefix)
	if _, there := d.routes6[key]; !there {
		return fmt.Sprintf("route %v in VRF %d is not there", x.Prefix, x.VRF)
	}
	s.coverLength, s.target = d.coverOf6(x, key)
	e.route6Gone(key, s)
	return ""
}

// coverOf6 is coverOf for IPv6.
func (d *directory) coverOf6(x *entry.Route, key route6Key) (uint8, table.Target) {
	if x.Cover.Kind != 0 && x.CoverLength > 0 {
		target, reason := d.resolve(&x.Cover)
		over, there := d.routes6[key.over(int(x.CoverLength))]
		if reason == "" && there && over.target == target {
			return x.CoverLength, target
		}
	}
	return d.cover6(key)
}

// cover6 searches the longest prefix over another one; length 0 is the default route or none.
func (d *directory) cover6(key route6Key) (uint8, table.Target) {
	for l := int(key.length) - 1; l > 0; l-- {
		if over, there := d.routes6[key.over(l)]; there {
			return uint8(l), over.target
		}
	}
	return 0, 0
}

// route6Gone takes a prefix out of the directory.
func (e *Engine) route6Gone(key route6Key, s *step) {
	s.action, s.is6, s.key6, s.route6 = remove, true, key, e.directory.routes6[key]
	e.directory.forgetRoute6(key)
}

func (e *Engine) undoRoute6(s *step) {
	if s.action == add {
		e.directory.forgetRoute6(s.key6)
		return
	}
	e.directory.bindRoute6(s.key6, s.route6)
}
