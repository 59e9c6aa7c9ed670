package sessions

import (
	"net/netip"

	"vbng/forwarding/entry"
)

// index finds sessions by everything they are known by. A session is in byID, byTuple, byAcctID and
// byClient from birth to burial, in byUser and byPrefix as long as it has the one and the other.
type index struct {
	byID     map[entry.SessionID]*Session
	byTuple  map[tuple]*Session
	byAcctID map[string]*Session
	byClient map[client]group
	byMAC    map[entry.MAC]group
	byUser   map[string]group
	byPrefix map[located]*Session // every address and prefix held
	vrfs     map[entry.VRFID]bool // that ever had an address
	perPort  map[entry.PortID]int
	perPlace map[Place]int
}

// located is an address or prefix in a VRF.
type located struct {
	vrf    entry.VRFID
	prefix netip.Prefix
}

// group is a few sessions with something in common. It is a map because a user name may be shared
// by all sessions of a router.
type group map[entry.SessionID]*Session

func newIndex() *index {
	return &index{
		byID: map[entry.SessionID]*Session{}, byTuple: map[tuple]*Session{}, byAcctID: map[string]*Session{},
		byClient: map[client]group{}, byMAC: map[entry.MAC]group{}, byUser: map[string]group{},
		byPrefix: map[located]*Session{}, vrfs: map[entry.VRFID]bool{}, perPort: map[entry.PortID]int{}, perPlace: map[Place]int{},
	}
}

func (x *index) add(s *Session) {
	x.byID[s.id] = s
	x.byTuple[s.tuple()] = s
	x.byAcctID[s.acctID] = s
	join(x.byClient, s.client, s)
	join(x.byMAC, s.client.mac, s)
	x.perPort[s.client.place.Port]++
	x.perPlace[s.client.place]++
}

func (x *index) remove(s *Session) {
	delete(x.byID, s.id)
	delete(x.byTuple, s.tuple())
	delete(x.byAcctID, s.acctID)
	leave(x.byClient, s.client, s)
	leave(x.byMAC, s.client.mac, s)
	x.name(s, "")
	for slot := range numSlots {
		x.forget(s, s.bindings[slot].prefix)
	}
	countDown(x.perPort, s.client.place.Port)
	countDown(x.perPlace, s.client.place)
}

// name sets the session's user name.
func (x *index) name(s *Session, username string) {
	if s.username != "" {
		leave(x.byUser, s.username, s)
	}
	if s.username = username; username != "" {
		join(x.byUser, username, s)
	}
}

// locate notes an address or prefix of the session; forget forgets it.
func (x *index) locate(s *Session, prefix netip.Prefix) {
	x.byPrefix[located{s.profile.vrf, prefix}] = s
	x.vrfs[s.profile.vrf] = true
}

func (x *index) forget(s *Session, prefix netip.Prefix) {
	delete(x.byPrefix, located{s.profile.vrf, prefix})
}

func join[K comparable](m map[K]group, key K, s *Session) {
	g := m[key]
	if g == nil {
		g = group{}
		m[key] = g
	}
	g[s.id] = s
}

func leave[K comparable](m map[K]group, key K, s *Session) {
	g := m[key]
	delete(g, s.id)
	if len(g) == 0 {
		delete(m, key)
	}
}

func countDown[K comparable](m map[K]int, key K) {
	if m[key]--; m[key] <= 0 {
		delete(m, key)
	}
}
