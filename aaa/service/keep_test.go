package service

import (
	"log/slog"
	"net/netip"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"vbng/aaa"
	"vbng/control/store"
)

// A record comes back from the store as it was; what cannot be read is dropped alone.
func TestKeeper(t *testing.T) {
	quiet := slog.New(slog.DiscardHandler)
	s, err := store.Open(filepath.Join(t.TempDir(), "store"), quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	k := keeper{s.Bucket("accounting"), quiet}
	record := aaa.Record{
		Type: aaa.Stop, AcctSessionID: "5F", Username: "alice", Class: [][]byte{{0, 1}, {2}},
		Line:         aaa.Line{Port: "access0", PortIndex: 11, OuterVLAN: 100, MAC: [6]byte{2, 0, 0, 0, 0, 1}, CircuitID: []byte("c")},
		PPPoESession: 7, Address: netip.MustParseAddr("100.64.0.9"), Authentic: aaa.ByRADIUS,
		Time: time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC), SessionTime: 90 * time.Second,
		Usage: aaa.Usage{InputBytes: 1 << 40, OutputPackets: 3}, Cause: aaa.LostCarrier,
	}
	told := 0 // by the store, before load returns
	on := aaa.Record{Type: aaa.AccountingOn, AcctSessionID: "nas-1"}
	k.Put(300, record, func() { told++ })
	k.Put(2, on, func() { told++ })
	k.Put(3, on, func() { told++ })
	k.Delete(3)
	k.bucket.Put([]byte("short"), []byte(`{"version":1,"record":{"Type":2,"AcctSessionID":"1"}}`))
	k.bucket.Put(keptKey(4), []byte(`{"version":9}`))
	k.bucket.Put(keptKey(5), []byte(`{`))
	k.bucket.Put(keptKey(6), []byte(`{"version":1,"record":{}}`))
	for range 2 { // the second time without the bad ones
		got := k.load()
		if len(got) != 2 || got[0].Key != 2 || got[1].Key != 300 || !reflect.DeepEqual(got[0].Record, on) {
			t.Fatalf("loaded %+v", got)
		}
		if !reflect.DeepEqual(got[1].Record, record) {
			t.Errorf("loaded %+v\nwant %+v", got[1].Record, record)
		}
	}
	if told != 3 {
		t.Errorf("%d of 3 records were said to be safe", told)
	}
	left := 0
	if err := k.bucket.ForEach(func(_, _ []byte) error { left++; return nil }); err != nil || left != 2 {
		t.Errorf("%d records are left, error %v", left, err)
	}
}
