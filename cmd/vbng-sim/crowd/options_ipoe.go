package crowd

import (
	"flag"
	"fmt"
	"strconv"
	"strings"

	"vbng/cmd/vbng-sim/life"
)

// Words of --client-id.
const (
	clientIDMAC  = "mac"
	clientIDNone = "none"
)

const (
	longestOption = 255 // bytes
	// longestRelay is what both suboptions of option 82 have together.
	longestRelay = longestOption - 4
)

func (o *options) registerIPoE(f *flag.FlagSet) {
	const pattern = "; %d stands for the subscriber's number, %v for its VLANs, %m for its MAC address"
	f.BoolVar(&o.noIPv4, "no-ipv4", false, "no DHCPv4, IPv6 only")
	f.BoolVar(&o.broadcast, "broadcast", false, "set the broadcast flag in DHCPv4")
	f.StringVar(&o.hostname, "hostname", "sim%d", "host name to tell (option 12), a `TEXT`"+pattern)
	f.StringVar(&o.vendorClass, "vendor-class", "", "vendor class to tell (option 60), a `TEXT`")
	f.StringVar(&o.clientID, "client-id", clientIDMAC, "client identifier (option 61): mac, none, or a `TEXT` as above")
	f.StringVar(&o.circuit, "circuit-id", "", "circuit id as an access node puts it in (option 82.1), a `TEXT` as above")
	f.StringVar(&o.remote, "remote-id", "", "remote id (option 82.2), a `TEXT` as above")
}

// fill puts a subscriber's own values into a pattern.
func (o *options) fill(pattern string, id *life.Identity) string {
	return strings.NewReplacer(
		"%d", strconv.Itoa(o.first+int(id.Number)), "%v", id.Tags.String(), "%m", id.MAC.String(),
	).Replace(pattern)
}

// identifyIPoE fills in what a subscriber says of itself in DHCPv4.
func (o *options) identifyIPoE(id *life.Identity) {
	id.User = id.MAC.String() // it has no name of its own; reports show this one
	id.Hostname, id.VendorClass = o.fill(o.hostname, id), o.vendorClass
	id.Circuit, id.Remote = []byte(o.fill(o.circuit, id)), []byte(o.fill(o.remote, id))
	switch o.clientID {
	case clientIDMAC: // RFC 2132 section 9.14: a hardware type and address
		id.ClientID = append([]byte{1}, id.MAC[:]...)
	case clientIDNone:
	default: // type 0: not a hardware address
		id.ClientID = append([]byte{0}, o.fill(o.clientID, id)...)
	}
}

// checkIPoE tries the patterns on the last subscriber, whose number is the longest.
func (o *options) checkIPoE() error {
	id := life.Identity{Number: uint32(o.count - 1), Tags: o.vlans.tags(o.count - 1)}
	o.identifyIPoE(&id)
	const slack = 8 // VLANs may have more digits than the last one's
	if len(id.Hostname)+slack > longestOption || len(id.VendorClass) > longestOption || len(id.ClientID)+slack > longestOption {
		return fmt.Errorf("--hostname, --vendor-class and --client-id: too long for an option of %d bytes", longestOption)
	}
	if len(id.Circuit)+len(id.Remote)+2*slack > longestRelay {
		return fmt.Errorf("--circuit-id and --remote-id: too long for an option of %d bytes", longestOption)
	}
	return nil
}
