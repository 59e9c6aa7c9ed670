package sessions

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"vbng/aaa"
	"vbng/sessions/pool"
)

// What a session may hold comes from its grant first, then from a pool that the grant names, then from
// the profile's pool.

// fixed returns what a grant says word for word about a slot.
func fixed(g *aaa.Grant, x slot) netip.Prefix {
	switch x {
	case slotIPv4:
		if g.Address.IsValid() {
			return single(g.Address)
		}
	case slotPrefix:
		return g.Prefix.Masked()
	case slotAddress6:
		if g.Address6.IsValid() {
			return single(g.Address6)
		}
	case slotDelegated:
		return g.Delegated.Masked()
	}
	return netip.Prefix{}
}

// poolOf returns the pool that a slot is filled from, empty: none.
func poolOf(g *aaa.Grant, p *profile, x slot) string {
	named := [numSlots]string{g.Pool, g.PrefixPool, g.Pool6, g.DelegatedPool}[x]
	if named != "" {
		return named
	}
	return p.pools[x]
}

// offers reports whether there is anything to fill a slot with.
func (s *Session) offers(x slot) bool { return s.grant != nil && offers(s.grant, s.profile, x) }

func offers(g *aaa.Grant, p *profile, x slot) bool {
	return fixed(g, x).IsValid() || poolOf(g, p, x) != ""
}

// offers6 reports whether the session may have IPv6.
func (s *Session) offers6() bool { return s.grant != nil && offers6(s.grant, s.profile) }

func offers6(g *aaa.Grant, p *profile) bool {
	return offers(g, p, slotPrefix) || offers(g, p, slotAddress6) || offers(g, p, slotDelegated)
}

// allot fills a slot, with what the client wishes if a pool has it: it returns why it cannot. A slot that is
// filled stays as it is.
func (m *Manager) allot(s *Session, grant *aaa.Grant, x slot, wish netip.Prefix) Cause {
	if s.bindings[x].held() {
		return ""
	}
	if prefix := fixed(grant, x); prefix.IsValid() {
		if !m.possible(s, x, prefix) {
			m.log.warn("unusable", "granted address or prefix cannot be a subscriber's", "user", s.username,
				"session", s.acctID, "what", x.String(), "prefix", prefix)
			return CauseAddressUnusable
		}
		if err := m.spaceOf(s).reserve(prefix, s.owner()); err != nil {
			return m.nothing(s, x, err)
		}
		m.hold(s, x, prefix, "")
		m.crossings()
		return ""
	}
	name := poolOf(grant, s.profile, x)
	prefix, err := m.spaceOf(s).allocate(x, name, s.owner(), wish)
	if err != nil {
		return m.nothing(s, x, err)
	}
	m.hold(s, x, prefix, name)
	m.crossings()
	return ""
}

// possible reports whether an address or prefix can be one subscriber's: neither of another kind than
// the slot's, nor where the router's neighbours are.
func (m *Manager) possible(s *Session, x slot, p netip.Prefix) bool {
	a := p.Addr()
	switch {
	case a.Is4() != (x == slotIPv4) || a.Is4In6():
		return false
	case !a.IsGlobalUnicast(): // multicast, loopback, link-local, unspecified, broadcast
		return false
	case x == slotPrefix && p.Bits() != slaacBits: // RFC 4862 5.5.3 d: an interface identifier is 64 bits
		return false
	}
	own := slices.ContainsFunc(m.current.own, p.Contains) // the pools say so
	return own || !m.current.onLink(s.profile, p)
}

// slaacBits is the length of an advertised prefix.
const slaacBits = 64

func (sp *space) reserve(p netip.Prefix, owner pool.Owner) error {
	if p.Addr().Is4() {
		return sp.pools.Reserve(p.Addr(), owner)
	}
	return sp.prefixes.Reserve(p, owner)
}

func (sp *space) allocate(x slot, name string, owner pool.Owner, wish netip.Prefix) (netip.Prefix, error) {
	if x.six() {
		w := pool.Wish{Length: x.bits()}
		if wish.IsValid() && !wish.Addr().IsUnspecified() {
			w.Last = wish
		} else if wish.IsValid() {
			w.Length = wish.Bits()
		}
		p, err := sp.prefixes.Allocate(name, owner, w)
		if err == nil && !x.fits(p) { // the profile's pools are checked with the configuration, those of a grant are not
			sp.prefixes.Release(p, owner)
			return netip.Prefix{}, fmt.Errorf("allocate from %q: %w: a /%d", name, errUnfit, p.Bits())
		}
		return p, err
	}
	a, err := sp.pools.Again(name, owner, wish.Addr())
	if err != nil {
		return netip.Prefix{}, err
	}
	return single(a), nil
}

// bits is the length that a slot's prefixes have, 0: any.
func (x slot) bits() int {
	switch x {
	case slotPrefix:
		return slaacBits
	case slotAddress6:
		return 128
	}
	return 0
}

// errUnfit says that a pool hands out pieces of another kind.
var errUnfit = errors.New("pool's pieces do not fit")

// fits reports whether a prefix from a pool has a length that the slot can have.
func (x slot) fits(p netip.Prefix) bool {
	if n := x.bits(); n != 0 {
		return p.Bits() == n
	}
	return p.Bits() <= slaacBits // a delegated prefix: the client's own network needs at least a /64
}

func (sp *space) release(p netip.Prefix, owner pool.Owner) {
	if p.Addr().Is4() {
		sp.pools.Release(p.Addr(), owner)
		return
	}
	sp.prefixes.Release(p, owner)
}

// nothing says why a slot stays empty.
func (m *Manager) nothing(s *Session, x slot, err error) Cause {
	cause := CausePoolExhausted
	var inUse *pool.InUseError
	switch {
	case errors.Is(err, pool.ErrUnknown):
		cause = CausePoolUnknown
	case errors.Is(err, errUnfit):
		cause = CauseAddressUnusable
	case errors.Is(err, pool.ErrOwn):
		cause = CauseAddressOwn
	case errors.As(err, &inUse):
		cause = CauseAddressInUse
	}
	m.log.warn(string(cause), "no address or prefix for subscriber", "user", s.username, "session", s.acctID,
		"what", x.String(), "error", err)
	return cause
}
