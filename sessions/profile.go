package sessions

import (
	"net/netip"
	"time"

	"vbng/aaa"
	"vbng/control/config"
	"vbng/forwarding/entry"
	"vbng/sessions/ppp"
	"vbng/sessions/pppoe"
)

// profile is a PPPoE or IPoE profile. A session keeps the one it was made with.
type profile struct {
	name       string
	access     aaa.Access
	group      string // of AAA; empty: the default methods
	unnumbered string // interface whose addresses are the gateways
	vrf        entry.VRFID
	local      netip.Addr       // the subscribers' gateway
	network    netip.Prefix     // and the network it is configured with
	local6     netip.Addr       // and its IPv6 address; not valid: none
	pools      [numSlots]string // empty: authorization must name what the slot holds, or a pool
	dns        [2]netip.Addr
	dns6       []netip.Addr
	mtu        uint16
	mss        uint16 // where mssFixed; 0: any
	mssFixed   bool   // else what the MTU leaves

	preferred, valid             time.Duration // of IPv6
	advertInterval, advertLife   time.Duration
	perPort, perPlace, perClient int // 0: no limit

	// PPPoE.
	responder   *pppoe.Responder
	link        ppp.Config
	echoSeconds uint16
	echoMisses  uint8

	// IPoE.
	username     template
	password     string
	domain       string
	lease        time.Duration
	relays       []netip.Addr
	relayCircuit template
	relayRemote  template
}

func parseProfile(root, t *config.Tree, cookieKey []byte) (*profile, error) {
	p := parseCommon(root, t, aaa.PPPoE)
	p.echoSeconds, p.echoMisses = uint16(t.Uint("echo-interval")), uint8(t.Uint("echo-misses"))
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

// parseCommon reads what both kinds of profile have.
func parseCommon(root, t *config.Tree, access aaa.Access) *profile {
	p := &profile{
		name: t.Text("name"), access: access, group: t.Text("aaa group"), unnumbered: t.Text("ip unnumbered"),
		mtu:     uint16(t.Uint("mtu")),
		pools:   [numSlots]string{t.Text("ip pool"), t.Text("ipv6 prefix pool"), t.Text("ipv6 address pool"), t.Text("ipv6 delegated pool")},
		dns6:    t.Addrs("ipv6 dns"),
		perPort: int(t.Uint("sessions per-port limit")), perPlace: int(t.Uint("sessions per-vlan limit")),
		perClient: int(t.Uint("sessions per-mac limit")),
		preferred: t.Seconds("ipv6 preferred-lifetime"), valid: t.Seconds("ipv6 valid-lifetime"),
		advertInterval: t.Seconds("ipv6 ra interval"), advertLife: t.Seconds("ipv6 ra lifetime"),
	}
	copy(p.dns[:], t.Addrs("dns"))
	if p.mssFixed = t.Configured("tcp mss"); p.mssFixed {
		p.mss = uint16(t.Uint("tcp mss"))
	}
	for _, address := range prefixesOf(root.Entry("interface", p.unnumbered)) {
		switch a := address.Addr(); {
		case a.Is4() && !p.local.IsValid():
			p.local, p.network = a, address
		case a.Is6() && !a.IsLinkLocalUnicast() && !p.local6.IsValid():
			p.local6 = a
		}
	}
	return p
}

// tcpHeadersBytes is IPv4's and TCP's headers without options (RFC 9293 3.7.1).
const tcpHeadersBytes = 40

func parseIPoE(root, t *config.Tree) *profile {
	p := parseCommon(root, t, aaa.IPoE)
	p.username, p.password, p.domain = template(t.Text("username")), t.Text("password"), t.Text("domain")
	p.lease = t.Seconds("lease-time")
	for _, each := range t.List("dhcp relay server") {
		p.relays = append(p.relays, each.Addr("address"))
	}
	p.relayCircuit, p.relayRemote = template(t.Text("dhcp relay circuit-id")), template(t.Text("dhcp relay remote-id"))
	return p
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
