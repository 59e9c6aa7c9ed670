package sessions

import (
	"testing"

	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
)

// FuzzPunt gives the Manager any frame of any class. It may drop or answer, but not fall, and what it
// opened must close again.
func FuzzPunt(f *testing.F) {
	for _, seed := range []string{
		"\xff\xff\xff\xff\xff\xff\x02\x01\x00\x00\x00\x01\x88\x63\x11\x09\x00\x00\x00\x04\x01\x01\x00\x00",
		"\x02\x00\x00\x00\x00\x01\x02\x01\x00\x00\x00\x01\x88\x63\x11\xa7\x00\x01\x00\x00",
		"\x02\x00\x00\x00\x00\x01\x02\x01\x00\x00\x00\x01\x88\x64\x11\x00\x00\x01\x00\x08\xc0\x21\x01\x01\x00\x06\x01\x04",
		"\x02\x00\x00\x00\x00\x01\x02\x01\x00\x00\x00\x01\x88\x64\x11\x00\x12\x34\x00\x02\x00\x21",
	} {
		f.Add(uint8(1), uint64(1), []byte(seed))
		f.Add(uint8(2), uint64(1), []byte(seed))
		f.Add(uint8(3), uint64(0), []byte(seed))
	}
	w := newWorld(f, sampleConfig)
	c := w.peer(0)
	f.Fuzz(func(t *testing.T, class uint8, session uint64, frame []byte) {
		w.t = t
		if w.m.index.byTuple[c.tuple()] == nil {
			c.dial()
			w.settle(c)
		}
		tagged, _ := wire.ReadTags(frame)
		w.m.Punt(entry.Punt{
			Class: entry.Class(class), Port: 1, Session: entry.SessionID(session), OuterTPID: tagged.OuterTPID,
			OuterVLAN: tagged.OuterVLAN, InnerVLAN: tagged.InnerVLAN, Payload: tagged.Offset, Data: frame,
		})
		w.settle(c)
		w.records, w.requests, w.batches = nil, nil, nil
	})
}

// FuzzRecord reads any bytes as a stored session.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"version":1,"id":1,"acct_session_id":"x","address":"10.0.0.1","up_at":"2026-03-01T12:00:00Z"}`))
	f.Fuzz(func(t *testing.T, value []byte) {
		r, err := parseRecord(value)
		if err == nil && r.Address.IsValid() && !r.Address.Is4() {
			t.Fatalf("record %+v", r)
		}
	})
}
