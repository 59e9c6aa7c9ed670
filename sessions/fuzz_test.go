package sessions

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

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
	w := newWorld(f, dualConfig)
	c := w.peer(0)
	for _, s := range []*station{w.station(0), {w: w, place: c.place, mac: entry.MAC{2, 9, 9, 9, 9, 9}}} { // what a station says, as frames
		w.fuzz = func(p entry.Punt) { f.Add(uint8(p.Class), uint64(p.Session), bytes.Clone(p.Data)) }
		s.discover()
		s.solicitRouter()
		s.solicit()
		s.server6, s.address6, s.delegated = s.duid(), addr("2001:db8::1"), netip.MustParsePrefix("2001:db8::/56")
		s.request6(3)
		s.address, s.server = addr("100.64.0.9"), addr("100.64.0.1")
		s.request()
	}
	w.fuzz = nil
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
		w.clock.Advance(time.Second) // else one station soon says too much
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
