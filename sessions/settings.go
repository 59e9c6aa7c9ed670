package sessions

import (
	"net/netip"
	"time"

	"vbng/control/config"
	"vbng/forwarding/entry"
	"vbng/sessions/pool"
	"vbng/sessions/ppp"
	"vbng/sessions/pppoe"
)

// settings is the configuration in the words of this package. It is made by one commit and never
// changed: the punt path reads it while the next one is made.
type settings struct {
	boxLimit   int
	profiles   map[string]*profile
	ports      map[string]*profile // by interface name: where PPPoE is terminated
	interfaces map[string]bool     // by name: whether it is in service
	pools      []pool.Config
	own        []netip.Addr // the router's own addresses
}

// profile is a PPPoE profile. A session keeps the one it was made with.
type profile struct {
	name        string
	responder   *pppoe.Responder
	link        ppp.Config
	vrf         entry.VRFID
	local       netip.Addr // the subscribers' gateway
	pool        string     // empty: authorization must name an address or a pool
	dns         [2]netip.Addr
	mtu         uint16
	echoSeconds uint16
	echoMisses  uint8

	perPort, perPlace, perClient int // 0: no limit
}

// parseSettings reads a checked tree.
func parseSettings(t *config.Tree, cookieKey []byte) (*settings, error) {
	s := &settings{
		boxLimit: int(t.Uint("subscriber limit")), profiles: map[string]*profile{}, ports: map[string]*profile{},
		interfaces: map[string]bool{}, pools: parsePools(t), own: ownAddresses(t),
	}
	for _, each := range t.List("pppoe profile") {
		p, err := parseProfile(t, each, cookieKey)
		if err != nil {
			return nil, err
		}
		s.profiles[p.name] = p
	}
	for _, each := range t.List("interface") {
		name := each.Text("name")
		s.interfaces[name] = !each.Flag("shutdown")
		if p := s.profiles[each.Text("pppoe profile")]; p != nil && s.interfaces[name] {
			s.ports[name] = p
		}
	}
	return s, nil
}

func parseProfile(root, t *config.Tree, cookieKey []byte) (*profile, error) {
	p := &profile{
		name: t.Text("name"), pool: t.Text("ip pool"), mtu: uint16(t.Uint("mtu")),
		local:       root.Entry("interface", t.Text("ip unnumbered")).Prefix("ip address").Addr(),
		echoSeconds: uint16(t.Uint("echo-interval")), echoMisses: uint8(t.Uint("echo-misses")),
		perPort: int(t.Uint("sessions per-port limit")), perPlace: int(t.Uint("sessions per-vlan limit")),
		perClient: int(t.Uint("sessions per-mac limit")),
	}
	copy(p.dns[:], t.Addrs("dns"))
	acName := t.Text("ac-name")
	if acName == "" {
		acName = hostname(root)
	}
	p.link = ppp.Config{
		Name: acName, MRU: uint16(t.Uint("mru")), Auth: methods(t.Words("authentication")),
		Restart: t.Seconds("ppp timeout"), MaxConfigure: int(t.Uint("ppp max-configure")),
		AuthTimeout: t.Seconds("ppp auth-timeout"),
	}
	var services []string
	for _, each := range t.List("service-name") {
		services = append(services, each.Text("name"))
	}
	var err error
	p.responder, err = pppoe.NewResponder(pppoe.Config{ACName: acName, Services: services, MaxPayload: p.link.MRU, CookieKey: cookieKey})
	if err != nil {
		return nil, &config.Error{Path: "pppoe profile " + p.name, Line: t.Line(), Text: err.Error()}
	}
	return p, nil
}

// linkFor is the link's configuration for one client: more than 1492 bytes only as far as it asked for them
// by PPP-Max-Payload (RFC 4638).
func (p *profile) linkFor(request pppoe.Request) ppp.Config {
	cfg := p.link
	cfg.MRU = min(cfg.MRU, max(ppp.EthernetMRU, request.MaxPayload))
	return cfg
}

// hostname is the name of the router, which another subsystem declares.
func hostname(root *config.Tree) string {
	if name := root.Text("hostname"); name != "" {
		return name
	}
	return "vbng"
}

func methods(words []string) []ppp.AuthMethod {
	var all []ppp.AuthMethod
	for _, w := range words {
		if w == "pap" {
			all = append(all, ppp.AuthPAP)
		} else {
			all = append(all, ppp.AuthCHAPMD5)
		}
	}
	return all
}

func parsePools(t *config.Tree) []pool.Config {
	var pools []pool.Config
	for _, each := range t.List("ip pool") {
		c := pool.Config{Name: each.Text("name")}
		for _, r := range each.List("range") {
			c.Ranges = append(c.Ranges, pool.Range{First: r.Addr("first"), Last: r.Addr("last")})
		}
		pools = append(pools, c)
	}
	return pools
}

// ownAddresses returns the router's own addresses, which no subscriber may get.
func ownAddresses(t *config.Tree) []netip.Addr {
	var own []netip.Addr
	for _, each := range t.List("interface") {
		if p := each.Prefix("ip address"); p.IsValid() {
			own = append(own, p.Addr())
		}
	}
	return own
}

// homeless returns why a session cannot stay, if its port or profile is gone. A port that is shut down
// stays open as long as sessions stand on it, so their clients still hear the goodbye.
func (c *settings) homeless(s *Session) Cause {
	inService, configured := c.interfaces[s.port]
	switch {
	case !configured:
		return CausePortRemoved
	case !inService:
		return CausePortShutdown
	case c.ports[s.port] == nil || c.profiles[s.profile.name] == nil:
		return CauseProfileRemoved
	}
	return ""
}

// orphan stands in for a profile that was removed while control was away, until the session's good end.
func (c *settings) orphan(r record) *profile {
	return &profile{
		name: r.Profile, local: r.Link.Net.Local, mtu: r.Link.PeerMRU,
		link: ppp.Config{MRU: r.Link.LocalMRU, Restart: 3 * time.Second},
	}
}
