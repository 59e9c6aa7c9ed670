package sessions

import (
	"encoding/binary"
	"net/netip"

	"vbng/forwarding/entry"
)

// program is what the forwarder shall know about one session, or does know. A zero ID or Session
// means that there is no such entry.
type program struct {
	session entry.Session
	echo    entry.Echo
}

// compile says what the forwarder shall know about a session, from its state alone. Before the grant
// frames must find it, but no IP packet may pass; a session that is ending has nothing.
func compile(s *Session) program {
	if s.ending() || s.pppoe == 0 && s.grant == nil { // IPoE: nothing before it is known who it is
		return program{}
	}
	p := program{session: entry.Session{
		ID: s.id, Port: s.client.place.Port,
		OuterTPID: s.client.place.OuterTPID, OuterVLAN: s.client.place.OuterVLAN, InnerVLAN: s.client.place.InnerVLAN,
		PeerMAC: s.client.mac, OwnMAC: s.ownMAC, PPPoE: s.pppoe,
		VRF: s.profile.vrf, MTU: s.profile.mtu, QoSRoot: qosRoot(s.client.place),
	}}
	if s.peerMRU != 0 {
		p.session.MTU = min(p.session.MTU, s.peerMRU)
	}
	if p.session.MSS = p.session.MTU - tcpHeadersBytes; s.profile.mssFixed {
		p.session.MSS = s.profile.mss
	}
	if s.grant == nil {
		return p
	}
	p.session.IPv4, p.session.Gateway4 = s.usable(slotIPv4).Addr(), s.profile.local
	p.session.IPv6 = s.prefix6()
	if s.localID != 0 {
		p.session.LinkLocal, p.session.Gateway6 = linkLocal(s.localID), s.profile.local6
	}
	if s.lcpUp { // not while LCP is negotiated anew: the magic numbers are not valid then
		p.echo = entry.Echo{
			Session: s.id, LocalMagic: s.localMagic, PeerMagic: s.peerMagic, PeerMRU: s.peerMRU,
			IntervalSeconds: s.profile.echoSeconds, Misses: s.profile.echoMisses,
		}
	}
	return p
}

// prefix6 is where the session's IPv6 packets come from first; those from its other prefixes are known by
// their routes.
func (s *Session) prefix6() netip.Prefix {
	for _, x := range [...]slot{slotPrefix, slotAddress6, slotDelegated} {
		if p := s.usable(x); p.IsValid() {
			return p
		}
	}
	return netip.Prefix{}
}

// linkLocal is the address of an interface identifier (RFC 4291 2.5.6).
func linkLocal(id uint64) netip.Addr {
	a := [16]byte{0: 0xfe, 1: 0x80}
	binary.BigEndian.PutUint64(a[8:], id)
	return netip.AddrFrom16(a)
}

// eui64 is the modified EUI-64 identifier of a MAC address (RFC 4291 appendix A).
func eui64(m entry.MAC) uint64 {
	return binary.BigEndian.Uint64([]byte{m[0] ^ 2, m[1], m[2], 0xff, 0xfe, m[3], m[4], m[5]})
}

// subtract returns what leads from one program to another: what is new or changed is put, what is
// gone is deleted, users before referents. It has no operations if the two are equal.
func subtract(from, to program) *entry.Batch {
	b := &entry.Batch{}
	if from.echo.Session != 0 && to.echo.Session == 0 {
		b.Delete(entry.Echo{Session: from.echo.Session})
	}
	if from.session.ID != 0 && to.session.ID == 0 {
		b.Delete(entry.Session{ID: from.session.ID})
	}
	if to.session.ID != 0 && to.session != from.session {
		b.Put(to.session)
	}
	if to.echo.Session != 0 && to.echo != from.echo {
		b.Put(to.echo)
	}
	return b
}

// qosRoot gives all subscribers of a port's S-VLAN one worker, so that what they share has one writer.
func qosRoot(p Place) uint32 {
	const vlanBits = 12
	return uint32(p.Port)<<vlanBits | uint32(p.OuterVLAN)
}
