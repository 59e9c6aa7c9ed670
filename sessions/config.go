package sessions

import "vbng/control/schema"

const (
	newSessionsOnly = "for new sessions only"

	minMRU = 576
	// maxMRU is what a jumbo frame of 9000 bytes leaves beside the headers of PPPoE and PPP; beyond 1492, the
	// client must have asked for it by PPP-Max-Payload (RFC 4638).
	maxMRU = 8992

	maxSessions       = 1 << 20
	maxPerPlace       = 65534 // PPPoE session ids
	maxEchoSeconds    = 3600
	maxServiceBytes   = 64
	maxRestartSeconds = 60
)

// Schema implements commit.Subsystem.
func (m *Manager) Schema() []*schema.Node {
	return []*schema.Node{interfaceNode(), poolNode(), pool6Node(), profileNode(), ipoeNode(), limitNode()}
}

func interfaceNode() *schema.Node {
	return &schema.Node{
		Name: "interface", Kind: schema.List, Mode: "config-if", Help: "interface",
		Keys: []*schema.Node{nameKey("interface name")},
		Children: []*schema.Node{
			{
				Name: "pppoe profile", Kind: schema.Leaf, Type: schema.Name(), Ref: "pppoe profile",
				Help:   "terminate PPPoE here, on any VLAN, by this profile",
				Effect: placeEffect,
			},
			{
				Name: "ipoe profile", Kind: schema.Leaf, Type: schema.Name(), Ref: "ipoe profile",
				Help:   "serve IPoE here, on any tags that are no interface's, by this profile",
				Effect: placeEffect,
			},
			{
				Name: "subscriber vlans", Kind: schema.List, Effect: placeEffect,
				Help: "profiles of some VLANs, in place of the port's: untagged, 100, 100-199, 100-199.any or 100-199.1-4094",
				Keys: []*schema.Node{{Name: "range", Kind: schema.Leaf, Type: vlanRangeType{}, Help: "VLANs, outer and inner"}},
				Children: []*schema.Node{
					{Name: "pppoe", Kind: schema.Leaf, Type: schema.Name(), Ref: "pppoe profile", Help: "terminate PPPoE by this profile"},
					{Name: "ipoe", Kind: schema.Leaf, Type: schema.Name(), Ref: "ipoe profile", Help: "serve IPoE by this profile"},
				},
			},
		},
	}
}

// placeEffect is what a change of profiles on a port does.
const placeEffect = "removal ends the sessions that have no place any more; another profile holds " + newSessionsOnly

func poolNode() *schema.Node {
	return &schema.Node{
		Name: "ip pool", Kind: schema.List, Mode: "config-pool", Help: "pool of subscribers' addresses",
		Keys: []*schema.Node{nameKey("pool name")},
		Children: []*schema.Node{{
			Name: "range", Kind: schema.List, Ordered: true,
			Help: "addresses, used in the order of the lines; the router's own are left out",
			Keys: []*schema.Node{
				{Name: "first", Kind: schema.Leaf, Help: "first address", Type: schema.Addr4()},
				{Name: "last", Kind: schema.Leaf, Help: "last address", Type: schema.Addr4()},
			},
			Effect: newSessionsOnly,
		}, thresholdLeaf()},
	}
}

// thresholdLeaf is the part of a pool in use at which a warning is logged.
func thresholdLeaf() *schema.Node {
	return &schema.Node{
		Name: "threshold", Kind: schema.Leaf, Type: schema.Uint(1, 100, "percent"), Default: "90",
		Help: "use of the pool at which a warning is logged",
	}
}

func pool6Node() *schema.Node {
	return &schema.Node{
		Name: "ipv6 pool", Kind: schema.List, Mode: "config-pool6", Help: "pool of subscribers' IPv6 prefixes or addresses",
		Keys: []*schema.Node{nameKey("pool name")},
		Children: []*schema.Node{{
			Name: "prefix", Kind: schema.List, Ordered: true,
			Help: "prefix that is handed out in pieces, in the order of the lines",
			Keys: []*schema.Node{{Name: "prefix", Kind: schema.Leaf, Help: "prefix to divide", Type: prefix6Type{}}},
			Children: []*schema.Node{{
				Name: "length", Kind: schema.Leaf, Type: schema.Uint(1, 128, "bits"), Required: true,
				Help: "prefix length of each piece; 128 hands out addresses",
			}},
			Effect: newSessionsOnly,
		}, thresholdLeaf()},
	}
}

func limitNode() *schema.Node {
	return &schema.Node{
		Name: "subscriber limit", Kind: schema.Leaf, Type: schema.Uint(1, maxSessions, "sessions"), Default: "65536",
		Help: "sessions on this router; at the limit no PADO is sent and no DHCP client served", Effect: newSessionsOnly,
	}
}

// leaf declares a leaf that new sessions heed.
func leaf(name, help string, of schema.Type, fallback string) *schema.Node {
	return &schema.Node{Name: name, Kind: schema.Leaf, Help: help, Type: of, Default: fallback, Effect: newSessionsOnly}
}

func nameKey(help string) *schema.Node {
	return &schema.Node{Name: "name", Kind: schema.Leaf, Help: help, Type: schema.Name()}
}
