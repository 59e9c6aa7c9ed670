package ppp

import "net/netip"

// NetConfig is what the network protocols may agree to: IPv4 if both of its addresses are there, IPv6 if our
// interface identifier is. What does not apply is left zero.
type NetConfig struct {
	Local        netip.Addr `json:"local"` // ours, the subscriber's gateway
	Peer         netip.Addr `json:"peer"`  // assigned to the subscriber
	PrimaryDNS   netip.Addr `json:"primary_dns"`
	SecondaryDNS netip.Addr `json:"secondary_dns"`

	LocalInterfaceID uint64 `json:"local_interface_id,omitempty"` // ours; the first octet on the wire is the most significant
	PeerInterfaceID  uint64 `json:"peer_interface_id,omitempty"`  // the subscriber's; zero: as it asks
}

// hasIPv4 reports whether IPCP has something to offer.
func (c NetConfig) hasIPv4() bool { return c.Local.Is4() && c.Peer.Is4() }

// hasIPv6 reports whether IPV6CP is wanted.
func (c NetConfig) hasIPv6() bool { return c.LocalInterfaceID != 0 }

// ipcp negotiates the options of RFC 1332 and RFC 1877. Addresses are given, not bargained for: any
// other wish is Nak'd with ours until Max-Failure, then rejected, and then the layer ends.
type ipcp struct {
	net      NetConfig
	askLocal bool // until the peer rejects the option
	address  bool // the request being judged names an IP-Address
}

func newIPCP() *ipcp { return &ipcp{askLocal: true} }

func (n *ipcp) options() []Option {
	if !n.askLocal {
		return nil
	}
	return []Option{optionAddr(OptIPAddress, n.net.Local)}
}

func (n *ipcp) begin()  { n.address = false }
func (n *ipcp) commit() {} // all that can be acknowledged is what we assigned
func (n *ipcp) reset()  {}

// judge: compression, the deprecated IP-Addresses and name servers we do not have are rejected.
func (n *ipcp) judge(o Option) opinion {
	switch o.Type {
	case OptIPAddress:
		n.address = true
		return wants(o, n.net.Peer) // RFC 1332 section 3.3: 0.0.0.0 asks for an address
	case OptPrimaryDNS:
		return wants(o, n.net.PrimaryDNS) // RFC 1877 section 1.1
	case OptSecondaryDNS:
		return wants(o, n.net.SecondaryDNS) // RFC 1877 section 1.3
	}
	return opinion{verdict: reject}
}

// wants accepts exactly one address, and rejects the option where we have none.
func wants(o Option, addr netip.Addr) opinion {
	if !addr.Is4() {
		return opinion{verdict: reject}
	}
	want := optionAddr(o.Type, addr)
	if o.equal(want) {
		return opinion{}
	}
	return opinion{verdict: nak, want: want}
}

// missing asks a peer without an IP-Address for one: without it the peer would use an address of its
// own, and nothing it sends would pass.
func (n *ipcp) missing() []Option {
	if n.address {
		return nil
	}
	return []Option{optionAddr(OptIPAddress, n.net.Peer)}
}

func (n *ipcp) rejected(o Option) Cause {
	if o.Type == OptIPAddress {
		n.askLocal = false
	}
	return ""
}

// nakked keeps our address: it is not the peer's to choose. The automaton counts.
func (n *ipcp) nakked(Option) Cause { return "" }
