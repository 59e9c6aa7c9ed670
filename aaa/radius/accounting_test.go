package radius

import (
	"bytes"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"layeh.com/radius"

	"vbng/aaa"
)

func record(kind aaa.RecordType) aaa.Record {
	return aaa.Record{
		Type: kind, AcctSessionID: "s-1", Username: "alice", Class: [][]byte{{0, 1, 0xff}, []byte("second")}, Line: line(),
		Address: netip.MustParseAddr("100.64.0.2"), Authentic: aaa.ByRADIUS,
		Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), SessionTime: 3700 * time.Second,
		Usage: aaa.Usage{InputBytes: 5<<32 + 7, OutputBytes: 1<<33 + 9, InputPackets: 11, OutputPackets: 13},
		Cause: aaa.LostCarrier,
	}
}

// value returns the only attribute of that number.
func value(t *testing.T, wire []byte, number radius.Type) []byte {
	t.Helper()
	p, err := radius.Parse(wire, nil)
	if err != nil {
		t.Fatal(err)
	}
	var found []radius.Attribute
	for _, a := range p.Attributes {
		if a.Type == number {
			found = append(found, a.Attribute)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s occurs %d times", attributeName(byte(number)), len(found))
	}
	return found[0]
}

func absent(t *testing.T, wire []byte, numbers ...radius.Type) {
	t.Helper()
	p, _ := radius.Parse(wire, nil)
	for _, n := range numbers {
		if _, found := p.Lookup(n); found {
			t.Errorf("%s must not be there", attributeName(byte(n)))
		}
	}
}

func number(t *testing.T, wire []byte, n radius.Type) uint32 {
	t.Helper()
	v, err := radius.Integer(value(t, wire, n))
	if err != nil {
		t.Fatalf("%s: %v", attributeName(byte(n)), err)
	}
	return v
}

func TestAccountingStop(t *testing.T) {
	b := newBench(t, serverA())
	b.pass(2500 * time.Millisecond) // the record is that old
	b.account(record(aaa.Stop))
	x := b.next()
	if x.socket.remote != netip.AddrPortFrom(addressA, 1813) || !radius.IsAuthenticRequest(x.wire, []byte("secret-a")) {
		t.Fatalf("sent to %v, or not authentic", x.socket.remote)
	}
	for attribute, want := range map[radius.Type]uint32{
		40: 2, 41: 2, 42: 7, 43: 9, 45: 1, 46: 3700, 47: 11, 48: 13, 49: 2, 52: 5, 53: 2, 55: 1772366400,
		5: 3<<24 | 100<<12 | 200, 6: 2, 7: 1, 61: 34,
	} {
		if got := number(t, x.wire, attribute); got != want {
			t.Errorf("%s is %d, want %d", attributeName(byte(attribute)), got, want)
		}
	}
	for attribute, want := range map[radius.Type]string{
		1: "alice", 8: "\x64\x40\x00\x02", 44: "s-1", 30: "02-00-00-00-00-01:internet", 31: "02-00-00-00-00-AA",
		32: "bng1", 4: "\xc6\x33\x64\x01", 87: "access0:100.200",
	} {
		if got := value(t, x.wire, attribute); string(got) != want {
			t.Errorf("%s is %q, want %q", attributeName(byte(attribute)), got, want)
		}
	}
	if !bytes.Contains(x.wire, []byte("\x19\x05\x00\x01\xff\x19\x08second")) {
		t.Error("the Class attributes are not there in order")
	}
	b.acknowledge(x)
	if len(b.records) != 1 || b.records[0] != nil || b.counters("a", accounting).Responses != 1 {
		t.Errorf("records %v", b.records)
	}
}

func TestAccountingStartAndOnAreShort(t *testing.T) {
	b := newBench(t, serverA())
	b.account(record(aaa.Start))
	absent(t, b.next().wire, 42, 43, 46, 47, 48, 49, 52, 53)
	b.account(record(aaa.Interim))
	absent(t, b.next().wire, 49)
	b.account(aaa.Record{Type: aaa.AccountingOn, AcctSessionID: "nas-1", Time: b.clock.Now()})
	on := b.next().wire
	absent(t, on, 1, 5, 8, 30, 31, 45, 46, 49, 61, 87)
	if number(t, on, 40) != 7 || string(value(t, on, 44)) != "nas-1" || string(value(t, on, 32)) != "bng1" {
		t.Error("Accounting-On lacks its own attributes")
	}
}

func TestAccountingRepetitionHasItsOwnIdentifier(t *testing.T) {
	b := newBench(t, serverA(), serverB())
	b.account(record(aaa.Stop))
	b.pass(4 * time.Second)
	first, second := b.next(), b.next()
	if first.wire[1] == second.wire[1] {
		t.Error("the identifier did not change with the packet (RFC 2866 5.2)")
	}
	if d := number(t, second.wire, 41); d != 3 && d != 2 {
		t.Errorf("Acct-Delay-Time is %d", d)
	}
	b.pass(14 * time.Second)
	third, other := b.next(), b.next()
	if d := number(t, third.wire, 41); d < 8 || d > 10 {
		t.Errorf("Acct-Delay-Time is %d", d)
	}
	if other.socket.remote != netip.AddrPortFrom(addressB, 1813) || number(t, other.wire, 41) < 13 {
		t.Errorf("then to %v with delay %d", other.socket.remote, number(t, other.wire, 41))
	}
	b.acknowledge(first) // the first server has it
	if len(b.records) != 1 || b.records[0] != nil {
		t.Fatalf("records %v", b.records)
	}
	for _, e := range b.client.status().Endpoints {
		if e.Pending != 0 {
			t.Errorf("%s %s holds %d identifiers", e.Server, e.Role, e.Pending)
		}
	}
}

func TestAccountingGivesUp(t *testing.T) {
	b := newBench(t, serverA())
	b.account(record(aaa.Stop))
	b.pass(30 * time.Second)
	if len(b.records) != 1 || !errors.Is(b.records[0], ErrNoAnswer) || len(b.sent) != 3 {
		t.Errorf("records %v after %d transmissions", b.records, len(b.sent))
	}
}

func TestUnsendableRecord(t *testing.T) {
	b := newBench(t, serverA())
	r := record(aaa.Start)
	r.Username = strings.Repeat("x", 254)
	b.account(r)
	if len(b.records) != 1 || !errors.Is(b.records[0], ErrUnsendable) || b.client.status().Endpoints[1].Pending != 0 {
		t.Errorf("records %v", b.records)
	}
	r = record(aaa.Start)
	for range 20 {
		r.Class = append(r.Class, make([]byte, 253))
	}
	b.account(r)
	if len(b.records) != 2 || !errors.Is(b.records[1], ErrUnsendable) {
		t.Errorf("a packet over 4096 octets: %v", b.records)
	}
	b.quiet()
}

func TestAbsurdLineIdentifiersAreLeftOut(t *testing.T) {
	b := newBench(t, serverA())
	r := record(aaa.Start)
	r.Line.CircuitID = make([]byte, 300)
	b.account(r)
	wire := b.next().wire
	if !bytes.Contains(wire, []byte("remote")) || len(wire) > 400 {
		t.Error("the other identifiers are gone too")
	}
	b.logged("Agent-Circuit-Id")
}
