package rib

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"vbng/forwarding/entry"
)

// ErrWithdrawn answers an AddSubscriber that was withdrawn before it was programmed.
var ErrWithdrawn = errors.New("route was withdrawn before it was programmed")

// AddSubscriber adds a prefix that leads to a session. done is called once, on a goroutine of the
// RIB, when the forwarder has it. On an error (the forwarder refuses it, or another source holds the
// same prefix with preference) nothing of the route stays in the RIB.
func (r *RIB) AddSubscriber(vrf entry.VRFID, prefix netip.Prefix, id entry.SessionID, done func(err error)) {
	if !prefix.IsValid() {
		r.loop.Post(answer{done, fmt.Errorf("add subscriber route of session %d: prefix is not valid", id)})
		return
	}
	r.loop.Post(addRoute{vrf: vrf, prefix: prefix, done: done, route: &route{
		source: Subscriber, owner: uint64(id), given: leads{kind: entry.TargetSession, id: uint64(id)},
	}})
}

// DeleteSubscriber takes a session's prefix back; another session's route to the same prefix stays.
// done is called once, on a goroutine of the RIB, when the forwarder has no route to the session
// under this prefix any more.
func (r *RIB) DeleteSubscriber(vrf entry.VRFID, prefix netip.Prefix, id entry.SessionID, done func()) {
	if !prefix.IsValid() {
		r.loop.Post(answer{func(error) { done() }, nil})
		return
	}
	r.loop.Post(deleteRoute{vrf: vrf, prefix: prefix, source: Subscriber, owner: uint64(id), done: done})
}

// answer carries an immediate answer to the loop, where all answers come from.
type answer struct {
	done func(error)
	err  error
}

func (m answer) handle(*RIB) { m.done(m.err) }

// SetAggregates says which prefixes an owner (a pool) gives subscribers addresses from, in place of
// what it said before. Packets to an unused address are dropped there.
func (r *RIB) SetAggregates(vrf entry.VRFID, owner string, prefixes []netip.Prefix) {
	r.loop.Post(setAggregates{vrf: vrf, owner: owner, prefixes: slices.Clone(prefixes)})
}

type setAggregates struct {
	vrf      entry.VRFID
	owner    string
	prefixes []netip.Prefix
}

// aggregate is what one owner said.
type aggregate struct {
	number   uint64 // of the owner
	prefixes []netip.Prefix
}

func (m setAggregates) handle(r *RIB) {
	t := r.table(m.vrf)
	wanted := map[netip.Prefix]struct{}{}
	for _, p := range m.prefixes {
		if !p.IsValid() {
			r.log.Error("aggregate is not a prefix", "owner", m.owner)
			continue
		}
		wanted[p.Masked()] = struct{}{}
	}
	a := t.aggregates[m.owner]
	if a == nil {
		a = &aggregate{number: uint64(len(t.owners))}
		t.owners, t.aggregates[m.owner] = append(t.owners, m.owner), a
	}
	for _, p := range a.prefixes {
		if _, kept := wanted[p]; !kept {
			d := t.destination(p)
			r.removeFrom(d, d.find(Aggregate, a.number))
		}
	}
	a.prefixes = sortedKeys(wanted)
	for _, p := range a.prefixes {
		d := t.destination(p)
		if d.find(Aggregate, a.number) == nil {
			r.addTo(d, &route{source: Aggregate, owner: a.number, distance: Aggregate.Distance(), given: leads{kind: entry.TargetDrop}})
		}
	}
}
