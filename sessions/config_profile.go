package sessions

import "vbng/control/schema"

func profileNode() *schema.Node {
	return &schema.Node{
		Name: "pppoe profile", Kind: schema.List, Mode: "config-pppoe", Help: "PPPoE profile",
		Keys: []*schema.Node{nameKey("profile name")},
		Children: append([]*schema.Node{
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
		}, commonNodes()...),
	}
}

func ipoeNode() *schema.Node {
	return &schema.Node{
		Name: "ipoe profile", Kind: schema.List, Mode: "config-ipoe", Help: "IPoE profile",
		Keys: []*schema.Node{nameKey("profile name")},
		Children: append([]*schema.Node{
			leaf("username", "user name that authorization is asked about: text with {mac} {port} {outer-vlan} {inner-vlan} {circuit-id} {remote-id} {hostname}",
				templateType{}, "{mac}"),
			leaf("password", "password sent with it", schema.Secret(), ""),
			leaf("domain", "domain name told to clients", schema.String(maxDomainBytes, `[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?`, "DOMAIN"), ""),
			leaf("lease-time", "lease of an IPv4 address", schema.Uint(minLeaseSeconds, maxLeaseSeconds, "seconds"), "3600"),
			leaf("mtu", "largest IP packet we send", schema.Uint(minMRU, maxIPoEMTU, "bytes"), "1500"),
			{
				Name: "dhcp relay server", Kind: schema.List, Ordered: true, Effect: newSessionsOnly,
				Help: "DHCP server that clients' messages are relayed to, in place of serving them here; each gets them all",
				Keys: []*schema.Node{{Name: "address", Kind: schema.Leaf, Help: "address of the server", Type: schema.Addr4()}},
			},
			leaf("dhcp relay circuit-id", "Agent Circuit ID of relayed messages, where the line has none", templateType{},
				"{port}:{outer-vlan}.{inner-vlan}"),
			leaf("dhcp relay remote-id", "Agent Remote ID of relayed messages, where the line has none", templateType{}, "{mac}"),
			leaf("sessions per-port limit", "sessions of a port (default: no limit)", schema.Uint(1, maxSessions, "sessions"), ""),
			leaf("sessions per-vlan limit", "sessions of a VLAN, or pair of VLANs (default: no limit)",
				schema.Uint(1, maxSessions, "sessions"), ""),
			leaf("sessions per-mac limit", "IPoE sessions of a MAC address on all VLANs together (default: no limit)",
				schema.Uint(1, maxPerPlace, "sessions"), ""),
		}, commonNodes()...),
	}
}

const (
	maxDomainBytes  = 253
	minLeaseSeconds = 60
	maxLeaseSeconds = 7 * 86400
	maxIPoEMTU      = 9000
	maxMSS          = 8960
	minMSS          = 536

	// RFC 4861 6.2.1 bounds what a router advertises about itself.
	maxRouterLifetimeSeconds = 9000
	minAdvertSeconds         = 4
	maxAdvertSeconds         = 1800
)

// commonNodes are the leaves that both kinds of profile have.
func commonNodes() []*schema.Node {
	return []*schema.Node{
		{
			Name: "ip unnumbered", Kind: schema.Leaf, Type: schema.Name(), Ref: "interface", Required: true,
			Help: "interface whose address is the subscribers' gateway, and whose VRF is theirs", Effect: newSessionsOnly,
		},
		{
			Name: "ip pool", Kind: schema.Leaf, Type: schema.Name(), Ref: "ip pool",
			Help: "pool of addresses, unless authorization names an address or another pool", Effect: newSessionsOnly,
		},
		leaf("dns", "name servers told to clients", schema.Words(schema.Addr4(), 1, 2), ""),
		{
			Name: "aaa group", Kind: schema.Leaf, Type: schema.Name(), Ref: "aaa group",
			Help: "group of methods and servers that decide about and account for the subscribers", Effect: newSessionsOnly,
		},
		leaf("tcp mss", "largest MSS option let through, for IPv6 20 less; 0 lets any through (default: MTU less 40)",
			mssType{schema.Uint(0, maxMSS, "bytes")}, ""),
		pool6Leaf("ipv6 prefix pool", "pool of /64 prefixes for router advertisements"),
		pool6Leaf("ipv6 address pool", "pool of addresses for DHCPv6 (IA_NA)"),
		pool6Leaf("ipv6 delegated pool", "pool of prefixes for DHCPv6 prefix delegation (IA_PD)"),
		leaf("ipv6 dns", "IPv6 name servers told to clients", schema.Words(addr6Type{}, 1, 2), ""),
		leaf("ipv6 preferred-lifetime", "preferred lifetime of IPv6 prefixes and addresses",
			schema.Uint(minLeaseSeconds, maxLeaseSeconds, "seconds"), "3600"),
		leaf("ipv6 valid-lifetime", "valid lifetime of IPv6 prefixes and addresses, and lease of those by DHCPv6",
			schema.Uint(minLeaseSeconds, maxLeaseSeconds, "seconds"), "7200"),
		leaf("ipv6 ra interval", "most time between two router advertisements",
			schema.Uint(minAdvertSeconds, maxAdvertSeconds, "seconds"), "600"),
		leaf("ipv6 ra lifetime", "how long a router advertisement makes us the client's default router",
			schema.Uint(0, maxRouterLifetimeSeconds, "seconds"), "1800"),
	}
}

func pool6Leaf(name, help string) *schema.Node {
	return &schema.Node{
		Name: name, Kind: schema.Leaf, Type: schema.Name(), Ref: "ipv6 pool",
		Help: help + ", unless authorization names another one", Effect: newSessionsOnly,
	}
}
