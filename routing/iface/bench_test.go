package iface

import (
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"vbng/control/clock"
	"vbng/control/config"
	"vbng/control/schema"
	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
	"vbng/routing/rib"
	"vbng/routing/vrf"
)

// forwarder records batches and frames, and refuses what would leave a reference to nothing.
type forwarder struct {
	t       *testing.T
	entries map[entry.Key]entry.Entry
	batches []string
	frames  []string
	refuse  string // a kind of entry that is refused
	loose   bool   // refusals are expected
	raw     [][]byte
}

func (f *forwarder) Inject(port entry.PortID, frame []byte) bool {
	tags, _ := wire.ReadTags(frame)
	f.raw = append(f.raw, frame)
	if tags.Type == wire.TypeIPv6 {
		f.frames = append(f.frames, printND(port, frame, tags.Offset))
		return true
	}
	e, a := wire.Ethernet(frame), wire.ARP(frame[tags.Offset:])
	vlan := ""
	if tags.OuterTPID != 0 {
		vlan = fmt.Sprintf(" vlan %#04x:%d.%d", tags.OuterTPID, tags.OuterVLAN, tags.InnerVLAN)
	}
	f.frames = append(f.frames, fmt.Sprintf("port %d%s %v > %v: %v asks for %v", port, vlan, entry.MAC(e.Source()), entry.MAC(e.Destination()),
		netip.AddrFrom4(a.SenderIP()), netip.AddrFrom4(a.TargetIP())))
	return true
}

func (f *forwarder) Apply(b *entry.Batch, done func(entry.Result)) {
	before := make(map[entry.Key]entry.Entry, len(f.entries))
	for k, e := range f.entries {
		before[k] = e
	}
	for n, op := range b.Ops {
		if reason := f.apply(op); reason != "" {
			f.entries = before
			if !f.loose {
				f.t.Errorf("refused %v: %s", op, reason)
			}
			done(entry.Result{Err: &entry.Refused{Op: n, Reason: reason}})
			return
		}
	}
	f.batches = append(f.batches, b.String())
	done(entry.Result{})
}

func (f *forwarder) apply(op entry.Op) string {
	key := entry.KeyOf(op.Entry)
	if key.Kind.String() == f.refuse {
		return f.refuse + " refused"
	}
	if op.Verb == entry.Delete {
		if f.entries[key] == nil {
			return "not there"
		}
		delete(f.entries, key)
		for _, e := range f.entries {
			if ref := f.dangling(e); ref != "" {
				return fmt.Sprintf("%v needs it (%s)", e, ref)
			}
		}
		return ""
	}
	f.entries[key] = op.Entry
	return f.dangling(op.Entry)
}

// dangling names the first missing referent of an entry.
func (f *forwarder) dangling(e entry.Entry) string {
	missing := func(referent entry.Entry) string {
		if f.entries[entry.KeyOf(referent)] != nil {
			return ""
		}
		return "no " + entry.KeyOf(referent).Kind.String()
	}
	switch e := e.(type) {
	case entry.VRF:
		if e.TUN != 0 {
			return missing(entry.Port{ID: e.TUN})
		}
	case entry.Interface:
		return missing(entry.Port{ID: e.Port}) + missing(entry.VRF{ID: e.VRF})
	case entry.Local:
		return missing(entry.Interface{ID: e.Interface})
	case entry.Neighbor:
		return missing(entry.Interface{ID: e.Interface})
	case entry.Route:
		switch e.Target.Kind {
		case entry.TargetConnected:
			return missing(entry.Interface{ID: e.Target.Interface})
		case entry.TargetNeighbor:
			return missing(entry.Neighbor{Interface: e.Target.Interface, Addr: e.Target.Addr})
		}
	case entry.Session:
		return missing(entry.Port{ID: e.Port})
	}
	return ""
}

// indexes numbers names in the order of their first use, from 1.
type indexes map[string]uint32

func (x indexes) Index(name string) uint32 {
	if x[name] == 0 {
		x[name] = uint32(len(x) + 1)
	}
	return x[name]
}

// hostRecorder is a HostStack that remembers.
type hostRecorder struct {
	states []HostState
}

func (h *hostRecorder) Configure(s HostState) error { h.states = append(h.states, s); return nil }

// bench is the interfaces on a real RIB and a fake forwarder. The numbers of names: vbng0 1 if a TUN
// is used, then those given to newBench.
type bench struct {
	*Interfaces
	rib       *rib.RIB
	forwarder *forwarder
	clock     *clock.Fake
	root      *schema.Node
	config    *config.Tree
	kernel    *hostRecorder
}

func newBench(t *testing.T, tun string, names ...string) *bench {
	t.Helper()
	x := indexes{}
	if tun != "" {
		x.Index(tun)
	}
	for _, n := range names {
		x.Index(n)
	}
	f := &forwarder{t: t, entries: map[entry.Key]entry.Entry{}}
	b := &bench{forwarder: f, clock: clock.NewFake(time.Unix(1000, 0)), kernel: &hostRecorder{}}
	log := slog.New(slog.DiscardHandler)
	b.rib = rib.New(rib.Options{Clock: b.clock, Programmer: f, Log: log})
	b.Interfaces = New(Options{Clock: b.clock, Programmer: f, Indexes: x, Routes: b.rib, Host: b.kernel, Log: log, TUNs: tun != "", VRFs: vrf.NewTable(indexes{}),
		Limits: Limits{PerInterface: 20, UnresolvedPerLink: 8}})
	b.rib.Bind(b.Interfaces)
	root, err := schema.Merge(vrf.Schema(), Schema(), []*schema.Node{
		{Name: "interface", Kind: schema.List, Keys: Schema()[0].Keys, Children: []*schema.Node{
			{Name: "pppoe profile", Kind: schema.Leaf, Help: "profile", Type: schema.Name()}}},
		{Name: "ip route", Kind: schema.List, Help: "route", Keys: []*schema.Node{
			{Name: "prefix", Kind: schema.Leaf, Help: "prefix", Type: schema.Prefix4()},
			{Name: "next-hop", Kind: schema.Leaf, Help: "next hop", Type: schema.Addr4()}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if faults := schema.Validate(root); len(faults) > 0 {
		t.Fatal(faults)
	}
	b.root = root
	return b
}

func (b *bench) parse(t *testing.T, text string) *config.Tree {
	t.Helper()
	tree, faults := config.Parse(b.root, text)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return tree
}

// configure applies a configuration that must be good.
func (b *bench) configure(t *testing.T, text string) {
	t.Helper()
	tree := b.parse(t, text)
	if faults := b.Check(b.config, tree); len(faults) > 0 {
		t.Fatal(faults)
	}
	b.Apply(b.config, tree)
	b.config = tree
	b.settle()
}

// settle empties the inboxes until nothing is left in any.
func (b *bench) settle() {
	for range 50 {
		b.loop.Drain(b.handle)
		b.rib.Drain()
		b.host.loop.Drain(b.host.configure)
	}
}

func (b *bench) up(port entry.PortID, mac byte) {
	b.PortState(entry.PortState{Port: port, Up: true, MAC: entry.MAC{2, 0, 0, 0, 0, mac}, MTU: 1500})
	b.settle()
}

func (b *bench) advance(d time.Duration) {
	for ; d > 0; d -= 500 * time.Millisecond {
		b.clock.Advance(min(d, 500*time.Millisecond))
		b.settle()
	}
}

// programmed returns the batches since the last call.
func (b *bench) programmed() string {
	s := strings.Join(b.forwarder.batches, "--\n")
	b.forwarder.batches = nil
	return s
}

// sent returns the frames since the last call.
func (b *bench) sent() string {
	s := strings.Join(b.forwarder.frames, "\n")
	b.forwarder.frames = nil
	return s
}

func (b *bench) expect(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n%s\nwant\n%s", what, got, want)
	}
}

// hears delivers an ARP packet.
func (b *bench) hears(id entry.InterfaceID, operation uint16, mac byte, sender, target string) {
	data := make([]byte, wire.EthernetLength+wire.ARPLength)
	wire.PutARP(data[wire.EthernetLength:], operation, [6]byte{6, 0, 0, 0, 0, mac}, netip.MustParseAddr(sender).As4(), [6]byte{}, netip.MustParseAddr(target).As4())
	b.Punt(entry.Punt{Class: entry.ClassARP, Interface: id, Payload: wire.EthernetLength, Data: data})
	b.settle()
}

// gleans delivers a packet that waits for a neighbour.
func (b *bench) gleans(id entry.InterfaceID, destination string) {
	data := make([]byte, wire.EthernetLength+wire.IPv4Length)
	wire.PutIPv4(data[wire.EthernetLength:], [4]byte{192, 0, 2, 1}, netip.MustParseAddr(destination).As4(), 1, 64, 0, 0)
	b.Punt(entry.Punt{Class: entry.ClassGlean, Interface: id, Payload: wire.EthernetLength, Data: data})
	b.settle()
}

func entryID(n uint32) entry.InterfaceID { return entry.InterfaceID(n) }

// entriesText prints what the forwarder holds.
func (f *forwarder) entriesText() string {
	var all []string
	for _, e := range f.entries {
		all = append(all, fmt.Sprint(e))
	}
	return strings.Join(all, "\n")
}

// lines sorts the lines of a text.
func lines(text string) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// printND prints a frame of neighbour discovery.
func printND(port entry.PortID, frame []byte, at int) string {
	e, ip := wire.Ethernet(frame), wire.IPv6(frame[at:])
	m, ok := decodeND(ip)
	if !ok {
		return fmt.Sprintf("port %d: malformed %x", port, frame)
	}
	verb := "asks for"
	if m.advert {
		verb = fmt.Sprintf("says %#02x of", m.flags)
	}
	text := fmt.Sprintf("port %d %v > %v: %v > %v %s %v", port, entry.MAC(e.Source()), entry.MAC(e.Destination()), m.source,
		netip.AddrFrom16(ip.Destination()), verb, m.target)
	if m.mac != (entry.MAC{}) {
		text += " mac " + m.mac.String()
	}
	return text
}

// nd is a message of a neighbour for delivery by hearsND.
type nd struct {
	advert                      bool
	flags                       uint8
	source, destination, target string
	mac                         byte // of the option; 0: none
	hopLimit                    uint8
}

func (m nd) packet() []byte {
	body := make([]byte, wire.NeighborLength, wire.NeighborLength+wire.NDLinkLayerLength)
	option := uint8(wire.NDSourceLinkLayer)
	if m.advert {
		option = wire.NDTargetLinkLayer
		wire.PutNeighborAdvertisement(body, m.flags, addr(m.target).As16())
	} else {
		wire.PutNeighborSolicitation(body, addr(m.target).As16())
	}
	if m.mac != 0 {
		body = body[:cap(body)]
		wire.PutLinkLayer(body[wire.NeighborLength:], option, [6]byte{6, 0, 0, 0, 0, m.mac})
	}
	source, destination := addr(m.source).As16(), addr(m.destination).As16()
	wire.ICMPv6(body).PutChecksum(source, destination)
	b := make([]byte, wire.IPv6Length)
	if m.hopLimit == 0 {
		m.hopLimit = wire.NDHopLimit
	}
	wire.PutIPv6(b, source, destination, wire.NextICMPv6, m.hopLimit, len(body))
	return append(b, body...)
}

func (b *bench) hearsND(id entry.InterfaceID, m nd) {
	mac := m.mac
	if mac == 0 {
		mac = 99
	}
	data := make([]byte, wire.EthernetLength)
	wire.PutEthernet(data, [6]byte{}, [6]byte{6, 0, 0, 0, 0, mac}, wire.TypeIPv6)
	b.Punt(entry.Punt{Class: entry.ClassND, Interface: id, Payload: wire.EthernetLength, Data: append(data, m.packet()...)})
	b.settle()
}
