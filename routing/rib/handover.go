package rib

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// handoverTime bounds how long a static route keeps its old next hops while none of its new ones has answered: an
// operator who replaces a next hop that answers by another one loses no packet, and one who names a dead
// one gets it.
const handoverTime = time.Second

// keepsOld reports whether what the forwarder holds of a destination stays for the moment, since the next hops of the static
// route that comes in its place have not answered yet.
func (r *RIB) keepsOld(d *destination, best *route) bool {
	if !d.comes(best) || d.source != Static || !d.installed.via.answers() {
		delete(r.handovers, d)
		return false
	}
	over, known := r.handovers[d]
	if !known {
		r.handovers[d] = false
		r.loop.After(handoverTime, handoverOver{d})
	}
	return !over
}

// comes reports whether a static route stands before its first answer; best is the best usable route, which may be nil.
func (d *destination) comes(best *route) bool {
	for rt := d.routes; rt != nil; rt = rt.next {
		if rt.source == Static && !rt.refused && rt.via != nil && rt.via.bundle != nil && !rt.via.bundle.answers() {
			return true
		}
		if rt == best {
			return false
		}
	}
	return false
}

// answers reports whether a packet to the bundle would reach somebody, as far as anybody knows. b may be nil.
func (b *bundle) answers() bool {
	return b != nil && slices.ContainsFunc(b.hops, func(h *hop) bool { return h.ready && !h.dead })
}

// handoverOver tells that a static route has waited long enough for its next hops.
type handoverOver struct{ destination *destination }

func (m handoverOver) handle(r *RIB) {
	if _, waits := r.handovers[m.destination]; waits {
		r.handovers[m.destination] = true
		r.mark(m.destination, true)
	}
}

// lookAtHandovers is called when a next hop has answered.
func (r *RIB) lookAtHandovers() {
	for _, d := range slices.SortedFunc(maps.Keys(r.handovers), compareDestinations) {
		r.mark(d, true)
	}
}

func compareDestinations(a, b *destination) int {
	if a.table.vrf != b.table.vrf {
		return cmp.Compare(a.table.vrf, b.table.vrf)
	}
	return comparePrefixes(a.prefix, b.prefix)
}
