package remote

import (
	"errors"
	"testing"

	"vbng/forwarding/entry"
)

// strict makes the engine refuse deletes of what is not there, as the real one does.
func (e *fakeEngine) strict(refuse func(entry.Op) string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.refuse = func(op entry.Op) string {
		if _, there := e.entries[entry.KeyOf(op.Entry)]; op.Verb == entry.Delete && !there {
			return "not there"
		}
		return refuse(op)
	}
}

// What a forwarder refused at its replay is deleted by control later: that is no refusal, and the rest of
// the batch is carried out.
func TestDeleteOfWhatWasLeftOut(t *testing.T) {
	path := socketPath(t)
	f := startForwarder(t, path)
	c := startControl(t, path, nil)
	c.apply(t, put(accessPort, session(1), session(2), session(3)))
	c.Synced()
	c.events.await(t, up, 1)
	f.engine.count(1, 7)
	f.stop()
	c.events.await(t, down, 1)
	small := func(op entry.Op) string {
		if s, ok := op.Entry.(entry.Session); ok && op.Verb == entry.Put && s.ID != 2 {
			return "table is full"
		}
		return ""
	}
	f = startForwarderWith(t, path, func(e *fakeEngine) { e.strict(small) })
	c.events.await(t, up, 2)

	b := remove(session(1))
	b.Put(entry.VRF{ID: 5})
	r := c.apply(t, b)
	if r.Err != nil || len(r.Finals) != 1 || r.Finals[0].Counters.InputPackets != 7 {
		t.Errorf("got %+v, want the counters of the lost forwarder", r)
	}
	if _, all := f.engine.has(accessPort, session(2), entry.VRF{ID: 5}); !all {
		t.Error("the rest of the batch was not carried out")
	}
	b = remove(session(3), session(2), session(9))
	var refused *entry.Refused
	if r := c.apply(t, b); !errors.As(r.Err, &refused) || refused.Op != 2 {
		t.Errorf("got %v, want a refusal of op 2", r.Err)
	}
}
