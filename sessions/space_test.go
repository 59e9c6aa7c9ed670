package sessions

import (
	"net/netip"
	"strings"
	"testing"

	"vbng/control/oper"
	"vbng/forwarding/entry"
)

// colours are VRFs by number.
type colours []string

func (c colours) ID(name string) entry.VRFID {
	for i, n := range c {
		if n == name {
			return entry.VRFID(i)
		}
	}
	return 0
}

func (c colours) Name(id entry.VRFID) string { return c[id] }

const overlapping = `
interface access0
!
interface loopback1
 vrf red
 ip address 10.0.0.1/32
!
interface loopback2
 vrf blue
 ip address 10.0.0.1/32
!
ip pool red
 range 10.0.0.1 10.0.0.9
!
ip pool blue
 range 10.0.0.0 10.0.0.5
!
ipv6 pool red
 prefix 2001:db8::/48 length 64
!
ipv6 pool blue
 prefix 2001:db8::/40 length 64
!
ipoe profile red
 ip unnumbered loopback1
 ip pool red
 ipv6 prefix pool red
!
ipoe profile blue
 ip unnumbered loopback2
 ip pool blue
 ipv6 prefix pool blue
!
`

// TestVRFsHaveAddressesOfTheirOwn hands out the same address twice, and refuses it only where it is held.
func TestVRFsHaveAddressesOfTheirOwn(t *testing.T) {
	w := newWorld(t, sampleConfig)
	w.m.needs.VRFs = colours{"default", "red", "blue"}
	w.configure(overlapping)
	red, blue := w.m.space(1), w.m.space(2)
	for _, x := range []slot{slotIPv4, slotPrefix} {
		a, err := red.allocate(x, "red", 1, netip.Prefix{})
		if err != nil {
			t.Fatal(err)
		}
		if err := red.reserve(a, 2); err == nil {
			t.Errorf("%s given out twice in one VRF", a)
		}
		if err := blue.reserve(a, 2); err != nil {
			t.Errorf("%s is not free in the other VRF: %v", a, err)
		}
		if _, err := red.allocate(x, "blue", 1, netip.Prefix{}); err == nil {
			t.Errorf("a pool of the other VRF gave an address")
		}
		red.release(a, 1)
		if err := blue.reserve(a, 3); err == nil {
			t.Errorf("%s came free in the other VRF", a)
		}
		blue.release(a, 2)
	}
	rows := w.run("show ip pool", nil).(oper.Table[PoolRange]).Rows
	if len(rows) != 2 || rows[0].Pool != "red" || rows[0].VRF != "red" || rows[1].Pool != "blue" || rows[1].VRF != "blue" {
		t.Errorf("show ip pool: %+v", rows)
	}
}

func TestPoolsMayOverlapInDifferentVRFs(t *testing.T) {
	for name, c := range map[string]struct {
		change [2]string
		faults int
	}{
		"apart":    {},
		"one VRF":  {[2]string{" vrf blue\n", " vrf red\n"}, 2},
		"unnamed":  {[2]string{" ip pool blue\n ipv6 prefix pool blue\n", ""}, 2},
		"one more": {[2]string{" ip pool blue\n", " ip pool red\n"}, 1}, // blue's is now anybody's
	} {
		text := overlapping
		if c.change[0] != "" {
			text = strings.Replace(text, c.change[0], c.change[1], 1)
		}
		tree, faults := parseConfig(t, text)
		if len(faults) > 0 {
			t.Fatalf("%s: %v", name, faults)
		}
		if got := append(checkRanges(tree), checkUnits(tree)...); len(got) != c.faults {
			t.Errorf("%s: %v, want %d faults", name, got, c.faults)
		}
	}
}
