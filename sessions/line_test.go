package sessions

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"vbng/aaa"
	"vbng/forwarding/entry"
)

func TestVLANRangeText(t *testing.T) {
	for text, want := range map[string]string{
		"untagged": "untagged", "100": "100", "7-7": "7", "100-199": "100-199", "100.1-4094": "100.any", "5-6.any": "5-6.any",
		"100.7-9": "100.7-9", "0": "", "4095": "", "9-8": "", "1.": "", "any": "", "1.any.any": "", "-": "", "1-2-3": "",
	} {
		r, err := parseVLANRange(text)
		if (err == nil) != (want != "") || err == nil && r.String() != want {
			t.Errorf("%q: %s, %v", text, r, err)
		}
	}
}

func TestTemplate(t *testing.T) {
	line := aaa.Line{Port: "a0", OuterVLAN: 7, MAC: [6]byte{1, 2, 3, 4, 5, 0xff}, CircuitID: []byte{0, 1}, Hostname: "pc"}
	for text, want := range map[template]string{
		"{mac}": "01:02:03:04:05:ff", "x{port}.{outer-vlan}.{inner-vlan}y": "xa0.7.0y", "{circuit-id}{remote-id}/{hostname}": "0001/pc",
	} {
		if got := text.expand(line); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

func TestSubnet(t *testing.T) {
	for _, c := range []struct {
		gateway, address string
		bits             int
	}{
		{"100.64.0.1/18", "100.64.7.7", 18}, {"100.64.0.1/32", "100.64.0.2", 30}, {"100.64.0.1/32", "100.64.1.0", 23},
		{"10.0.0.1/32", "192.0.2.1", 32},
	} {
		got := subnetBits(netip.MustParsePrefix(c.gateway), addr(c.address))
		if got != c.bits {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func TestPacerForgets(t *testing.T) {
	p, now := newPacer(), time.Unix(1e9, 0)
	for i := range maxPaced + 10 {
		p.allow(client{mac: entry.MAC{2, byte(i >> 16), byte(i >> 8), byte(i)}}, now)
	}
	if len(p.buckets) != maxPaced {
		t.Fatalf("%d stations", len(p.buckets))
	}
	p.allow(client{mac: entry.MAC{4}}, now.Add(time.Minute))
	if len(p.buckets) != 1 {
		t.Fatalf("%d stations", len(p.buckets))
	}
}

// twoVRFs knows "red".
type twoVRFs struct{}

func (twoVRFs) ID(name string) entry.VRFID {
	if name == "red" {
		return 3
	}
	return 0
}

func (twoVRFs) Name(id entry.VRFID) string { return [...]string{0: "default", 3: "red"}[id] }

// TestVRF: the subscribers' VRF is that of the interface they are unnumbered to.
func TestVRF(t *testing.T) {
	w := newWorld(t, dualConfig)
	w.m.needs.VRFs = twoVRFs{}
	w.configure(strings.Replace(dualConfig, "interface loopback0\n", "interface loopback0\n vrf red\n", 1))
	s := w.station(0)
	session := s.dhcp()
	if compile(session).session.VRF != 3 {
		t.Fatalf("entry %+v", compile(session).session)
	}
	s.say6(11)
	w.settleWith(s)
	text := strings.Join(w.batches, "\n")
	if !strings.Contains(text, "vrf 3") {
		t.Fatal(text)
	}
	for at := range w.m.current.aggregates() {
		if at.vrf != 3 {
			t.Errorf("aggregate %+v", at)
		}
	}
}

// TestOldRecord: what a program that knew no IPoE and no IPv6 stored is taken up.
func TestOldRecord(t *testing.T) {
	old := `{"version":1,"id":7,"acct_session_id":"x","place":{"port":1},"mac":[2,0,0,0,0,9],"own_mac":[2,0,0,0,0,1],
"port_name":"access0","pppoe_session":9,"profile":"residential","dialled":{},"username":"u","grant":{},"address":"10.0.0.1",
"pool":"residential","up_at":"2026-03-01T12:00:00Z"}`
	r, err := parseRecord([]byte(old))
	if err != nil || r.access() != aaa.PPPoE || r.Address != addr("10.0.0.1") || len(r.Held) != 0 || !r.Until.IsZero() {
		t.Fatalf("%+v, %v", r, err)
	}
}
