package acct

import (
	"log/slog"
	"time"

	"vbng/aaa"
)

// item is a record on its way.
type item struct {
	record   aaa.Record
	done     func(taken bool)
	lane     *lane
	key      uint64 // of the store
	accepted time.Time
	sentAt   time.Time // last handed to the sink
	sending  bool
}

func (i *item) fences() bool {
	return i.record.Type == aaa.AccountingOn || i.record.Type == aaa.AccountingOff
}

// account is a session with records that are not taken yet.
type account struct {
	lane    *lane
	items   []*item // oldest first
	queued  bool    // in the ready queue
	resting bool    // pauses by itself
	pause   time.Duration
}

// accept takes a new record in.
func (a *Accountant) accept(i *item) {
	a.counters.Accepted++
	a.kept++
	i.lane = a.lane(i.record.Group)
	if a.kept > a.options.MaxRecords {
		a.giveUp(i, "too many records wait")
		return
	}
	a.place(i)
}

// place puts a record where it waits for its turn.
func (a *Accountant) place(i *item) {
	switch {
	case a.fence != nil:
		a.held = append(a.held, i)
	case i.fences():
		a.fence = i
		a.loop.After(fencePatience, overdue{i})
	default:
		a.file(i)
	}
}

// file appends a record to its session's; interims that were not sent yet tell nothing any more.
func (a *Accountant) file(i *item) {
	id := i.record.AcctSessionID
	account := a.accounts[id]
	if account == nil {
		account = newAccount(i.lane)
		a.accounts[id] = account
	}
	i.lane = account.lane // records of one session are told in order, wherever the later ones belong
	if i.record.Type != aaa.Start {
		a.supersede(account)
	}
	account.items = append(account.items, i)
	a.enqueue(account)
}

func newAccount(l *lane) *account { return &account{lane: l, pause: firstPause} }

func (a *Accountant) supersede(account *account) {
	keep := account.items[:0]
	for _, i := range account.items {
		if i.record.Type != aaa.Interim || i.sending {
			keep = append(keep, i)
			continue
		}
		a.counters.Superseded++
		a.settle(i, false)
	}
	account.items = keep
}

// openFence lets through what came after an Accounting-On or -Off, up to the next one.
func (a *Accountant) openFence() {
	a.fence = nil
	held := a.held
	a.held = nil
	for _, i := range held {
		a.place(i)
	}
}

// liftFence gives up a fence that still waits for records before it: one that no server takes must not
// hold up all accounting until its own patience ends. One that is on its way ends with its delivery.
func (a *Accountant) liftFence(i *item) {
	if i == a.fence && !i.sending {
		a.giveUp(i, "records before it were not taken in time")
		a.openFence()
	}
}

// settle is the end of a record.
func (a *Accountant) settle(i *item, taken bool) {
	a.kept--
	a.options.Store.Delete(i.key)
	if i.done != nil {
		i.done(taken)
	}
}

// giveUp writes the record to the log, so that it can be billed by hand.
func (a *Accountant) giveUp(i *item, reason string) {
	a.counters.GivenUp++
	a.options.Log.Error("accounting record given up", append([]any{"reason", reason}, describe(i.record)...)...)
	a.settle(i, false)
}

// abandon gives up everything that is left.
func (a *Accountant) abandon() {
	for id, account := range a.accounts {
		for _, i := range account.items {
			a.giveUp(i, "shutting down")
		}
		delete(a.accounts, id)
	}
	if a.fence != nil {
		a.giveUp(a.fence, "shutting down")
	}
	for _, i := range a.held {
		a.giveUp(i, "shutting down")
	}
	a.fence, a.held = nil, nil
}

// describe lists all that a record says.
func describe(r aaa.Record) []any {
	return []any{
		"type", typeName(r.Type), "session", r.AcctSessionID, "user", r.Username, "time", r.Time,
		slog.Group("line", "port", r.Line.Port, "outer_vlan", r.Line.OuterVLAN, "inner_vlan", r.Line.InnerVLAN,
			"mac", r.Line.MAC, "circuit_id", r.Line.CircuitID, "remote_id", r.Line.RemoteID, "service", r.Line.Service),
		"group", r.Group, "pppoe_session", r.PPPoESession, "address", r.Address, "address6", r.Address6, "prefix", r.Prefix,
		"delegated", r.Delegated, "interface_id", r.InterfaceID, "class", r.Class, "authentic", r.Authentic,
		"session_seconds", int64(r.SessionTime / time.Second),
		"input_bytes", r.Usage.InputBytes, "output_bytes", r.Usage.OutputBytes,
		"input_packets", r.Usage.InputPackets, "output_packets", r.Usage.OutputPackets,
		"terminate_cause", r.Cause,
	}
}

func typeName(t aaa.RecordType) string {
	switch t {
	case aaa.Start:
		return "Start"
	case aaa.Stop:
		return "Stop"
	case aaa.Interim:
		return "Interim-Update"
	case aaa.AccountingOn:
		return "Accounting-On"
	case aaa.AccountingOff:
		return "Accounting-Off"
	}
	return "unknown"
}
