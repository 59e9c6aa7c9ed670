package dhcp

import (
	"bytes"
	"encoding/hex"
	"errors"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"vbng/cmd/vbng-sim/frame"
)

func unhex(t testing.TB, s string) []byte {
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The octets were laid out by hand from RFC 2131 figure 1 and RFC 2132.
func TestDiscoverByteForByte(t *testing.T) {
	m := V4{
		Operation: BootRequest, XID: 0x01020304, Seconds: 7, Broadcast: true, MAC: frame.MAC{2, 0, 0, 0, 0, 9},
		Type: Discover, ClientID: []byte{1, 2, 0, 0, 0, 0, 9}, Hostname: "ab", VendorClass: "v", Parameters: []byte{1, 3},
		Circuit: []byte("c1"), Remote: []byte("r"),
	}
	want := append(unhex(t, `01010600 01020304 0007 8000 00000000 00000000 00000000 00000000 020000000009`), make([]byte, 10+64+128)...)
	want = append(want, unhex(t, `63825363 350101 3d0701020000000009 0c026162 3c0176 37020103 5207 01026331 020172 ff`)...)
	want = append(want, make([]byte, 300-len(want))...)
	if got := m.Append(nil); !bytes.Equal(got, want) {
		t.Errorf("got  %x\nwant %x", got, want)
	}
	got, err := ParseV4(want)
	if err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("read as %+v, %v", got, err)
	}
}

func TestAckIsRead(t *testing.T) {
	b := append(unhex(t, `02010600 01020304 0000 0000 00000000 64400002 00000000 00000000 020000000009`), make([]byte, 10+64+128)...)
	b = append(b, unhex(t, `63825363 350105 3604 64400001 3304 00000258 3a04 0000012c 3b04 0000020d 0104 ffff0000
		0308 64400001 64400003 0608 09090909 08080808 00 ff`)...)
	m, err := ParseV4(b)
	if err != nil || m.Type != Ack || m.Your != (frame.Addr{100, 64, 0, 2}) || m.Server != (frame.Addr{100, 64, 0, 1}) ||
		m.Router != (frame.Addr{100, 64, 0, 1}) || m.Lease != 10*time.Minute || m.T1 != 5*time.Minute || m.T2 != 525*time.Second ||
		len(m.DNS) != 2 || m.Mask != (frame.Addr{255, 255, 0, 0}) {
		t.Errorf("read as %+v, %v", m, err)
	}
	for cut := range b {
		if _, err := ParseV4(b[:cut]); err == nil {
			t.Errorf("accepted when cut to %d bytes", cut)
		}
	}
	b[fixedBytes]++
	if _, err := ParseV4(b); !errors.Is(err, frame.ErrMalformed) {
		t.Errorf("wrong cookie: %v", err)
	}
}

// The octets were laid out by hand from RFC 8415 sections 8 and 21.
func TestSolicitByteForByte(t *testing.T) {
	m := V6{
		Type: Solicit6, XID: 0x010203, ClientID: []byte{0, 3, 0, 1, 2, 0, 0, 0, 0, 9}, Elapsed: 1500 * time.Millisecond,
		AskDNS: true, NA: &IA{ID: 5}, PD: &IA{ID: 6},
	}
	want := unhex(t, `01010203 0001000a 0003000102000000 0009 00080002 0096 00060002 0017
		0003000c 00000005 00000000 00000000 0019000c 00000006 00000000 00000000`)
	if got := m.Append(nil); !bytes.Equal(got, want) {
		t.Errorf("got  %x\nwant %x", got, want)
	}
	if got, err := ParseV6(want); err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("read as %+v, %v", got, err)
	}
}

func TestReplyByteForByte(t *testing.T) {
	m := V6{
		Type: Reply6, XID: 0xffffff, ClientID: []byte{1}, ServerID: []byte{2},
		NA:  &IA{ID: 1, T1: 2 * time.Second, T2: 3 * time.Second, Prefix: netip.MustParsePrefix("2001:db8::1/128"), Preferred: 4 * time.Second, Valid: 5 * time.Second},
		PD:  &IA{ID: 1, Prefix: netip.MustParsePrefix("2001:db8:1:200::/56"), Preferred: Infinite, Valid: Infinite},
		DNS: []netip.Addr{netip.MustParseAddr("2001:db8::53")},
	}
	want := unhex(t, `07ffffff 00010001 01 00020001 02
		00030028 00000001 00000002 00000003 00050018 20010db8000000000000000000000001 00000004 00000005
		00190029 00000001 00000000 00000000 001a0019 ffffffff ffffffff 38 20010db8000102000000000000000000
		00170010 20010db8000000000000000000000053`)
	if got := m.Append(nil); !bytes.Equal(got, want) {
		t.Errorf("got  %x\nwant %x", got, want)
	}
	if got, err := ParseV6(want); err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("read as %+v, %v", got, err)
	}
}

func TestTheFirstPrefixAliveIsTaken(t *testing.T) {
	dead := &IA{ID: 1, Prefix: netip.MustParsePrefix("2001:db8:1::/56"), Valid: 0}
	alive := &IA{ID: 1, Prefix: netip.MustParsePrefix("2001:db8:2::/56"), Valid: time.Hour}
	v := append(dead.append(nil, option6Prefix), alive.append(nil, option6Prefix)[iaBytes:]...)
	got, err := readIA(v)
	if err != nil || got.Prefix != alive.Prefix || got.Valid != time.Hour {
		t.Errorf("took %+v, %v", got, err)
	}
}

func FuzzParseV4(f *testing.F) {
	f.Add(V4{Operation: BootReply, Type: Ack, Lease: time.Hour, Your: frame.Addr{1, 2, 3, 4}, Circuit: []byte("c")}.Append(nil))
	f.Add(V4{Type: Nak, Message: "no"}.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := ParseV4(b); err == nil && len(m.Circuit)+len(m.Remote) < 250 && len(m.DNS) < 60 {
			if _, err := ParseV4(m.Append(nil)); err != nil {
				t.Errorf("what was read cannot be written and read: %v", err)
			}
		}
	})
}

func FuzzParseV6(f *testing.F) {
	f.Add(V6{Type: Reply6, ClientID: []byte{1}, ServerID: []byte{2}, NA: &IA{Prefix: netip.MustParsePrefix("2001:db8::1/128")}}.Append(nil))
	f.Add(V6{Type: Advertise6, PD: &IA{Status: StatusNoPrefixAvail, Message: "none"}, Status: 1}.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := ParseV6(b); err == nil && len(b) < 1000 {
			if _, err := ParseV6(m.Append(nil)); err != nil {
				t.Errorf("what was read cannot be written and read: %v", err)
			}
		}
	})
}
