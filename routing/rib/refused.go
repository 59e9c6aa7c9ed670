package rib

import "time"

const (
	// retryRefused is how long a route rests that the forwarder refused, if nothing gives hope earlier.
	retryRefused = 30 * time.Second
	// retryProbe is how many are tried at first; twice as many when all of them were taken.
	retryProbe = 16
	// retrySoon is how long after deletions we try again: they come in flocks.
	retrySoon = time.Second
)

// Routes that the forwarder did not take (its table was full, mostly) are tried again when routes were
// deleted and after a time, few at first: each refusal costs a batch. They stand in RIB.refused with
// the forwarder's reason, and in the order of their refusals in RIB.refusedQueue, stale ones among them.

// refuse puts a route aside.
func (r *RIB) refuse(rt *route, reason string) {
	if len(r.refused) == 0 {
		r.log.Error("forwarder refused a route; it and others like it are tried again from time to time",
			"prefix", rt.destination.prefix, "vrf", rt.destination.table.vrf, "source", rt.source, "reason", reason)
	}
	rt.refused = true
	r.refused[rt] = reason
	r.refusedQueue = append(r.refusedQueue, rt)
	r.probe = retryProbe
	if r.retryTimer != nil {
		r.retryTimer.Stop()
		r.retryTimer = nil
	}
	r.mark(rt.destination, rt.urgent())
	r.touch(rt.destination)
	r.retryAfter(retryRefused)
}

// unrefuse lets a route be tried again.
func (r *RIB) unrefuse(rt *route) {
	if !rt.refused {
		return
	}
	rt.refused = false
	delete(r.refused, rt)
	r.mark(rt.destination, rt.urgent())
	r.touch(rt.destination)
}

// retryDeleted tries again soon when there is room in the forwarder.
func (r *RIB) retryDeleted(deleted int) {
	if deleted > 0 && len(r.refused) > 0 {
		r.probe = min(max(r.probe, deleted), len(r.refused))
		r.retryAfter(retrySoon)
	}
}

// retryAfter makes sure that there is an attempt within d.
func (r *RIB) retryAfter(d time.Duration) {
	at := r.loop.Now().Add(d)
	if r.retryTimer != nil && !at.Before(r.retryAt) {
		return
	}
	if r.retryTimer != nil {
		r.retryTimer.Stop()
	}
	r.retrySerial++
	r.retryAt = at
	r.retryTimer = r.loop.After(d, retry{r.retrySerial})
}

type retry struct{ serial int }

func (m retry) handle(r *RIB) {
	if m.serial != r.retrySerial {
		return
	}
	r.retryTimer = nil
	r.retryGroups()
	n := max(r.probe, retryProbe)
	r.probe = 2 * n
	for n > 0 && len(r.refusedQueue) > 0 {
		rt := r.refusedQueue[0]
		r.refusedQueue = r.refusedQueue[1:]
		if rt.refused && r.refused[rt] != "" {
			r.unrefuse(rt)
			n--
		}
	}
	if len(r.refused) == 0 {
		r.refusedQueue = nil
		return
	}
	// If one of these is refused, refuse begins with few and a long rest again.
	r.retryAfter(retrySoon)
}
