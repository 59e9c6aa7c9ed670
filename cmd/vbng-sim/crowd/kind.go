package crowd

import (
	"time"

	"vbng/cmd/vbng-sim/frame"
	"vbng/cmd/vbng-sim/host6"
	"vbng/cmd/vbng-sim/ipoe"
	"vbng/cmd/vbng-sim/life"
	"vbng/cmd/vbng-sim/pppoe"
)

// client is a subscriber as a pure machine. What the calls return are frames to send.
type client interface {
	Start(now time.Duration) [][]byte
	Receive(now time.Duration, e frame.Ethernet) [][]byte
	Expire(now time.Duration) [][]byte
	Renewal(now time.Duration) [][]byte
	Close(now time.Duration) [][]byte
	Silence()

	Who() *life.Identity
	State() life.State
	Addresses() life.Addresses
	SessionID() uint16
	Mine(from frame.MAC, session uint16) bool
	AppendUser(b []byte, ipv6 bool, bytes int) []byte
}

// kind is what the commands differ in.
type kind struct {
	command string
	about   string
	// groups: the router sends to group addresses on a VLAN (IPoE), not only to the subscriber's own.
	groups bool
	// userPacket finds the IP packet in a frame, and the session id; ok is false for what clients talk themselves.
	userPacket func(e frame.Ethernet) (packet []byte, session uint16, ok bool)
	// clients returns a maker of clients that share their settings.
	clients func(o *options, random func() uint32) func(life.Identity) client
	// identify fills in what this kind says of a subscriber.
	identify func(o *options, id *life.Identity)
}

var pppoeKind = kind{
	command: "pppoe", about: "Plays PPPoE subscribers", userPacket: pppoe.UserPacket,
	clients: func(o *options, random func() uint32) func(life.Identity) client {
		s := pppoe.DefaultSettings(random)
		s.Method, s.Service, s.EchoInterval = o.method, o.service, o.echoInterval
		s.MRU = uint16(o.mru)
		s.IPv6 = o.settings6(random, false)
		return func(id life.Identity) client { return pppoe.New(&s, id) }
	},
	identify: func(o *options, id *life.Identity) {
		id.User, id.Password = o.userName(int(id.Number)), o.password
	},
}

var ipoeKind = kind{
	command: "ipoe", about: "Plays IPoE subscribers, by DHCP,", groups: true, userPacket: ipoe.UserPacket,
	clients: func(o *options, random func() uint32) func(life.Identity) client {
		s := ipoe.DefaultSettings(random)
		s.IPv4, s.Broadcast, s.IPv6 = !o.noIPv4, o.broadcast, o.settings6(random, true)
		return func(id life.Identity) client { return ipoe.New(&s, id) }
	},
	identify: (*options).identifyIPoE,
}

// settings6 is nil for IPv4 only.
func (o *options) settings6(random func() uint32, link bool) *host6.Settings {
	if !o.ipv6 {
		return nil
	}
	s := host6.DefaultSettings(random)
	s.NA, s.PD, s.Link = o.assigned, o.delegated, link
	return &s
}

// identity makes subscriber i's name, addresses and VLANs from the options.
func (o *options) identity(i int) life.Identity {
	id := life.Identity{
		Number: uint32(i), MAC: frame.MACFrom(o.macBase.Uint64() + uint64(i)), Tags: o.vlans.tags(i),
	}
	o.kind.identify(o, &id)
	return id
}
