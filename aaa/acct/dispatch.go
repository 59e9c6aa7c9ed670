package acct

import "time"

// lane returns the lane of a group.
func (a *Accountant) lane(group string) *lane {
	l := a.lanes[group]
	if l == nil {
		l = &lane{group: group}
		a.lanes[group] = l
		a.order = append(a.order, l)
	}
	return l
}

// enqueue makes an account ready if its oldest record may be sent.
func (a *Accountant) enqueue(account *account) {
	if account.queued || account.resting || len(account.items) == 0 || account.items[0].sending {
		return
	}
	account.queued = true
	account.lane.ready = append(account.lane.ready, account)
}

// dispatch hands records to the sink as far as the windows permit: one while a lane is down.
func (a *Accountant) dispatch() {
	for _, l := range a.order {
		a.dispatchLane(l)
	}
	onlyFence := a.kept-len(a.held) == 1
	if i := a.fence; i != nil && !i.sending && onlyFence && !i.lane.pauses() {
		a.deliver(i)
	}
}

func (a *Accountant) dispatchLane(l *lane) {
	window := a.options.Window
	if l.down {
		window = 1
	}
	for !l.pauses() && len(l.ready) > 0 && l.inFlight < window {
		account := l.ready[0]
		l.ready = l.ready[1:]
		account.queued = false
		if len(account.items) > 0 {
			a.deliver(account.items[0])
		}
	}
}

func (l *lane) pauses() bool { return l.down && l.resting }

func (a *Accountant) deliver(i *item) {
	i.sending, i.sentAt = true, a.loop.Now()
	i.lane.inFlight++
	a.sink.Deliver(i.record, func(outcome Outcome) { a.loop.Post(delivered{i, outcome}) })
}

// conclude handles the end of a delivery.
func (a *Accountant) conclude(i *item, outcome Outcome) {
	i.lane.inFlight--
	i.sending = false
	switch outcome {
	case Taken:
		a.counters.Taken++
		a.flows(i.lane)
		a.remove(i, func() { a.settle(i, true) })
	case Impossible:
		a.remove(i, func() { a.giveUp(i, "not expressible") })
	default:
		a.counters.Failed++
		if a.loop.Now().Sub(i.accepted) >= a.patience(i) {
			a.remove(i, func() { a.giveUp(i, "no server took it in time") })
			return
		}
		a.postpone(i)
	}
}

func (a *Accountant) patience(i *item) time.Duration {
	if i.fences() {
		return fencePatience
	}
	return a.options.Patience
}

// remove takes a record out of its place, ends it, and lets the next one come forward.
func (a *Accountant) remove(i *item, end func()) {
	if i == a.fence {
		end()
		a.openFence()
		return
	}
	id := i.record.AcctSessionID
	account := a.accounts[id]
	account.items = account.items[1:]
	account.pause = firstPause
	end()
	if len(account.items) == 0 {
		delete(a.accounts, id)
		return
	}
	a.enqueue(account)
}

// postpone keeps a record that nobody took. If the lane took others since it was sent, the record
// itself is the trouble and pauses alone; otherwise the lane is down.
func (a *Accountant) postpone(i *item) {
	account, l := a.accounts[i.record.AcctSessionID], i.lane
	if i != a.fence && l.lastTaken.After(i.sentAt) {
		account.resting = true
		a.loop.After(account.pause, rested{account})
		account.pause = min(2*account.pause, longestPause)
		return
	}
	if !l.down {
		l.down = true
		a.options.Log.Warn("accounting stalls: no server takes records", "group", l.group, "waiting", a.kept)
	}
	if !l.resting {
		l.resting = true
		a.loop.After(probePause, probe{l})
	}
	if i != a.fence {
		a.enqueue(account)
	}
}

// flows notes that a lane took a record.
func (a *Accountant) flows(l *lane) {
	l.lastTaken = a.loop.Now()
	if l.down {
		l.down = false
		a.options.Log.Info("accounting flows again", "group", l.group, "waiting", a.kept)
	}
}

func (a *Accountant) status() Status {
	s := Status{Counters: a.counters, Queued: a.kept}
	for _, l := range a.order {
		s.InFlight += l.inFlight
		s.SinkDown = s.SinkDown || l.down
	}
	s.Queued -= s.InFlight
	now := a.loop.Now()
	note := func(i *item) { s.OldestAge = max(s.OldestAge, now.Sub(i.record.Time)) }
	for _, account := range a.accounts {
		for _, i := range account.items {
			note(i)
		}
	}
	if a.fence != nil {
		note(a.fence)
	}
	return s
}
