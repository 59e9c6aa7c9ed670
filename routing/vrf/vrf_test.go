package vrf

import (
	"net/netip"
	"strings"
	"sync"
	"testing"

	"vbng/control/config"
	"vbng/control/schema"
	"vbng/forwarding/entry"
)

type numbers struct {
	mu sync.Mutex
	of map[string]uint32
}

func (n *numbers) Index(name string) uint32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.of[name] == 0 {
		n.of[name] = uint32(len(n.of)) + FirstID
	}
	return n.of[name]
}

func TestTable(t *testing.T) {
	x := NewTable(&numbers{of: map[string]uint32{}})
	for _, c := range []struct {
		name string
		id   entry.VRFID
	}{{"", 0}, {"default", 0}, {"red", 1}, {"blue", 2}, {"red", 1}} {
		if got := x.ID(c.name); got != c.id {
			t.Errorf("ID(%q) = %d, want %d", c.name, got, c.id)
		}
	}
	for id, want := range []string{"default", "red", "blue", "3"} {
		if got := x.Name(entry.VRFID(id)); got != want {
			t.Errorf("Name(%d) = %q, want %q", id, got, want)
		}
	}
	if got := Device(7); got != "vbng7" {
		t.Errorf("Device(7) = %q", got)
	}
}

// TestSocketsMakeNoVRF asks for a socket in a VRF whose name is mistyped: numbers are kept for ever.
func TestSocketsMakeNoVRF(t *testing.T) {
	n := &numbers{of: map[string]uint32{}}
	x := NewTable(n)
	x.ID("red")
	_, err := NewSockets(x, nil).ListenUDP("rde", netip.AddrPort{})
	if err == nil || !strings.Contains(err.Error(), `there is no VRF "rde"`) {
		t.Errorf("error %v", err)
	}
	if len(n.of) != 1 || len(x.Names()) != 1 {
		t.Errorf("numbers %v, names %v", n.of, x.Names())
	}
}

func TestReservedNames(t *testing.T) {
	root, err := schema.Merge(Schema())
	if err != nil {
		t.Fatal(err)
	}
	tree, faults := config.Parse(root, "vrf red\n description a table\n!\nvrf management\n!\nvrf default\n!\n")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	found := New(NewTable(nil)).Check(nil, tree)
	if len(found) != 2 || !strings.Contains(found[0].Error(), "management") && !strings.Contains(found[0].Error(), "default") {
		t.Errorf("faults %v, want the two reserved names", found)
	}
}
