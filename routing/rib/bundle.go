package rib

import (
	"encoding/binary"
	"hash/fnv"
	"net/netip"
	"slices"

	"vbng/forwarding/entry"
)

// hop is a neighbour entry that we hold. It lives while a bundle or a group in the forwarder has it.
type hop struct {
	key        NextHop
	ready      bool // the forwarder has been given the neighbour entry
	dead       bool // it does not answer
	references int
	bundles    []*bundle
}

// bundle is hops that are resolved together: one, which routes lead to as a neighbour, or several,
// which are an entry.Group. It lives while a set is resolved to it or the forwarder holds a route
// that leads there; its group is put before the first such route and deleted after the last.
type bundle struct {
	key        string
	hops       []*hop // in order
	ready      int    // of hops
	group      entry.GroupID
	references int
	sets       []*nexthops
	given      bool // a resolved host on a connected prefix, who is in the interfaces' hands

	// Of a group.
	members []*hop // what the forwarder holds of it; nil: it holds no such group
	dirty   bool   // stands in RIB.groups
	flying  bool   // a change of it is on its way
	gone    bool
}

// is reports whether a bundle has exactly these hops.
func (b *bundle) is(hops []NextHop) bool {
	return slices.EqualFunc(b.hops, hops, func(h *hop, key NextHop) bool { return h.key == key })
}

func keyOfHops(kind byte, hops []NextHop) string {
	b := []byte{kind}
	for _, h := range hops {
		a := h.Addr.As16()
		b = binary.BigEndian.AppendUint32(append(b, a[:]...), uint32(h.Interface))
		b = append(b, byte(h.Addr.BitLen()))
	}
	return string(b)
}

// The kinds of bundles in their keys. A group stays one when only one hop is left of it.
const (
	singleKind = 's'
	groupKind  = 'g'
)

// bundleOf returns the bundle of these hops, at least one.
func (r *RIB) bundleOf(hops []NextHop) *bundle {
	kind := byte(singleKind)
	if len(hops) > 1 {
		kind = groupKind
	}
	key := keyOfHops(kind, hops)
	if b, ok := r.bundles[key]; ok {
		return b
	}
	if kind == groupKind && r.groupsRefused {
		return r.bundleOf(hops[:1])
	}
	b := &bundle{key: key}
	r.bundles[key] = b
	if kind == groupKind {
		b.group = r.groupID(key)
		r.ids[b.group] = b
	}
	r.fill(b, hops)
	return b
}

// groupID gives a group a number that follows from its hops: after a restart of control the forwarder
// still has routes that lead to the groups of before, so a number should mean the same again.
func (r *RIB) groupID(key string) entry.GroupID {
	hash := fnv.New32a()
	hash.Write([]byte(key))
	id := entry.GroupID(hash.Sum32())
	for id == 0 || r.ids[id] != nil {
		id++
	}
	return id
}

// fill gives a bundle its hops in place of those it had.
func (r *RIB) fill(b *bundle, hops []NextHop) {
	old := b.hops
	b.hops, b.ready = nil, 0
	for _, key := range hops {
		h := r.take(key)
		h.bundles = append(h.bundles, b)
		b.hops = append(b.hops, h)
		if h.ready {
			b.ready++
		}
	}
	for _, h := range old {
		at := slices.Index(h.bundles, b)
		h.bundles = slices.Delete(h.bundles, at, at+1)
		r.releaseHop(h)
	}
	r.regroup(b)
}

// reshape gives a group other hops when all that use it agree on them, so that no route needs to be
// touched: a link that fails costs one entry, however many routes lead over it.
func (r *RIB) reshape(b *bundle, hops []NextHop) {
	for _, s := range b.sets {
		if !slices.Equal(s.reached.hops, hops) {
			return
		}
	}
	key := keyOfHops(groupKind, hops)
	ready := slices.ContainsFunc(hops, func(k NextHop) bool { h := r.hops[k]; return h != nil && h.ready })
	if r.bundles[key] != nil || !ready {
		return
	}
	delete(r.bundles, b.key)
	b.key = key
	r.bundles[key] = b
	r.fill(b, hops)
}

// release gives back a reference to a bundle. b may be nil.
func (r *RIB) release(b *bundle) {
	if b == nil || b.given {
		return
	}
	if b.references--; b.references > 0 {
		return
	}
	if b.members != nil {
		r.regroup(b) // the forwarder must delete it first
	} else if !b.flying {
		r.forget(b)
	}
}

// forget drops a bundle of which the forwarder holds nothing.
func (r *RIB) forget(b *bundle) {
	if b.gone {
		return
	}
	b.gone = true
	if r.bundles[b.key] == b {
		delete(r.bundles, b.key)
	}
	if b.group != 0 {
		delete(r.ids, b.group)
	}
	for _, h := range b.hops {
		h.bundles = slices.DeleteFunc(h.bundles, func(x *bundle) bool { return x == b })
		r.releaseHop(h)
	}
	b.hops = nil
}

// regroup notes that the forwarder's group may differ.
func (r *RIB) regroup(b *bundle) {
	if b.group != 0 && !b.dirty {
		b.dirty = true
		r.groups = append(r.groups, b)
	}
}

// wanted returns the hops that the forwarder should spread packets over: those that answer, or all
// that are ready when none does.
func (b *bundle) wanted() []*hop {
	var ready, alive []*hop
	for _, h := range b.hops {
		if h.ready {
			ready = append(ready, h)
			if !h.dead {
				alive = append(alive, h)
			}
		}
	}
	if len(alive) > 0 {
		return alive
	}
	return ready
}

// entry returns the group as the forwarder is told of it.
func (b *bundle) entry() entry.Group {
	g := entry.Group{ID: b.group, Count: uint8(len(b.members))}
	for i, h := range b.members {
		g.Hops[i] = h.key
	}
	return g
}

// compileGroup makes the forwarder agree with a group.
func (r *RIB) compileGroup(f *flight, b *bundle) {
	b.dirty = false
	before := b.members
	switch {
	case b.references == 0 && before == nil:
		return
	case b.references == 0:
		b.members = nil
		f.batch.Delete(entry.Group{ID: b.group})
	default:
		wanted := b.wanted()
		if len(wanted) == 0 || slices.Equal(wanted, before) {
			return
		}
		for _, h := range wanted {
			h.references++
		}
		b.members = wanted
		f.batch.Put(b.entry())
	}
	b.flying = true
	f.changes = append(f.changes, change{group: b, members: before})
}

// confirmGroup follows the forwarder's yes.
func (r *RIB) confirmGroup(c change) {
	c.group.flying = false
	for _, h := range c.members {
		r.releaseHop(h)
	}
	if c.group.references == 0 && c.group.members == nil {
		r.forget(c.group)
	}
}

// undoGroup follows its no.
func (r *RIB) undoGroup(c change) {
	now := c.group.members
	c.group.flying, c.group.members = false, c.members
	for _, h := range now {
		r.releaseHop(h)
	}
	if c.group.references == 0 && c.members == nil {
		r.forget(c.group)
		return
	}
	r.regroup(c.group)
}

// refuseGroup deals with a group that the forwarder does not take: until the next attempt new sets of
// hops are their first hop. One that it has in an older form stays that for so long.
func (r *RIB) refuseGroup(b *bundle, reason string) {
	if !r.groupsRefused {
		r.log.Error("forwarder refused a group of next hops, routes use the first one only", "hops", len(b.hops), "reason", reason)
	}
	r.groupsRefused = true
	r.retryAfter(retryRefused)
	r.groups = slices.DeleteFunc(r.groups, func(x *bundle) bool { return x == b })
	b.dirty = false
	if b.members != nil || b.gone {
		return
	}
	delete(r.bundles, b.key)
	for _, s := range slices.Clone(b.sets) {
		r.move(s, r.bundleOf(s.reached.hops))
		r.markUsers(s)
	}
}

// retryGroups offers the forwarder again what it refused.
func (r *RIB) retryGroups() {
	if !r.groupsRefused {
		return
	}
	r.groupsRefused = false
	for _, b := range r.ids {
		r.regroup(b)
	}
	for _, t := range r.tables {
		for _, s := range t.sets {
			if len(s.reached.hops) > 1 && (s.bundle == nil || s.bundle.group == 0) && !s.dirty {
				s.dirty = true
				r.newSets = append(r.newSets, s)
			}
		}
	}
}

func (r *RIB) take(key NextHop) *hop {
	h, ok := r.hops[key]
	if !ok {
		h = &hop{key: key}
		r.hops[key] = h
		r.neighbors.Want(key.Interface, key.Addr, func() { r.loop.Post(hopReady{h}) })
	}
	h.references++
	return h
}

func (r *RIB) releaseHop(h *hop) {
	if h.references--; h.references == 0 {
		delete(r.hops, h.key)
		r.neighbors.Unwant(h.key.Interface, h.key.Addr)
	}
}

// hopReady tells that a neighbour entry stands. It is for this very hop: one that was given back and
// taken again meanwhile is another.
type hopReady struct{ hop *hop }

func (m hopReady) handle(r *RIB) {
	if m.hop.ready {
		return
	}
	m.hop.ready = true
	for _, b := range m.hop.bundles {
		b.ready++
		r.regroup(b)
		if b.ready == 1 {
			for _, s := range b.sets {
				r.markUsers(s)
			}
		}
	}
}

// NeighborState tells whether a neighbour answers, as far as its owner knows. Groups leave out those
// that do not, unless none does; a route with one next hop leads there all the same, and its packets
// are gleaned. A neighbour that nobody spoke of answers. It may be called from any goroutine.
func (r *RIB) NeighborState(i entry.InterfaceID, addr netip.Addr, answers bool) {
	r.loop.Post(neighborState{NextHop{Interface: i, Addr: addr}, answers})
}

type neighborState struct {
	key     NextHop
	answers bool
}

func (m neighborState) handle(r *RIB) {
	h := r.hops[m.key]
	if h == nil || h.dead == !m.answers {
		return
	}
	h.dead = !m.answers
	for _, b := range h.bundles {
		r.regroup(b)
	}
	if m.answers {
		r.lookAtHandovers()
	}
}
