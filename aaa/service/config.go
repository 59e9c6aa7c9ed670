package service

import (
	"fmt"
	"net/netip"
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
)

// interimFloor is the shortest interval that RFC 2869 5.16 permits.
const interimFloor = 60 * time.Second

// Name implements commit.Subsystem.
func (s *Service) Name() string { return "aaa" }

// Schema implements commit.Subsystem.
func (s *Service) Schema() []*schema.Node {
	return []*schema.Node{serverSchema(), aaaSchema(), userSchema()}
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
			{Name: "nas-ip-address", Kind: schema.Leaf, Type: schema.Addr4(), Help: "NAS-IP-Address; not sent if not given"},
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
			{Name: "session-timeout", Kind: schema.Leaf, Type: schema.Uint(1, 1<<32-1, "seconds"), Help: "Longest duration of a session", Effect: "for new sessions only"},
		},
	}
}

// Check implements commit.Subsystem.
func (s *Service) Check(_, new *config.Tree) []error {
	return append(checkServers(new), append(checkAAA(new), checkUsers(new)...)...)
}

func checkServers(root *config.Tree) []error {
	var faults []error
	ports := map[netip.AddrPort]string{}
	for _, t := range root.List("radius server") {
		server := readServer(t)
		fault := func(leaf, format string, args ...any) {
			faults = append(faults, &config.Error{
				Path: "radius server " + server.Name + " / " + leaf, Line: t.Line(), Text: fmt.Sprintf(format, args...),
			})
		}
		if a := server.Address; a.IsUnspecified() || a.IsMulticast() {
			fault("address", "%v is not the address of a host", a)
		}
		if source := server.Source; source.IsValid() && source.Is4() != server.Address.Is4() {
			fault("source-address", "%v cannot reach %v", source, server.Address)
		}
		for _, port := range []uint16{server.AuthPort, server.AcctPort} {
			at := netip.AddrPortFrom(server.Address, port)
			if other, taken := ports[at]; taken {
				fault("address", "%v is also a port of server %s", at, other)
				break
			}
			ports[at] = server.Name
		}
	}
	return faults
}

func checkAAA(root *config.Tree) []error {
	t := root.Container("aaa")
	servers := len(root.List("radius server"))
	var faults []error
	fault := func(leaf, text string) {
		faults = append(faults, &config.Error{Path: "aaa / " + leaf, Line: t.Line(), Text: text})
	}
	for _, method := range methods(t) {
		if method == methodRADIUS && servers == 0 {
			fault("authentication", "no radius server is configured")
		}
	}
	accounting := t.Text("accounting") != ""
	if accounting && servers == 0 {
		fault("accounting", "no radius server is configured")
	}
	if t.Flag("accounting-on") && !accounting {
		fault("accounting-on", "needs accounting radius")
	}
	if interval := t.Seconds("interim-interval"); interval > 0 && interval < interimFloor {
		fault("interim-interval", "the shortest interval is 60 seconds; 0 means none")
	}
	return faults
}

func checkUsers(root *config.Tree) []error {
	var faults []error
	for _, t := range root.List("user") {
		user := readUser(t)
		if a := user.Address; a.IsValid() && (a.IsUnspecified() || a.IsMulticast() || a.IsLoopback() || a.As4()[0] >= 240) {
			faults = append(faults, &config.Error{
				Path: "user " + user.Name + " / ip address", Line: t.Line(), Text: a.String() + " is not the address of a host",
			})
		}
		if user.Address.IsValid() && user.Pool != "" {
			faults = append(faults, &config.Error{
				Path: "user " + user.Name + " / ip pool", Line: t.Line(), Text: "the user has a fixed ip address",
			})
		}
	}
	return faults
}

// Reserve implements commit.Subsystem: there is nothing to take.
func (s *Service) Reserve(_, _ *config.Tree) error { return nil }

// Release implements commit.Subsystem.
func (s *Service) Release() {}

// Apply implements commit.Subsystem.
func (s *Service) Apply(_, new *config.Tree) {
	s.users.Set(readUsers(new))
	s.client.Configure(s.readSettings(new))
	s.active.Store(s.readPolicy(new))
}

func (s *Service) readPolicy(root *config.Tree) *policy {
	t := root.Container("aaa")
	p := &policy{
		account:   t.Text("accounting") != "",
		announce:  t.Flag("accounting-on"),
		methodSet: methods(t),
	}
	if p.account {
		p.interim = t.Seconds("interim-interval")
	}
	for _, method := range p.methodSet {
		switch method {
		case methodLocal:
			p.methods = append(p.methods, s.byLocal())
		case methodRADIUS:
			p.methods = append(p.methods, s.byRADIUS())
		}
	}
	return p
}

func methods(t *config.Tree) []string { return strings.Fields(t.Text("authentication")) }

func (s *Service) readSettings(root *config.Tree) radius.Settings {
	t := root.Container("aaa")
	settings := radius.Settings{NASAddress: t.Addr("nas-ip-address")}
	for _, name := range []string{t.Text("nas-identifier"), root.Text("hostname"), s.options.NASIdentifier, "vbng"} {
		if settings.NASIdentifier == "" {
			settings.NASIdentifier = name
		}
	}
	for _, server := range root.List("radius server") {
		settings.Servers = append(settings.Servers, readServer(server))
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
	}
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
		SessionTimeout: t.Seconds("session-timeout"),
	}
}
