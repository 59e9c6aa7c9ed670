package rib

import (
	"net/netip"
	"slices"
	"sync/atomic"

	"vbng/forwarding/entry"
)

// Announce says that a prefix may be announced to others, or may not any more.
type Announce struct {
	Prefix netip.Prefix
	// Source is that of the best usable route: Connected, Static, Subscriber or Aggregate. A change of
	// it is another Announce. Withdrawn: the one that was announced before.
	Source    Source
	Withdrawn bool
}

// Watch calls tell for each prefix of a VRF that a routing protocol may announce: at first for those
// that there are, in no order, then for every change, in order. Calls come on the RIB's loop and must
// not block (post to a loop of your own). Routes that a protocol gave to the RIB and resolved
// neighbours (Host) are not told; our own address is where its prefix is connected (a /32 or /128 of
// a loopback). After stop has returned at most the call that is going on is still made.
func (r *RIB) Watch(vrf entry.VRFID, tell func(Announce)) (stop func()) {
	w := &watcher{tell: tell}
	r.loop.Post(watch{vrf, w})
	return func() {
		w.stopped.Store(true)
		r.loop.Post(unwatch{vrf, w})
	}
}

// watcher is one of those who want to know.
type watcher struct {
	tell    func(Announce)
	stopped atomic.Bool
}

func (w *watcher) hear(a Announce) {
	if !w.stopped.Load() {
		w.tell(a)
	}
}

type watch struct {
	vrf     entry.VRFID
	watcher *watcher
}

func (m watch) handle(r *RIB) {
	t := r.table(m.vrf)
	t.watchers = append(t.watchers, m.watcher)
	for p, d := range t.destinations.all() {
		if d.announced != 0 {
			m.watcher.hear(Announce{Prefix: p, Source: d.announced})
		}
	}
}

type unwatch struct {
	vrf     entry.VRFID
	watcher *watcher
}

func (m unwatch) handle(r *RIB) {
	t := r.table(m.vrf)
	t.watchers = slices.DeleteFunc(t.watchers, func(w *watcher) bool { return w == m.watcher })
}

// announce tells the watchers what has become of a prefix. best may be nil.
func (d *destination) announce(best *route) {
	now := d.announceable(best)
	if now == d.announced {
		return
	}
	a := Announce{Prefix: d.prefix, Source: now}
	if now == 0 {
		a.Source, a.Withdrawn = d.announced, true
	}
	d.announced = now
	for _, w := range d.table.watchers {
		w.hear(a)
	}
}

// announceable returns the source that the best route is announced with, 0 when it is not.
func (d *destination) announceable(best *route) Source {
	if best == nil {
		return 0
	}
	switch best.source {
	case Connected, Static, Subscriber, Aggregate:
		return best.source
	case Local:
		if d.alone(best) {
			return Connected
		}
	}
	return 0
}

// alone reports whether an address of ours lies on no connected prefix of its interface that is
// shorter than the address itself: that of a loopback.
func (d *destination) alone(local *route) bool {
	if d.prefix.Addr().IsLinkLocalUnicast() {
		return false
	}
	for p, over := range d.table.destinations.covering(d.prefix.Addr(), d.prefix.Bits()) {
		if p != d.prefix && over.find(Connected, local.owner) != nil {
			return false
		}
	}
	return true
}
