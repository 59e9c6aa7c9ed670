package iface

import (
	"net/netip"
	"strconv"
	"strings"
	"time"

	"vbng/control/config"
	"vbng/control/schema"
	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
	"vbng/routing/vrf"
)

const (
	// maxNameBytes is what the kernel accepts as a device name, which is the default device.
	maxNameBytes = 15
	// minMTU is the least that every IPv4 link must carry (RFC 791 3.2), minMTU6 the same for IPv6 (RFC 8200
	// 5); maxMTU is what a chain of buffers holds behind an Ethernet header and two tags. A driver may
	// carry less, which the state of the port tells.
	minMTU  = 68
	minMTU6 = 1280
	maxMTU  = 9000
	// defaultMTU is used while the device has not told its own.
	defaultMTU = 1500
)

// drivers are the words for a port's driver.
var drivers = map[string]entry.Driver{
	"af-packet": entry.DriverAFPacket, "tap": entry.DriverTAP, "pcap": entry.DriverPCAP, "memory": entry.DriverMemory,
	"af-xdp": entry.DriverAFXDP,
}

// minMSS is what every host must accept (RFC 9293 3.7.1).
const minMSS = 536

// xdpModes and verifies are the words of those choices; no word is no check.
var (
	xdpModes = map[string]entry.XDPMode{"any": entry.XDPAny, "native": entry.XDPNative, "generic": entry.XDPGeneric}
	verifies = map[string]entry.Verify{"rx": entry.VerifyStrict, "any": entry.VerifyLoose}
)

// outerTPIDs are the words for the outer tag's protocol identifier.
var outerTPIDs = map[string]uint16{
	"0x8100": wire.TypeVLAN, "0x88a8": wire.TypeProvider, "0x9100": wire.TypeLegacyProvider,
}

// Schema implements commit.Subsystem.
func (i *Interfaces) Schema() []*schema.Node { return Schema() }

// Schema returns the configuration of interfaces.
func Schema() []*schema.Node {
	return []*schema.Node{{
		Name: "interface", Kind: schema.List, Mode: "config-if",
		Help: "an interface: a port (core0), a VLAN on it (core0.100), or a loopback (loopback0)",
		Keys: []*schema.Node{{Name: "name", Kind: schema.Leaf, Help: "name, at most 15 bytes",
			Type: schema.String(maxNameBytes, `[A-Za-z][A-Za-z0-9_-]*(\.[0-9]+)?`, "NAME")}},
		Children: []*schema.Node{
			{Name: "description", Kind: schema.Leaf, Help: "what the interface is for", Type: schema.Text()},
			{Name: "vrf", Kind: schema.Leaf, Help: "the VRF of its addresses and routes; the default one if not given", Type: vrf.NameType(), Ref: "vrf",
				Effect: "the interface goes down and comes up in the other VRF"},
			{Name: "driver", Kind: schema.Leaf, Help: "how frames are moved; memory and pcap are for tests", Default: "af-packet",
				Type: schema.Enum("af-packet", "af-xdp", "tap", "pcap", "memory"), Effect: "the port is opened anew"},
			{Name: "device", Kind: schema.Leaf, Help: "kernel device, or file of driver pcap; the interface's name if not given",
				Type: schema.String(entry.MaxDeviceBytes, `[!-~]+`, "DEVICE"), Effect: "the port is opened anew"},
			{Name: "xdp-mode", Kind: schema.Leaf, Help: "how driver af-xdp takes frames: in the device's driver (native) or behind it (generic); any tries both",
				Default: "any", Type: schema.Enum("any", "native", "generic"), Effect: "the port is opened anew"},
			{Name: "mtu", Kind: schema.Leaf, Help: "largest IP packet; the device's if not given", Type: schema.Uint(minMTU, maxMTU, "bytes")},
			{Name: "mac-address", Kind: schema.Leaf, Help: "our Ethernet address; the device's if not given", Type: schema.MAC(),
				Effect: "the port is opened anew"},
			{Name: "encapsulation dot1q", Kind: schema.List, Help: "the VLAN of a sub-interface",
				Keys: []*schema.Node{{Name: "vlan", Kind: schema.Leaf, Help: "VLAN, the outer one of two", Type: schema.VLAN()}},
				Children: []*schema.Node{
					{Name: "second-dot1q", Kind: schema.Leaf, Help: "inner VLAN", Type: schema.VLAN()},
					{Name: "outer-tpid", Kind: schema.Leaf, Help: "type of the outer tag", Type: schema.Enum("0x8100", "0x88a8", "0x9100"), Default: "0x8100"},
				}},
			{Name: "ip address", Kind: schema.Leaf, Help: "address and prefix length", Type: schema.InterfacePrefix4()},
			{Name: "ip address secondary", Kind: schema.List, Help: "a further address",
				Keys: []*schema.Node{{Name: "prefix", Kind: schema.Leaf, Help: "address and prefix length", Type: schema.InterfacePrefix4()}}},
			{Name: "ip arp", Kind: schema.List, Help: "a neighbour that is not asked for its MAC address",
				Keys:     []*schema.Node{{Name: "address", Kind: schema.Leaf, Help: "the neighbour", Type: schema.Addr4()}},
				Children: []*schema.Node{{Name: "mac", Kind: schema.Leaf, Help: "its MAC address", Type: schema.MAC(), Required: true}}},
			{Name: "ip verify unicast source reachable-via", Kind: schema.Leaf, Type: schema.Enum("rx", "any"),
				Help: "drop packets whose source is not routed out of this interface (rx), or not at all (any)"},
			{Name: "ip tcp adjust-mss", Kind: schema.Leaf, Type: schema.Uint(minMSS, maxMTU-40, "bytes"),
				Help: "largest segment that TCP connections through here may agree on; IPv6 20 bytes less"},
			{Name: "ipv6 enable", Kind: schema.Flag, Help: "IPv6 with a link-local address alone"},
			{Name: "ipv6 address", Kind: schema.List, Help: "address and prefix length, or the link-local address",
				Keys:     []*schema.Node{{Name: "prefix", Kind: schema.Leaf, Help: "X:X::X:X/LEN, or FE80::X with link-local", Type: address6{}}},
				Children: []*schema.Node{{Name: "link-local", Kind: schema.Flag, Help: "the link-local address, in place of the one made of the MAC address"}}},
			{Name: "ipv6 neighbor", Kind: schema.List, Help: "a neighbour that is not asked for its MAC address",
				Keys:     []*schema.Node{{Name: "address", Kind: schema.Leaf, Help: "the neighbour", Type: schema.Addr6()}},
				Children: []*schema.Node{{Name: "mac", Kind: schema.Leaf, Help: "its MAC address", Type: schema.MAC(), Required: true}}},
			{Name: "arp timeout", Kind: schema.Leaf, Help: "age at which a neighbour's MAC address is verified, IPv6 neighbours' as well", Type: schema.Uint(60, 86400, "seconds"), Default: "1200"},
			{Name: "shutdown", Kind: schema.Flag, Help: "take the interface out of service"},
		},
	}}
}

// class is what kind of interface a name means.
type class uint8

const (
	classPort     class = iota // with a port of its own
	classSub                   // tagged, on another one's port
	classLoopback              // without a port
)

func (c class) String() string { return [...]string{"port", "sub-interface", "loopback"}[c] }

// classify returns what an interface's name means, and a sub-interface's parent.
func classify(name string) (c class, parent string) {
	if parent, _, sub := strings.Cut(name, "."); sub {
		return classSub, parent
	}
	if number, ok := strings.CutPrefix(name, "loopback"); ok {
		if _, err := strconv.ParseUint(number, 10, 32); err == nil {
			return classLoopback, ""
		}
	}
	return classPort, name
}

// settings is one interface's configuration.
type settings struct {
	name        string
	class       class
	parent      string // the interface that has the port; its own name for a port
	description string
	vrfName     string
	vrf         entry.VRFID // of that name; not set in a Check
	driver      entry.Driver
	device      string
	mtu         uint16 // 0: the device's
	mac         entry.MAC
	shutdown    bool
	pppoe, ipoe bool
	xdp         entry.XDPMode
	verify      entry.Verify
	mss         uint16
	tags        tags
	addresses   []netip.Prefix // with host bits; IPv4 first, the primary one of each family first
	ipv6        bool           // IPv6 is on
	linkLocal   netip.Addr     // as configured; not valid: made of the MAC address
	fixed       map[netip.Addr]entry.MAC
	arpTimeout  time.Duration
	line        int
}

// tags is an interface's place on its port.
type tags struct {
	outerTPID, outerVLAN, innerVLAN uint16 // outerTPID 0: untagged
}

// read returns the settings of all interfaces in the tree's order.
func read(t *config.Tree) []*settings {
	var all []*settings
	for _, e := range t.List("interface") {
		all = append(all, readOne(e))
	}
	return all
}

func readOne(t *config.Tree) *settings {
	s := &settings{
		name: t.Text("name"), description: t.Text("description"), vrfName: t.Text("vrf"), driver: drivers[t.Text("driver")], device: t.Text("device"),
		mtu: uint16(t.Uint("mtu")), shutdown: t.Flag("shutdown"),
		xdp: xdpModes[t.Text("xdp-mode")], verify: verifies[t.Text("ip verify unicast source reachable-via")], mss: uint16(t.Uint("ip tcp adjust-mss")),
		arpTimeout: t.Seconds("arp timeout"), line: t.Line(),
	}
	s.class, s.parent = classify(s.name)
	if s.device == "" {
		s.device = s.name
	}
	if mac, ok := t.MAC("mac-address"); ok {
		s.mac = mac
	}
	for _, e := range t.List("encapsulation dot1q") {
		s.tags = tags{outerTPIDs[e.Text("outer-tpid")], uint16(e.Uint("vlan")), uint16(e.Uint("second-dot1q"))}
	}
	if p := t.Prefix("ip address"); p.IsValid() {
		s.addresses = append(s.addresses, p)
	}
	for _, e := range t.List("ip address secondary") {
		s.addresses = append(s.addresses, e.Prefix("prefix"))
	}
	readIPv6(t, s)
	s.fixed = readFixed(t)
	readSubscribers(t, s)
	return s
}

// readSubscribers notes which access protocols the port serves: by a profile for the whole port, or by one
// for some of its VLANs. The lines are those of sessions.
func readSubscribers(t *config.Tree, s *settings) {
	s.pppoe, s.ipoe = t.Text("pppoe profile") != "", t.Text("ipoe profile") != ""
	for _, e := range t.List("subscriber vlans") {
		s.pppoe = s.pppoe || e.Text("pppoe") != ""
		s.ipoe = s.ipoe || e.Text("ipoe") != ""
	}
}
