package sessions

import (
	"net/netip"
	"time"

	"vbng/sessions/pool"
)

// slot is one of the things that a session can hold: each has a route of its own, and comes and goes
// without the others noticing.
type slot uint8

const (
	slotIPv4      slot = iota // an address, by IPCP or DHCPv4
	slotPrefix                // an IPv6 prefix, by router advertisements
	slotAddress6              // an IPv6 address, by DHCPv6 (IA_NA)
	slotDelegated             // an IPv6 prefix, by DHCPv6 (IA_PD)
	numSlots
)

// String names what the slot holds.
func (x slot) String() string {
	names := [...]string{"ipv4", "ipv6-prefix", "ipv6-address", "delegated-prefix"}
	if int(x) < len(names) {
		return names[x]
	}
	return "unknown"
}

// six reports whether the slot is one of IPv6.
func (x slot) six() bool { return x != slotIPv4 }

// binding is an address or prefix that a session holds. It is taken from the pools first and given back
// to them last: in between it is live (the forwarder lets it pass) and then routed (the RIB leads to it).
// What is leaving goes the same way back.
type binding struct {
	prefix  netip.Prefix // not valid: nothing is held
	pool    string       // where it came from, empty: fixed
	live    bool         // the subscriber may use it
	routed  bool         // the RIB has it, or is about to
	leaving bool         // it goes back as soon as no packet finds it

	until    time.Time // end of the lease; zero: as long as the session
	declined bool      // the client found it in use
}

// held reports whether there is something.
func (b *binding) held() bool { return b.prefix.IsValid() }

// bound reports whether the subscriber may use it now.
func (b *binding) bound() bool { return b.held() && b.live && !b.leaving }

// idle reports whether it is on its way back, and no packet finds it any more.
func (b *binding) idle() bool { return b.leaving && !b.routed }

// single is the route of one address.
func single(a netip.Addr) netip.Prefix { return netip.PrefixFrom(a, a.BitLen()) }

// ipv4 returns the session's IPv4 address, not valid if it has none.
func (s *Session) ipv4() netip.Addr { return s.bindings[slotIPv4].prefix.Addr() }

// reserved returns a slot's prefix unless it is on its way back.
func (s *Session) reserved(x slot) (netip.Prefix, bool) {
	b := &s.bindings[x]
	return b.prefix, b.held() && !b.leaving
}

// usable returns the prefix of a slot that the subscriber may use, else none.
func (s *Session) usable(x slot) netip.Prefix {
	if b := &s.bindings[x]; b.bound() {
		return b.prefix
	}
	return netip.Prefix{}
}

// used returns the prefix of a slot that the subscriber may use, or could until now. What it was only offered is
// nothing that accounting hears of.
func (s *Session) used(x slot) netip.Prefix {
	if b := &s.bindings[x]; b.live {
		return b.prefix
	}
	return netip.Prefix{}
}

// enliven lets the subscriber use what it holds; advance does the rest.
func (s *Session) enliven(x slot) {
	if b := &s.bindings[x]; b.held() && !b.leaving {
		b.live = true
	}
}

// let begins to give a slot back; advance does the rest.
func (s *Session) let(x slot) {
	if b := &s.bindings[x]; b.held() {
		b.leaving = true
	}
}

// unwanted returns the first slot whose route has to go before anything else happens.
func (s *Session) unwanted() (slot, bool) {
	for x := range numSlots {
		if b := &s.bindings[x]; b.routed && (b.leaving || s.ending()) {
			return x, true
		}
	}
	return 0, false
}

// missing returns the first slot that waits for its route.
func (s *Session) missing() (slot, bool) {
	for x := range numSlots {
		if b := &s.bindings[x]; b.bound() && !b.routed {
			return x, true
		}
	}
	return 0, false
}

// spent returns the first slot that can go back to the pools: no packet finds it any more.
func (s *Session) spent() (slot, bool) {
	for x := range numSlots {
		if b := &s.bindings[x]; b.held() && b.idle() {
			return x, true
		}
	}
	return 0, false
}

// owner is the session's name in the pools.
func (s *Session) owner() pool.Owner { return pool.Owner(s.id) }

// hold notes what was taken from the pools.
func (m *Manager) hold(s *Session, x slot, prefix netip.Prefix, from string) {
	s.bindings[x] = binding{prefix: prefix, pool: from}
	m.index.locate(s, prefix)
}

// giveBack returns a slot to the pools.
func (m *Manager) giveBack(s *Session, x slot) {
	b := s.bindings[x]
	s.bindings[x] = binding{}
	m.index.forget(s, b.prefix)
	if b.declined {
		m.quarantine(s, b.prefix)
		return
	}
	m.spaceOf(s).release(b.prefix, s.owner())
	m.crossings()
}
