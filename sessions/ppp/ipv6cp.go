package ppp

import "encoding/binary"

// OptInterfaceID is the Interface-Identifier of IPV6CP (RFC 5072 section 4.1).
const OptInterfaceID uint8 = 1

// interfaceIDBytes is the length of an interface identifier.
const interfaceIDBytes = 8

// universalBit tells an identifier made of a global address (RFC 4291 section 2.5.1, modified EUI-64).
// RFC 5072 section 4.1 wants it clear in what is drawn at random.
const universalBit = 1 << 57

// ipv6cp negotiates the interface identifiers of RFC 5072. They tell the two ends of one line apart;
// addresses come by router advertisements and DHCPv6.
type ipv6cp struct {
	own      uint64 // what we ask for, and ours once the layer is Opened
	granted  uint64 // the peer's, where it is not free to choose; else zero
	askOwn   bool   // until the peer rejects the option
	asked    uint64 // of the request being judged; zero: none that can be taken
	named    bool   // the request being judged has the option
	peer     uint64 // acknowledged
	proposed uint64 // what we suggested last; zero: nothing yet
	random   func([]byte)
}

func newIPV6CP(random func([]byte)) *ipv6cp { return &ipv6cp{askOwn: true, random: random} }

// take begins with the identifiers of a grant.
func (n *ipv6cp) take(c NetConfig) {
	n.own, n.granted, n.proposed = c.LocalInterfaceID, c.PeerInterfaceID, 0
	if n.granted == n.own {
		n.granted = 0 // two ends cannot have one identifier
	}
}

func (n *ipv6cp) options() []Option {
	if !n.askOwn {
		return nil
	}
	return []Option{optionID(n.own)}
}

func (n *ipv6cp) begin()  { n.asked, n.named = 0, false }
func (n *ipv6cp) commit() { n.peer = n.asked }
func (n *ipv6cp) reset()  { n.peer = 0 }

// judge: compression is rejected; an identifier is Nak'd when it is zero, ours, or not the granted one
// (RFC 5072 section 4.1).
func (n *ipv6cp) judge(o Option) opinion {
	if o.Type != OptInterfaceID {
		return opinion{verdict: reject}
	}
	n.named = true
	if len(o.Data) == interfaceIDBytes {
		n.asked = binary.BigEndian.Uint64(o.Data)
	}
	if n.asked == 0 || n.asked == n.own || n.granted != 0 && n.asked != n.granted {
		return opinion{verdict: nak, want: optionID(n.suggestion())}
	}
	return opinion{}
}

// missing asks a peer for its identifier: without one, no link-local address of it is known.
func (n *ipv6cp) missing() []Option {
	if n.named {
		return nil
	}
	return []Option{optionID(n.suggestion())}
}

func (n *ipv6cp) rejected(o Option) Cause {
	if o.Type == OptInterfaceID {
		n.askOwn = false // ours stays what it is: the peer's is another, judge sees to that
	}
	return ""
}

// nakked takes the identifier that the peer suggests, unless it cannot tell the ends apart either: it is
// zero, the peer's own, or what we suggest to the peer at this moment. Then we draw one.
func (n *ipv6cp) nakked(o Option) Cause {
	if o.Type != OptInterfaceID {
		return ""
	}
	var id uint64
	if len(o.Data) == interfaceIDBytes {
		id = binary.BigEndian.Uint64(o.Data)
	}
	if id == 0 || id == n.own || id == n.peer || id == n.granted || id == n.proposed {
		id = n.draw()
	}
	n.own = id
	return ""
}

// suggestion is the granted identifier, or one drawn once, so that a repeated Nak says the same.
func (n *ipv6cp) suggestion() uint64 {
	if n.granted != 0 {
		return n.granted
	}
	if n.proposed == 0 || n.proposed == n.own {
		n.proposed = n.draw()
	}
	return n.proposed
}

// draw returns a random identifier that nobody on the line has.
func (n *ipv6cp) draw() uint64 {
	var b [interfaceIDBytes]byte
	n.random(b[:])
	id := binary.BigEndian.Uint64(b[:]) &^ universalBit
	for id == 0 || id == n.own || id == n.peer || id == n.granted {
		id++ // a source that repeats itself must not hang us
	}
	return id
}

func optionID(id uint64) Option {
	return Option{Type: OptInterfaceID, Data: binary.BigEndian.AppendUint64(nil, id)}
}
