package service

import (
	"strings"
	"time"

	"vbng/aaa/local"
	"vbng/aaa/radius"
	"vbng/control/config"
	"vbng/control/schema"
)

// The authentication methods by their words.
const (
	methodLocal  = "local"
	methodRADIUS = "radius"
	methodNone   = "none"
)

// interimFloor is the shortest interval that RFC 2869 5.16 permits.
const interimFloor = 60 * time.Second

// Name implements commit.Subsystem.
func (s *Service) Name() string { return "aaa" }

// Schema implements commit.Subsystem.
func (s *Service) Schema() []*schema.Node {
	return []*schema.Node{serverSchema(), aaaSchema(), groupSchema(), userSchema()}
}

func serverSchema() *schema.Node {
	return &schema.Node{
		Name: "radius server", Kind: schema.List, Mode: "config-radius", Ordered: true,
		Help: "RADIUS server; servers are asked in the order in which they stand",
		Keys: []*schema.Node{{Name: "name", Kind: schema.Leaf, Type: schema.Name(), Help: "Name of the server"}},
		Children: []*schema.Node{
			{Name: "address", Kind: schema.Leaf, Type: schema.Addr(), Required: true, Help: "Address of the server"},
			{Name: "auth-port", Kind: schema.Leaf, Type: schema.Uint(1, 65535, ""), Default: "1812", Help: "UDP port for authentication"},
			{Name: "acct-port", Kind: schema.Leaf, Type: schema.Uint(1, 65535, ""), Default: "1813", Help: "UDP port for accounting"},
			{Name: "secret", Kind: schema.Leaf, Type: schema.Secret(), Required: true, Help: "Secret shared with the server", Effect: "for new requests"},
			{Name: "source-address", Kind: schema.Leaf, Type: schema.Addr(), Help: "Local address to send from"},
			{Name: "vrf", Kind: schema.Leaf, Type: schema.Name(),
				Help: "VRF in which the server is reached; management for the host's own network (default: the default VRF)"},
			{Name: "timeout", Kind: schema.Leaf, Type: schema.Uint(1, 60, "seconds"), Default: "3", Help: "Wait for the answer to a request before it is repeated; repetitions wait twice as long"},
			{Name: "retransmit", Kind: schema.Leaf, Type: schema.Uint(0, 10, "times"), Default: "2", Help: "Repetitions of a request before the next server is asked"},
			{Name: "dead-time", Kind: schema.Leaf, Type: schema.Uint(1, 86400, "seconds"), Default: "60", Help: "How long a server that does not answer is left alone"},
			{Name: "legacy", Kind: schema.Flag, Help: "Accept answers without Message-Authenticator, which an attacker between us and the server can forge"},
		},
	}
}

func aaaSchema() *schema.Node {
	return &schema.Node{
		Name: "aaa", Kind: schema.Container, Mode: "config-aaa", Help: "Authentication, authorization and accounting",
		Children: []*schema.Node{
			{Name: "authentication", Kind: schema.Leaf, Type: schema.Words(schema.Enum(methodLocal, methodRADIUS), 1, 2),
				Help: "Methods in order; the next one is asked when no server answers or the user is unknown locally, never after a refusal"},
			{Name: "accounting", Kind: schema.Leaf, Type: schema.Enum(methodRADIUS), Help: "Where sessions are accounted",
				Effect: "from the next record of each session on"},
			{Name: "accounting-on", Kind: schema.Flag, Help: "Tell the accounting servers when the router begins without sessions (Accounting-On)"},
			{Name: "interim-interval", Kind: schema.Leaf, Type: schema.Uint(0, 86400, "seconds"), Default: "600",
				Help: "Interval of interim records unless the server says another; 0 for none, else at least 60", Effect: "for new sessions only"},
			{Name: "nas-identifier", Kind: schema.Leaf, Type: schema.String(253, "", "NAME"), Help: "NAS-Identifier; the hostname if not given"},
			{Name: "nas-ip-address", Kind: schema.Leaf, Type: schema.Addr4(), Help: "NAS-IP-Address; if not given, the source-address of the server asked"},
			{Name: "nas-ipv6-address", Kind: schema.Leaf, Type: addr6Type{}, Help: "NAS-IPv6-Address; if not given, the source-address of the server asked"},
		},
	}
}

func groupSchema() *schema.Node {
	return &schema.Node{
		Name: "aaa group", Kind: schema.List, Mode: "config-aaa-group",
		Help: "Methods and servers for the subscribers of the profiles that name the group; what it does not say is as in aaa",
		Keys: []*schema.Node{{Name: "name", Kind: schema.Leaf, Type: schema.Name(), Help: "Name of the group"}},
		Children: []*schema.Node{
			{Name: "authentication", Kind: schema.Leaf, Type: schema.Words(schema.Enum(methodLocal, methodRADIUS), 1, 2),
				Help: "Methods in order, in place of those of aaa"},
			{Name: "accounting", Kind: schema.Leaf, Type: schema.Enum(methodRADIUS, methodNone), Help: "Where sessions are accounted, in place of what aaa says",
				Effect: "from the next record of each session on"},
			{Name: "radius server", Kind: schema.List, Ordered: true,
				Help: "Servers that are asked, in the order of the lines (default: all, in their own order)",
				Keys: []*schema.Node{{Name: "name", Kind: schema.Leaf, Type: schema.Name(), Ref: "radius server", Help: "Name of the server"}}},
		},
	}
}

func userSchema() *schema.Node {
	return &schema.Node{
		Name: "user", Kind: schema.List, Mode: "config-user", Help: "Local subscriber",
		Keys: []*schema.Node{{Name: "name", Kind: schema.Leaf, Type: schema.String(253, "", "NAME"), Help: "Name of the subscriber"}},
		Children: []*schema.Node{
			{Name: "password", Kind: schema.Leaf, Type: schema.Secret(), Required: true, Help: "Password", Effect: "for new sessions only"},
			{Name: "ip address", Kind: schema.Leaf, Type: schema.Addr4(), Help: "Fixed address", Effect: "for new sessions only"},
			{Name: "ip pool", Kind: schema.Leaf, Type: schema.Name(), Ref: "ip pool", Help: "Pool to take the address from", Effect: "for new sessions only"},
			{Name: "ipv6 address", Kind: schema.Leaf, Type: addr6Type{}, Help: "Fixed IPv6 address, by DHCPv6 (IA_NA)", Effect: "for new sessions only"},
			pool6("ipv6 address pool", "Pool to take that address from"),
			{Name: "ipv6 prefix", Kind: schema.Leaf, Type: prefix6Type{least: 64, most: 64}, Help: "Fixed prefix of the line, by router advertisements", Effect: "for new sessions only"},
			pool6("ipv6 prefix pool", "Pool to take that prefix from"),
			{Name: "ipv6 delegated-prefix", Kind: schema.Leaf, Type: prefix6Type{least: 1, most: 64}, Help: "Fixed prefix for the subscriber's own network, by DHCPv6 (IA_PD)", Effect: "for new sessions only"},
			pool6("ipv6 delegated pool", "Pool to take that prefix from"),
			{Name: "session-timeout", Kind: schema.Leaf, Type: schema.Uint(1, 1<<32-1, "seconds"), Help: "Longest duration of a session", Effect: "for new sessions only"},
		},
	}
}

func pool6(name, help string) *schema.Node {
	return &schema.Node{Name: name, Kind: schema.Leaf, Type: schema.Name(), Ref: "ipv6 pool", Help: help, Effect: "for new sessions only"}
}

// Reserve implements commit.Subsystem: there is nothing to take.
func (s *Service) Reserve(_, _ *config.Tree) error { return nil }

// Release implements commit.Subsystem.
func (s *Service) Release() {}

// Apply implements commit.Subsystem.
func (s *Service) Apply(_, new *config.Tree) {
	s.users.Set(readUsers(new))
	p := s.readPolicy(new, s.active.Load())
	s.client.Configure(s.readSettings(new, p))
	s.active.Store(p)
}

func methods(t *config.Tree) []string { return strings.Fields(t.Text("authentication")) }

func (s *Service) readSettings(root *config.Tree, p *policy) radius.Settings {
	t := root.Container("aaa")
	settings := radius.Settings{NASAddress: t.Addr("nas-ip-address"), NASAddress6: t.Addr("nas-ipv6-address"), Groups: map[string][]string{}}
	for _, name := range []string{t.Text("nas-identifier"), root.Text("hostname"), s.options.NASIdentifier, "vbng"} {
		if settings.NASIdentifier == "" {
			settings.NASIdentifier = name
		}
	}
	for _, server := range root.List("radius server") {
		settings.Servers = append(settings.Servers, readServer(server))
	}
	for name, g := range p.groups {
		settings.Groups[name] = g.servers
	}
	return settings
}

func readServer(t *config.Tree) radius.Server {
	return radius.Server{
		Name:       t.Text("name"),
		Address:    t.Addr("address"),
		AuthPort:   uint16(t.Uint("auth-port")),
		AcctPort:   uint16(t.Uint("acct-port")),
		Secret:     t.Text("secret"),
		Timeout:    t.Seconds("timeout"),
		Retransmit: int(t.Uint("retransmit")),
		DeadTime:   t.Seconds("dead-time"),
		Legacy:     t.Flag("legacy"),
		Source:     t.Addr("source-address"),
		VRF:        vrfOf(t),
	}
}

// vrfOf returns the VRF of a server; the default one has no name here.
func vrfOf(t *config.Tree) string {
	if name := t.Text("vrf"); name != vrfDefault {
		return name
	}
	return ""
}

func readUsers(root *config.Tree) []local.User {
	var users []local.User
	for _, t := range root.List("user") {
		users = append(users, readUser(t))
	}
	return users
}

func readUser(t *config.Tree) local.User {
	return local.User{
		Name:           t.Text("name"),
		Password:       t.Text("password"),
		Address:        t.Addr("ip address"),
		Pool:           t.Text("ip pool"),
		Address6:       t.Addr("ipv6 address"),
		Pool6:          t.Text("ipv6 address pool"),
		Prefix:         t.Prefix("ipv6 prefix"),
		PrefixPool:     t.Text("ipv6 prefix pool"),
		Delegated:      t.Prefix("ipv6 delegated-prefix"),
		DelegatedPool:  t.Text("ipv6 delegated pool"),
		SessionTimeout: t.Seconds("session-timeout"),
	}
}
