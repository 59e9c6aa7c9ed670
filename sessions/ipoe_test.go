package sessions

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"vbng/aaa"
	"vbng/forwarding/entry"
)

// dualConfig serves PPPoE and IPoE on one port, both with both families.
const dualConfig = `
interface access0
 pppoe profile residential
 ipoe profile home
interface core0
 ip address 198.51.100.1/24
interface loopback0
 ip address 100.64.0.1/32
ip pool residential
 range 100.64.0.0 100.64.63.254
ipv6 pool lines
 prefix 2001:db8:1::/48 length 64
ipv6 pool hosts
 prefix 2001:db8:2::/64 length 128
ipv6 pool homes
 prefix 2001:db8:8000::/40 length 56
pppoe profile residential
 ip unnumbered loopback0
 ip pool residential
 dns 9.9.9.9 149.112.112.112
 ipv6 prefix pool lines
 ipv6 address pool hosts
 ipv6 delegated pool homes
 ipv6 dns 2620:fe::9
ipoe profile home
 ip unnumbered loopback0
 ip pool residential
 dns 9.9.9.9
 domain example.net
 lease-time 600
 username {mac}@{port}:{outer-vlan}
 password secret
 ipv6 prefix pool lines
 ipv6 address pool hosts
 ipv6 delegated pool homes
 ipv6 valid-lifetime 1200
 ipv6 preferred-lifetime 600
`

// circuitConfig is dualConfig where the access node tells who a client is.
var circuitConfig = strings.Replace(dualConfig, ":{outer-vlan}\n", ":{outer-vlan}/{circuit-id}\n", 1)

func TestIPoELease(t *testing.T) {
	w := newWorld(t, circuitConfig)
	s := w.station(0)
	s.circuit = "slot7"
	session := s.dhcp()
	if !slices.Equal(s.heard, []string{"OFFER", "ACK"}) || s.server != addr("100.64.0.1") {
		t.Fatalf("heard %v from %s", s.heard, s.server)
	}
	if r := w.requests[0]; r.Method != aaa.ByLine || r.Username != "02:02:00:00:00:00@access0:200/slot7" ||
		string(r.Password) != "secret" || r.Line.Access != aaa.IPoE || string(r.Line.CircuitID) != "slot7" {
		t.Fatalf("request %+v", r)
	}
	if string(s.options[26]) != "\x05\xdc" {
		t.Errorf("MTU % x", s.options[26])
	}
	e := w.entries[fmt.Sprint("session ", session.id)].(entry.Session)
	if e.PPPoE != 0 || e.IPv4 != s.address || e.MTU != 1500 || e.MSS != 1460 || e.Gateway4 != s.server || e.PeerMAC != s.mac {
		t.Fatalf("entry %+v", e)
	}
	if w.kindsOf() != "1" || w.last().Address != s.address {
		t.Fatalf("records %+v", w.records)
	}
	for range 3 { // renewals prolong the lease
		w.clock.Advance(5 * time.Minute)
		w.settleWith(s)
		s.ack = false
		s.renew()
		w.settleWith(s)
		if !s.ack || s.session() != session {
			t.Fatalf("not renewed: heard %v", s.heard)
		}
	}
	w.clock.Advance(601 * time.Second) // silence
	w.settleWith(s)
	if w.m.stats.ends[CauseLeaseExpired] != 1 || w.last().Type != aaa.Stop || w.last().Address != s.address {
		t.Fatalf("ends %v", w.m.stats.ends)
	}
	w.clean()
}

func TestIPoEEndings(t *testing.T) {
	for _, c := range []struct {
		name  string
		end   func(w *world, s *station)
		cause Cause
	}{
		{"release", func(w *world, s *station) {
			s.say4(cRELEASE, s.address, s.server, option(54, s.server.AsSlice()))
		}, CauseReleased},
		{"decline", func(w *world, s *station) {
			s.say4(cDECLINE, netip.Addr{}, everybody, option(50, s.address.AsSlice()), option(54, s.server.AsSlice()))
		}, CauseDeclined},
		{"clear", func(w *world, s *station) {
			w.run("clear subscriber", map[string]string{"mac": s.mac.String()})
		}, CauseCleared},
		{"profile taken away", func(w *world, s *station) {
			w.configure(strings.Replace(dualConfig, " ipoe profile home\n", "", 1))
		}, CauseProfileRemoved},
		{"other VLANs only", func(w *world, s *station) {
			w.configure(strings.Replace(dualConfig, " ipoe profile home\n", " ipoe profile home\n subscriber vlans 200-209 pppoe residential\n", 1))
		}, CauseProfileRemoved},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, dualConfig)
			s := w.station(0)
			s.dhcp()
			c.end(w, s)
			w.settleWith(s)
			if w.m.stats.ends[c.cause] != 1 || w.last().Cause != c.cause.Terminate() {
				t.Fatalf("ends %v, record %+v", w.m.stats.ends, w.last())
			}
			w.clock.Advance(declineTime + time.Second)
			w.settleWith(s)
			w.clean()
		})
	}
}

func TestDeclinedAddressIsKeptBack(t *testing.T) {
	w := newWorld(t, strings.Replace(dualConfig, " range 100.64.0.0 100.64.63.254\n", " range 100.64.0.7 100.64.0.7\n", 1))
	s := w.station(0)
	s.dhcp()
	s.say4(cDECLINE, netip.Addr{}, everybody, option(50, s.address.AsSlice()), option(54, s.server.AsSlice()))
	w.settleWith(s)
	heard := len(s.heard)
	s.discover()
	w.settleWith(s)
	if len(s.heard) != heard {
		t.Fatalf("heard %v", s.heard)
	}
	w.clock.Advance(declineTime + time.Second)
	w.settleWith(s)
	s.dhcp()
}

// TestUnknownLease: a client that comes with a lease of before gets it again if it can be, else a NAK
// (RFC 2131 4.3.2).
func TestUnknownLease(t *testing.T) {
	w := newWorld(t, dualConfig)
	for i, c := range []struct {
		wish  string
		heard string
	}{
		{"100.64.5.5", "ACK"}, {"10.1.1.1", "NAK"},
	} {
		s := w.station(i)
		s.say4(cREQUEST, netip.Addr{}, everybody, option(50, addr(c.wish).AsSlice())) // INIT-REBOOT
		w.settleWith(s)
		if !slices.Equal(s.heard, []string{c.heard}) {
			t.Errorf("%s: heard %v", c.wish, s.heard)
		}
		if c.heard == "ACK" && s.address != addr(c.wish) {
			t.Errorf("got %s", s.address)
		}
	}
}

func TestIPoEReject(t *testing.T) {
	w := newWorld(t, dualConfig)
	w.authorize = func(aaa.Request) aaa.Answer { return aaa.Answer{Reject: &aaa.Reject{Cause: aaa.BadCredentials}} }
	s := w.station(0)
	for range 5 {
		s.discover()
		s.solicit()
		w.settleWith(s)
	}
	if len(s.heard) != 0 || len(w.requests) != 1 || w.m.stats.refusedAgain.Load() != 8 {
		t.Fatalf("heard %v, %d requests, %d withheld", s.heard, len(w.requests), w.m.stats.refusedAgain.Load())
	}
	w.clean()
	w.clock.Advance(refusalTime + time.Second)
	s.discover()
	w.settleWith(s)
	if len(w.requests) != 2 {
		t.Fatalf("%d requests", len(w.requests))
	}
}

// TestOfferNotTaken gives back what nobody asks for.
func TestOfferNotTaken(t *testing.T) {
	w := newWorld(t, dualConfig)
	s := w.station(0)
	s.discover()
	w.settleWith(s)
	if !slices.Equal(s.heard, []string{"OFFER"}) || len(w.routes) != 0 {
		t.Fatalf("heard %v, routes %v", s.heard, w.routes)
	}
	w.clock.Advance(offerTime + time.Second)
	w.settleWith(s)
	if w.m.stats.failures[CauseOfferExpired] != 1 {
		t.Fatalf("failures %v", w.m.stats.failures)
	}
	w.clean()
}

func TestMovedClientIsAnother(t *testing.T) {
	w := newWorld(t, dualConfig)
	a, b := w.station(0), w.station(1)
	b.mac = a.mac
	if a.dhcp() == b.dhcp() || a.address == b.address {
		t.Fatal("one session on two VLANs")
	}
}

// TestFamiliesAreIndependent takes each family up and down on IPoE without the other noticing.
func TestFamiliesAreIndependent(t *testing.T) {
	w := newWorld(t, dualConfig)
	s := w.station(0)
	session := s.dhcp()
	s.solicitRouter()
	w.settleWith(s)
	w.clock.Advance(time.Second)
	w.settleWith(s)
	if s.prefix != netip.MustParsePrefix("2001:db8:1::/64") || s.flags&0xc0 != 0xc0 || s.lifetime == 0 {
		t.Fatalf("advertised %s, flags %x, heard %v", s.prefix, s.flags, s.heard)
	}
	s.solicit()
	w.settleWith(s)
	if !s.address6.IsValid() || s.delegated.Bits() != 56 || len(w.routes) != 2 {
		t.Fatalf("offered %s and %s, routes %v, heard %v", s.address6, s.delegated, w.routes, s.heard)
	}
	s.request6(3)
	w.settleWith(s)
	delegated := s.delegated
	if w.routes[s.delegated] != session.id || w.routes[single(s.address6)] != session.id || len(w.routes) != 4 {
		t.Fatalf("routes %v, status %v", w.routes, s.status)
	}
	e := w.entries[fmt.Sprint("session ", session.id)].(entry.Session)
	if e.IPv6 != s.prefix || e.LinkLocal != s.router || !e.LinkLocal.IsLinkLocalUnicast() {
		t.Fatalf("entry %+v", e)
	}
	if r := w.last(); r.Delegated != s.delegated || r.Address6 != s.address6 || r.Prefix != s.prefix || r.Type != aaa.Interim {
		t.Fatalf("record %+v", r)
	}
	s.say4(cRELEASE, s.address, s.server, option(54, s.server.AsSlice()))
	w.settleWith(s)
	if len(w.routes) != 3 || s.session() != session || session.ipv4().IsValid() {
		t.Fatalf("routes %v", w.routes)
	}
	s.dhcp()
	s.request6(8) // RELEASE
	w.settleWith(s)
	if len(w.routes) != 2 || w.routes[delegated] != 0 || s.session() != session {
		t.Fatalf("routes %v, status %v", w.routes, s.status)
	}
	w.clock.Advance(1500 * time.Second) // both families run out
	w.settleWith(s)
	w.clock.Advance(1500 * time.Second)
	w.settleWith(s)
	w.clean()
}

// TestLastLeaseReleased: the advertised prefix does not keep the session of a client that has released all its
// leases, in whichever order; and DHCPv6 is answered although the session ends by it.
func TestLastLeaseReleased(t *testing.T) {
	release4 := func(w *world, s *station) { s.say4(cRELEASE, s.address, s.server, option(54, s.server.AsSlice())) }
	release6 := func(w *world, s *station) { s.request6(8) }
	for name, c := range map[string]struct{ first, last func(*world, *station) }{
		"DHCPv4 last": {release6, release4}, "DHCPv6 last": {release4, release6},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, dualConfig)
			s := w.station(0)
			session := s.dhcp()
			s.solicitRouter()
			s.solicit()
			w.settleWith(s)
			s.request6(3)
			w.settleWith(s)
			if len(w.routes) != 4 {
				t.Fatalf("routes %v", w.routes)
			}
			c.first(w, s)
			w.settleWith(s)
			if s.session() != session {
				t.Fatal("the session ended with the first of its leases")
			}
			replies := len(s.heard)
			c.last(w, s)
			w.settleWith(s)
			if name == "DHCPv6 last" && !slices.Contains(s.heard[replies:], "REPLY") {
				t.Errorf("RELEASE was not answered, heard %v", s.heard)
			}
			if w.m.stats.ends[CauseReleased] != 1 || w.last().Cause != aaa.UserRequest {
				t.Fatalf("ends %v, record %+v", w.m.stats.ends, w.last())
			}
			w.clean()
		})
	}
}

func TestIPv6Only(t *testing.T) {
	w := newWorld(t, strings.Replace(dualConfig, " lease-time 600\n", " lease-time 600\n no ip pool\n", 1))
	s := w.station(0)
	s.discover()
	s.solicitRouter()
	w.settleWith(s)
	w.clock.Advance(time.Second)
	w.settleWith(s)
	if session := s.session(); session == nil || session.state != StateUp || slices.Contains(s.heard, "OFFER") {
		t.Fatalf("session %+v, heard %v", session, s.heard)
	}
	for range 3 { // what it sends keeps its prefix
		w.clock.Advance(1000 * time.Second)
		w.counters[s.session().id] = entry.SessionCounters{InputPackets: w.counters[s.session().id].InputPackets + 1}
		w.settleWith(s)
	}
	if s.session() == nil {
		t.Fatalf("ended %v", w.m.stats.ends)
	}
	for n := range uint64(2) { // what it is sent does not
		w.counters[s.session().id] = entry.SessionCounters{InputPackets: w.counters[s.session().id].InputPackets, OutputPackets: n + 1}
		w.clock.Advance(1300 * time.Second)
		w.settleWith(s)
	}
	if w.m.stats.ends[CauseLeaseExpired] != 1 {
		t.Fatalf("ended %v", w.m.stats.ends)
	}
	w.clean()
}

// TestIPoERestart takes control away and back: no client hears of it, and leases go on.
func TestIPoERestart(t *testing.T) {
	w := newWorld(t, dualConfig)
	s := w.station(0)
	before := s.dhcp()
	s.solicitRouter()
	s.solicit()
	w.settleWith(s)
	s.request6(3)
	w.settleWith(s)
	w.clock.Advance(time.Second)
	w.settleWith(s)
	address, delegated, routes := s.address6, s.delegated, len(w.routes)
	heard := len(s.heard)
	w.crash(dualConfig)
	w.settleWith(s)
	session := s.session()
	if session == nil || session.state != StateUp || session.id != before.id || len(w.routes) != routes || routes != 4 || len(s.heard) != heard {
		t.Fatalf("session %+v, routes %v, heard %v", session, w.routes, s.heard[heard:])
	}
	s.ack = false
	s.renew()
	w.settleWith(s)
	s.request6(5)
	w.settleWith(s)
	if !s.ack || s.address6 != address || s.delegated != delegated {
		t.Fatalf("not renewed: %v, %s, %s", s.heard, s.address6, s.delegated)
	}
	for range 4 {
		w.clock.Advance(700 * time.Second)
		w.settleWith(s)
	}
	w.clean()
}

// TestConflicts: what a server grants is given to nobody twice.
func TestConflicts(t *testing.T) {
	prefix := netip.MustParsePrefix
	for _, c := range []struct {
		name          string
		first, second aaa.Grant
		cause         Cause
	}{
		{"address", aaa.Grant{Address: addr("203.0.113.1")}, aaa.Grant{Address: addr("203.0.113.1")}, CauseAddressInUse},
		{"IPv6 address", aaa.Grant{Address6: addr("2001:db8:f::1")}, aaa.Grant{Address6: addr("2001:db8:f::1")}, CauseAddressInUse},
		{"inside a prefix", aaa.Grant{Delegated: prefix("2001:db8:f00::/48")}, aaa.Grant{Prefix: prefix("2001:db8:f00:7::/64")}, CauseAddressInUse},
		{"around a prefix", aaa.Grant{Prefix: prefix("2001:db8:f00:7::/64")}, aaa.Grant{Delegated: prefix("2001:db8:f00::/48")}, CauseAddressInUse},
		{"next hop's network", aaa.Grant{}, aaa.Grant{Address: addr("198.51.100.77")}, CauseAddressUnusable},
		{"own", aaa.Grant{}, aaa.Grant{Address: addr("198.51.100.1")}, CauseAddressOwn},
		{"no /64", aaa.Grant{}, aaa.Grant{Prefix: prefix("2001:db8:f00::/56")}, CauseAddressUnusable},
		{"link-local", aaa.Grant{}, aaa.Grant{Address6: addr("fe80::1")}, CauseAddressUnusable},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, dualConfig)
			grants := []aaa.Grant{c.first, c.second}
			w.authorize = func(aaa.Request) aaa.Answer {
				g := grants[0]
				grants = grants[1:]
				return aaa.Answer{Grant: &g}
			}
			w.station(0).dhcp()
			s := w.station(1)
			s.discover()
			w.settleWith(s)
			if w.m.stats.failures[c.cause] != 1 || len(s.heard) != 0 {
				t.Fatalf("failures %v, heard %v", w.m.stats.failures, s.heard)
			}
			w.run("clear subscriber", map[string]string{"all": "true"})
			w.settleWith()
			w.clean()
		})
	}
}

// TestPoolOfOtherPieces: a pool that a grant names may hand out what the subscriber cannot use.
func TestPoolOfOtherPieces(t *testing.T) {
	w := newWorld(t, dualConfig)
	w.grant(aaa.Grant{PrefixPool: "homes", Pool6: "lines", DelegatedPool: "hosts"})
	s := w.station(0)
	session := s.dhcp()
	s.solicitRouter()
	s.solicit()
	w.settleWith(s)
	w.clock.Advance(time.Second)
	w.settleWith(s)
	if s.prefix.IsValid() || s.address6.IsValid() || s.delegated.IsValid() || w.m.space(0).prefixes.Held() != 0 || len(w.routes) != 1 {
		t.Fatalf("prefix %s, address %s, delegated %s", s.prefix, s.address6, s.delegated)
	}
	if session.state != StateUp || w.m.stats.withheldSlots["ipv6-prefix address-unusable"] == 0 {
		t.Fatalf("withheld %v", w.m.stats.withheldSlots)
	}
}

// TestFlood: what one station says too fast does not reach the loop.
func TestFlood(t *testing.T) {
	w := newWorld(t, dualConfig)
	s, other := w.station(0), w.station(1)
	for range 1000 {
		s.discover()
		s.solicit()
		s.solicitRouter()
	}
	if n := w.m.stats.paced.Load(); n < 2900 {
		t.Fatalf("only %d were held back", n)
	}
	other.mac = s.mac // whoever borrows a neighbour's address does not silence him
	other.dhcp()
	for n := range uint16(maxPending + 500) { // strangers without an answer of the authorizer
		x := w.station(int(n))
		x.mac[2] = 9
		x.discover()
		if n%100 == 0 {
			w.drain()
		}
	}
	w.drain()
	if len(w.m.index.byID) > maxPending+2 || w.m.stats.pendingFull.Load() == 0 {
		t.Fatalf("%d sessions, %d refused", len(w.m.index.byID), w.m.stats.pendingFull.Load())
	}
}
