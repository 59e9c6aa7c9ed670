package sessions

import (
	"net/netip"
	"time"

	"vbng/aaa"
	"vbng/control/clock"
	"vbng/forwarding/entry"
	"vbng/sessions/dhcp4"
	"vbng/sessions/dhcp6"
	"vbng/sessions/nd"
	"vbng/sessions/ppp"
	"vbng/sessions/pppoe"
)

// Place is where a client is attached. It is comparable: with the MAC address it is a client.
type Place struct {
	Port      entry.PortID `json:"port"`
	OuterTPID uint16       `json:"outer_tpid,omitempty"` // 0: untagged
	OuterVLAN uint16       `json:"outer_vlan,omitempty"`
	InnerVLAN uint16       `json:"inner_vlan,omitempty"` // 0: one tag
}

// client is one device on one VLAN of one port.
type client struct {
	place Place
	mac   entry.MAC
}

// tuple is what a session frame says: the key by which the forwarder knows the session, too.
type tuple struct {
	client
	pppoe uint16
}

// State is how far a session is.
type State uint8

// The states, in the order in which a session passes them. Each waits for one thing.
const (
	StateDiscovered     State = iota // the forwarder's word that frames will find the session
	StateLink                        // LCP
	StateAuthenticating              // the authorizer's answer; IPoE begins here
	StateActivating                  // the forwarder and the RIB
	StateNetwork                     // IPCP or IPV6CP; of IPoE, the client
	StateRestoring                   // as activating, after a restart of control
	StateUp                          // nothing
	StateEnding                      // route and entries to be gone
)

// String names the state.
func (s State) String() string {
	names := [...]string{"discovered", "link", "authenticating", "activating", "network", "restoring", "up", "ending"}
	if int(s) < len(names) {
		return names[s]
	}
	return "unknown"
}

// timerSlot is one of a session's timers; the link's come first, under its own numbers.
type timerSlot uint8

const (
	timerSetup timerSlot = timerSlot(ppp.NumTimers) + iota
	timerSession
	timerInterim
	timerIdle
	timerLease4
	timerLease6
	timerAdvert
	timerPrefix
	numTimers
)

// timer is a running timer. A message of an older generation is stale.
type timer struct {
	running    clock.Timer
	generation uint32
	link       uint32 // the link's own generation
}

// Session is all there is to know about one subscriber. Only the Manager's loop touches it.
type Session struct {
	id      entry.SessionID
	access  aaa.Access
	acctID  string
	client  client
	ownMAC  entry.MAC
	port    string // name of the access port
	pppoe   uint16 // 0: IPoE
	profile *profile
	created time.Time
	dialled dialled
	request pppoe.Request // to repeat its PADS; not kept over a restart

	state  State
	link   *ppp.Link // nil: IPoE
	timers [numTimers]timer

	// What is spoken on the line besides PPP.
	lease4 *dhcp4.Lease // nil until a client of IPoE asks for an address, or where a server has it
	lease6 *dhcp6.Link  // nil until the client speaks DHCPv6
	advert *nd.Pacer    // nil while the line has no IPv6
	held   held         // what came before the session could answer
	waits  waits        // what is due when forwarder and RIB have caught up
	relay  relayed      // where a server has the lease
	told   [numFamilies]lineNames
	// Interface identifiers: ours, and the client's where IPV6CP told it.
	localID, peerID uint64

	// LCP's news.
	lcpUp                 bool
	localMagic, peerMagic uint32
	peerMRU               uint16

	// Who it is, and what it may.
	username   string
	authSerial uint32 // of the request that was asked last
	grant      *aaa.Grant

	// What is taken outside of this struct. One thing is in flight at a time; its answer leads on.
	bindings   [numSlots]binding
	programmed program
	inFlight   bool

	// Accounting. Reported usage is the forwarder's counters plus offset.
	upAt          time.Time              // zero: never up, no accounting
	announced     [numSlots]netip.Prefix // what accounting knows the session by
	offset        aaa.Usage              // counted by forwarders that are gone, and not in Counters
	reported      aaa.Usage              // the last one told, a floor for the next
	activity      activity
	prefixPackets uint64                 // sent by an IPoE client when its advertised prefix was prolonged
	base          entry.SessionCounters  // what a Base said last
	final         *entry.SessionCounters // the forwarder's last word

	because Cause // why it will end, as soon as known
	ended   time.Time
}

// dialled is what the client said in its PADR, or its first DHCP message.
type dialled struct {
	Service   string `json:"service,omitempty"`
	HostUniq  []byte `json:"host_uniq,omitempty"`
	CircuitID []byte `json:"circuit_id,omitempty"`
	RemoteID  []byte `json:"remote_id,omitempty"`
	Hostname  string `json:"hostname,omitempty"`
	Vendor    []byte `json:"vendor,omitempty"`

	whole bool // by DHCPv4, which alone tells all of this
}

// tuple returns the session's access key.
func (s *Session) tuple() tuple { return tuple{client: s.client, pppoe: s.pppoe} }

// ending reports whether teardown has begun.
func (s *Session) ending() bool { return s.state == StateEnding }

// accounted reports whether a Start was sent, so that a Stop is due.
func (s *Session) accounted() bool { return !s.upAt.IsZero() }

// line returns where the subscriber is, in the words of AAA.
func (s *Session) line() aaa.Line {
	return aaa.Line{
		Access: s.access, Hostname: s.dialled.Hostname, Vendor: s.dialled.Vendor,
		Port: s.port, PortIndex: uint32(s.client.place.Port),
		OuterVLAN: s.client.place.OuterVLAN, InnerVLAN: s.client.place.InnerVLAN,
		MAC: s.client.mac, OwnMAC: s.ownMAC,
		CircuitID: s.dialled.CircuitID, RemoteID: s.dialled.RemoteID, Service: s.dialled.Service,
	}
}
