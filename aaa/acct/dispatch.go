package acct

import "time"

// enqueue makes an account ready if its oldest record may be sent.
func (a *Accountant) enqueue(account *account) {
	if account.queued || account.resting || len(account.items) == 0 || account.items[0].sending {
		return
	}
	account.queued = true
	a.ready = append(a.ready, account)
}

// dispatch hands records to the sink as far as the window permits: one while the sink is down.
func (a *Accountant) dispatch() {
	window := a.options.Window
	if a.down {
		window = 1
	}
	if a.down && a.resting {
		return
	}
	for len(a.ready) > 0 && a.inFlight < window {
		account := a.ready[0]
		a.ready = a.ready[1:]
		account.queued = false
		if len(account.items) > 0 {
			a.deliver(account.items[0])
		}
	}
	onlyFence := a.kept-len(a.held) == 1
	if a.fence != nil && !a.fence.sending && onlyFence {
		a.deliver(a.fence)
	}
}

func (a *Accountant) deliver(i *item) {
	i.sending, i.sentAt = true, a.loop.Now()
	a.inFlight++
	a.sink.Deliver(i.record, func(outcome Outcome) { a.loop.Post(delivered{i, outcome}) })
}

// conclude handles the end of a delivery.
func (a *Accountant) conclude(i *item, outcome Outcome) {
	a.inFlight--
	i.sending = false
	switch outcome {
	case Taken:
		a.counters.Taken++
		a.flows()
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

// postpone keeps a record that nobody took. If the sink took others since it was sent, the record
// itself is the trouble and pauses alone; otherwise the sink is down.
func (a *Accountant) postpone(i *item) {
	account := a.accounts[i.record.AcctSessionID]
	if i != a.fence && a.lastTaken.After(i.sentAt) {
		account.resting = true
		a.loop.After(account.pause, rested{account})
		account.pause = min(2*account.pause, longestPause)
		return
	}
	if !a.down {
		a.down = true
		a.options.Log.Warn("accounting stalls: no server takes records", "waiting", a.kept)
	}
	if !a.resting {
		a.resting = true
		a.loop.After(probePause, probe{})
	}
	if i != a.fence {
		a.enqueue(account)
	}
}

// flows notes that the sink took a record.
func (a *Accountant) flows() {
	a.lastTaken = a.loop.Now()
	if a.down {
		a.down = false
		a.options.Log.Info("accounting flows again", "waiting", a.kept)
	}
}

func (a *Accountant) status() Status {
	s := Status{Counters: a.counters, Queued: a.kept - a.inFlight, InFlight: a.inFlight, SinkDown: a.down}
	now := a.loop.Now()
	note := func(i *item) { s.OldestAge = max(s.OldestAge, now.Sub(i.accepted)) }
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
