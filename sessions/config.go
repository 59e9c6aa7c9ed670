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
	return []*schema.Node{interfaceNode(), poolNode(), profileNode(), limitNode()}
}

func interfaceNode() *schema.Node {
	return &schema.Node{
		Name: "interface", Kind: schema.List, Mode: "config-if", Help: "interface",
		Keys: []*schema.Node{nameKey("interface name")},
		Children: []*schema.Node{{
			Name: "pppoe profile", Kind: schema.Leaf, Type: schema.Name(), Ref: "pppoe profile",
			Help:   "terminate PPPoE here, on any VLAN, by this profile",
			Effect: "removal ends the port's sessions; another profile holds " + newSessionsOnly,
		}},
	}
}

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
		}},
	}
}

func limitNode() *schema.Node {
	return &schema.Node{
		Name: "subscriber limit", Kind: schema.Leaf, Type: schema.Uint(1, maxSessions, "sessions"), Default: "65536",
		Help: "sessions on this router; at the limit no PADO is sent", Effect: newSessionsOnly,
	}
}

func profileNode() *schema.Node {
	return &schema.Node{
		Name: "pppoe profile", Kind: schema.List, Mode: "config-pppoe", Help: "PPPoE profile",
		Keys: []*schema.Node{nameKey("profile name")},
		Children: []*schema.Node{
			leaf("ac-name", "name of this access concentrator in PADO (default: the host name)", schema.Name(), ""),
			{
				Name: "service-name", Kind: schema.List, Ordered: true,
				Help: "service offered; without any, every name is served",
				Keys: []*schema.Node{{
					Name: "name", Kind: schema.Leaf, Help: "service name", Type: schema.String(maxServiceBytes, "", "SERVICE"),
				}},
			},
			leaf("authentication", "how clients prove who they are, most wanted first",
				schema.Words(schema.Enum("chap", "pap"), 1, 2), "chap pap"),
			{
				Name: "ip unnumbered", Kind: schema.Leaf, Type: schema.Name(), Ref: "interface", Required: true,
				Help: "interface whose address is the subscribers' gateway", Effect: newSessionsOnly,
			},
			{
				Name: "ip pool", Kind: schema.Leaf, Type: schema.Name(), Ref: "ip pool",
				Help: "pool of addresses, unless authorization names an address or another pool", Effect: newSessionsOnly,
			},
			leaf("dns", "name servers told to clients", schema.Words(schema.Addr4(), 1, 2), ""),
			leaf("mru", "largest PPP packet we receive; beyond 1492 for clients that ask for it by PPP-Max-Payload (RFC 4638)", schema.Uint(minMRU, maxMRU, "bytes"), "1492"),
			leaf("mtu", "largest IP packet we send, as far as the client receives it", schema.Uint(minMRU, maxMRU, "bytes"), "1492"),
			leaf("echo-interval", "between LCP echoes; 0 sends none", schema.Uint(0, maxEchoSeconds, "seconds"), "30"),
			leaf("echo-misses", "echoes without answer that end a session", schema.Uint(1, 255, ""), "3"),
			leaf("ppp timeout", "PPP restart timer", schema.Uint(1, maxRestartSeconds, "seconds"), "3"),
			leaf("ppp max-configure", "unanswered Configure-Requests that end a session", schema.Uint(1, 255, ""), "10"),
			leaf("ppp auth-timeout", "between two challenges", schema.Uint(1, maxRestartSeconds, "seconds"), "3"),
			leaf("sessions per-port limit", "sessions of a port (default: no limit)", schema.Uint(1, maxSessions, "sessions"), ""),
			leaf("sessions per-vlan limit", "sessions of a VLAN, or pair of VLANs (default: no limit)",
				schema.Uint(1, maxPerPlace, "sessions"), ""),
			leaf("sessions per-mac limit", "sessions of a MAC address on one VLAN; with 1, a new session replaces the old",
				schema.Uint(1, maxPerPlace, "sessions"), "1"),
		},
	}
}

// leaf declares a leaf that new sessions heed.
func leaf(name, help string, of schema.Type, fallback string) *schema.Node {
	return &schema.Node{Name: name, Kind: schema.Leaf, Help: help, Type: of, Default: fallback, Effect: newSessionsOnly}
}

func nameKey(help string) *schema.Node {
	return &schema.Node{Name: "name", Kind: schema.Leaf, Help: help, Type: schema.Name()}
}
