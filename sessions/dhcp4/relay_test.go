package dhcp4

import (
	"bytes"
	"errors"
	"testing"
	"time"
)

func testRelay() Relay {
	return Relay{Address: addr("10.0.0.1"), CircuitID: []byte("ge1:100"), RemoteID: []byte{0xca, 0xfe}}
}

const (
	ourAgent  = "52 0d 01 07 6765313a313030 02 02 cafe "
	nodeAgent = "52 05 01 03 616263 "
)

func TestForward(t *testing.T) {
	from := func(hops, giaddr, options string) string {
		return header("01", hops, xid, "0000", none, none, giaddr) + "35 01 01 " + options
	}
	set := func(change func(*Relay)) Relay {
		r := testRelay()
		change(&r)
		return r
	}
	for _, c := range []struct {
		name, in, want string
		relay          Relay
		err            error
	}{
		{"inserts", from("00", none, "0c0161 00 00 3d03010203 ff"), from("01", at1, "0c0161 3d03010203"+ourAgent+"ff"), testRelay(), nil},
		{"drops what an untrusted line marks", from("00", none, nodeAgent+"ff"), "", testRelay(), ErrAgent},
		{"replaces", from("00", none, nodeAgent+"0c0161 ff"), from("01", at1, "0c0161"+ourAgent+"ff"), set(func(r *Relay) { r.Policy = AgentReplace }), nil},
		{"keeps", from("00", none, nodeAgent+"0c0161 ff"), from("01", at1, nodeAgent+"0c0161 ff"), set(func(r *Relay) { r.Policy = AgentKeep }), nil},
		{"keep inserts where there is none", from("00", none, "ff"), from("01", at1, ourAgent+"ff"), set(func(r *Relay) { r.Policy = AgentKeep }), nil},
		{"refuses other relays", from("01", "0a090909", "ff"), "", testRelay(), ErrRelayed},
		{"passes on what a trusted relay sends", from("01", "0a090909", nodeAgent+"ff"), from("02", "0a090909", nodeAgent+"ff"), set(func(r *Relay) { r.TrustRelays = true }), nil},
		{"refuses its own address", from("01", at1, "ff"), "", set(func(r *Relay) { r.TrustRelays = true }), ErrOurs},
		{"hops", from("03", none, "ff"), from("04", at1, ourAgent+"ff"), testRelay(), nil},
		{"too many hops", from("04", none, "ff"), "", testRelay(), ErrHops},
		{"more hops allowed", from("04", none, "ff"), from("05", at1, ourAgent+"ff"), set(func(r *Relay) { r.MaxHops = 16 }), nil},
		{"nothing to say", from("00", none, "ff"), from("01", at1, "ff"), Relay{Address: addr("10.0.0.1")}, nil},
		{"link selection", from("00", none, "ff"), from("01", at1, "52 06 05 04 0a020000 ff"), Relay{Address: addr("10.0.0.1"), LinkSelection: addr("10.2.0.0")}, nil},
		{"a reply from the client's side", header("02", "00", xid, "0000", none, none, none) + "350102ff", "", testRelay(), ErrOperation},
		{"no room", from("00", none, "e0ff"+zeros(255)+"e1ff"+zeros(255)+"e2ff"+zeros(255)+"e3ff"+zeros(255)+"e4c0"+zeros(0xc0)+"ff"), "", testRelay(), ErrTooLarge},
		{"malformed", "0101", "", testRelay(), ErrMalformed},
	} {
		in := unhex(t, c.in)
		got, err := c.relay.Forward(in)
		if !errors.Is(err, c.err) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.err)
			continue
		}
		want := unhex(t, c.want)
		if c.name == "keeps" || c.name == "passes on what a trusted relay sends" {
			want = want[:len(want):len(want)] // unchanged bytes are not padded either
		} else if err == nil {
			want = append(want, make([]byte, max(0, 300-len(want)))...)
		}
		if err == nil && !bytes.Equal(got, want) {
			t.Errorf("%s:\ngot  %x\nwant %x", c.name, got, want)
		}
		if !bytes.Equal(in, unhex(t, c.in)) {
			t.Errorf("%s: the client's bytes are changed", c.name)
		}
	}
}

func TestReturn(t *testing.T) {
	from := func(flags, ciaddr, yiaddr, options string) string {
		return header("02", "00", xid, flags, ciaddr, yiaddr, at1) + options
	}
	const offer, ack, nak = "35 01 02 36 04 c0000202 33 04 00000e10 ", "35 01 05 36 04 c0000202 ", "35 01 06 36 04 c0000202 "
	keep := testRelay()
	keep.Policy = AgentKeep
	for _, c := range []struct {
		name, in, options string
		relay             Relay
		to                string
		err               error
	}{
		{"strips", from("0000", none, at7, offer+ourAgent+"ff"), offer + "ff", testRelay(), "10.0.0.7:68 02:00:00:00:0a:01", nil},
		{"a server without option 82", from("8000", none, at7, offer+"ff"), offer + "ff", testRelay(), "255.255.255.255:68 broadcast", nil},
		{"not what we sent", from("0000", none, at7, offer+nodeAgent+"ff"), "", testRelay(), "", ErrNotEcho},
		{"the access node's", from("0000", none, at7, offer+nodeAgent+"ff"), offer + nodeAgent + "ff", keep, "10.0.0.7:68 02:00:00:00:0a:01", nil},
		{"a renewal", from("8000", at7, at7, ack+ourAgent+"ff"), ack + "ff", testRelay(), "10.0.0.7:68 02:00:00:00:0a:01", nil},
		{"the answer to INFORM", from("0000", at7, none, ack+"ff"), ack + "ff", testRelay(), "10.0.0.7:68 02:00:00:00:0a:01", nil},
		{"NAK", from("0000", none, none, nak+ourAgent+"ff"), nak + "ff", testRelay(), "255.255.255.255:68 broadcast", nil},
		{"another relay's", header("02", "00", xid, "0000", none, at7, "0a090909") + offer + "ff", "", testRelay(), "", ErrNotOurs},
		{"a request", header("01", "00", xid, "0000", none, at7, at1) + offer + "ff", "", testRelay(), "", ErrOperation},
		{"a type of clients", from("0000", none, at7, "350101 3604c0000202 ff"), "", testRelay(), "", ErrOperation},
		{"no server", from("0000", none, at7, "350102 ff"), "", testRelay(), "", ErrOption},
		{"no type", from("0000", none, at7, "3604c0000202 ff"), "", testRelay(), "", ErrMalformed},
		{"a strange lease", from("0000", none, at7, "350102 3604c0000202 330100 ff"), "", testRelay(), "", ErrOption},
	} {
		got, err := c.relay.Return(unhex(t, c.in))
		if !errors.Is(err, c.err) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.err)
		}
		if err != nil {
			continue
		}
		if want := unhex(t, c.options); !bytes.Equal(got.Payload[optionsStart:optionsStart+len(want)], want) || got.To.text() != c.to {
			t.Errorf("%s: %x to %s", c.name, got.Payload[optionsStart:], got.To.text())
		}
		if got.ServerID != addr("192.0.2.2") || got.XID != 0x12345678 || got.ClientMAC != clientMAC {
			t.Errorf("%s: %+v", c.name, got)
		}
		if lease := got.Lease; (got.Type == Offer) != (lease == time.Hour) {
			t.Errorf("%s: lease of %s", c.name, lease)
		}
	}
}

// TestRelayAndServer lets a server of ours stand behind a relay of ours.
func TestRelayAndServer(t *testing.T) {
	relay := testRelay()
	lease := Restore(Config{ServerID: addr("192.0.2.2")}, testGrant(), start.Add(time.Hour))
	for _, c := range captures {
		d, err := ParseDatagram(captured(t, c.name))
		if err != nil {
			t.Fatal(err)
		}
		forwarded, err := relay.Forward(d.Payload)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		r, err := Decode(forwarded)
		if err != nil || r.Hops != 1 || r.Relay != relay.Address || string(r.Agent.CircuitID) != "ge1:100" {
			t.Errorf("%s: %+v, %v", c.name, r, err)
			continue
		}
		r.Type, r.ServerID, r.Requested = Discover, addr("192.0.2.2"), addr("10.0.0.7")
		send := lease.Receive(start, r)[0].(Send)
		back, err := relay.Return(send.Payload)
		if err != nil || back.Address != addr("10.0.0.7") || back.Lease != time.Hour || bytes.Contains(back.Payload, []byte("ge1:100")) {
			t.Errorf("%s: %+v, %v", c.name, back, err)
		}
	}
}

func FuzzRelay(f *testing.F) {
	f.Add(unhex(f, discoverText))
	f.Add(unhex(f, header("02", "00", xid, "8000", none, at7, at1)+"350102 3604c0000202"+ourAgent+"ff"))
	f.Fuzz(func(t *testing.T, payload []byte) {
		relay := testRelay()
		relay.TrustRelays, relay.Policy = true, AgentReplace
		if out, err := relay.Forward(payload); err == nil {
			if _, err := read(out); err != nil {
				t.Fatalf("forwarded: %v", err)
			}
		}
		if reply, err := relay.Return(payload); err == nil {
			if _, err := read(reply.Payload); err != nil {
				t.Fatalf("returned: %v", err)
			}
		}
	})
}
