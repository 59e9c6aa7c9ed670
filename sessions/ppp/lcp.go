package ppp

import (
	"encoding/binary"
)

// MRU bounds, in bytes of PPP information field.
const (
	// DefaultMRU is what a peer that names no MRU receives (RFC 1661 section 6.1).
	DefaultMRU uint16 = 1500
	// EthernetMRU is the most that PPPoE carries in an ordinary frame (RFC 2516 section 7).
	EthernetMRU uint16 = 1492
	// minMRU is the least we accept of a peer: below it not even our own packets fit.
	minMRU uint16 = 128
)

// maxLoops is how often our own magic number may come back before the link counts as looped. Chance
// makes two ends choose alike once in 2^32 (RFC 1661 section 6.4).
const maxLoops = 3

// lcp negotiates the options of RFC 1661 section 6.
type lcp struct {
	ownMRU   uint16 // what we ask for
	maxMRU   uint16 // what we accept: an MRU beyond it must not be negotiated (RFC 2516 section 7)
	askMRU   bool   // until the peer rejects the option
	magic    uint32
	askMagic bool
	methods  []AuthMethod // in order of preference; what the peer refused is struck out
	method   AuthMethod   // what our request demands now
	random   func([]byte)

	peer   lcpValues // in force
	judged lcpValues // of the request being judged
	loops  int
}

// lcpValues are the peer's options.
type lcpValues struct {
	mru   uint16
	magic uint32
}

func newLCP(cfg Config, random func([]byte)) *lcp {
	n := &lcp{
		ownMRU: cfg.MRU, maxMRU: max(cfg.MRU, EthernetMRU), askMRU: true, askMagic: true, random: random,
	}
	n.magic = n.newMagic()
	n.methods = append(n.methods, cfg.Auth...)
	if len(n.methods) > 0 {
		n.method = n.methods[0]
	}
	n.reset()
	return n
}

// newMagic draws a number that is neither zero (RFC 1661 section 6.4) nor the present one.
func (n *lcp) newMagic() uint32 {
	var b [4]byte
	n.random(b[:])
	m := binary.BigEndian.Uint32(b[:])
	for m == 0 || m == n.magic {
		m++ // a source that repeats itself must not hang us
	}
	return m
}

// localMagic is our number as the peer knows it: zero unless negotiated (RFC 1661 section 6.4).
func (n *lcp) localMagic() uint32 {
	if !n.askMagic {
		return 0
	}
	return n.magic
}

// localMRU is the MRU that the peer may use towards us.
func (n *lcp) localMRU() uint16 {
	if !n.askMRU {
		return n.maxMRU
	}
	return n.ownMRU
}

func (n *lcp) defaults() lcpValues { return lcpValues{mru: min(DefaultMRU, n.maxMRU)} }

func (n *lcp) options() []Option {
	var opts []Option
	if n.askMRU {
		opts = append(opts, option16(OptMRU, n.ownMRU))
	}
	if n.method != AuthNone {
		opts = append(opts, Option{Type: OptAuth, Data: n.method.optionData()})
	}
	if n.askMagic {
		opts = append(opts, option32(OptMagic, n.magic))
	}
	return opts
}

func (n *lcp) begin()            { n.judged = n.defaults() }
func (n *lcp) commit()           { n.peer = n.judged }
func (n *lcp) reset()            { n.peer = n.defaults() }
func (n *lcp) missing() []Option { return nil }

// judge rejects what PPPoE forbids or does without: ACCM, FCS alternatives and address-and-control
// compression MUST be rejected, protocol compression is not wanted (RFC 2516 section 7); and we do
// not authenticate ourselves to a subscriber.
func (n *lcp) judge(o Option) opinion {
	switch o.Type {
	case OptMRU:
		return n.judgeMRU(o)
	case OptMagic:
		return n.judgeMagic(o)
	}
	return opinion{verdict: reject}
}

func (n *lcp) judgeMRU(o Option) opinion {
	if len(o.Data) != 2 {
		return opinion{verdict: nak, want: option16(OptMRU, n.maxMRU)} // RFC 1661 section 6
	}
	mru := binary.BigEndian.Uint16(o.Data)
	if mru < minMRU || mru > n.maxMRU {
		return opinion{verdict: nak, want: option16(OptMRU, max(minMRU, min(mru, n.maxMRU)))}
	}
	n.judged.mru = mru
	return opinion{}
}

func (n *lcp) judgeMagic(o Option) opinion {
	if len(o.Data) != 4 {
		return n.nakMagic() // RFC 1661 section 6
	}
	switch magic := binary.BigEndian.Uint32(o.Data); {
	case magic == 0:
		return n.nakMagic() // RFC 1661 section 6.4: zero is always Nak'd
	case magic == n.localMagic():
		if n.loops++; n.loops >= maxLoops {
			return opinion{cause: CauseLoopDetected}
		}
		// RFC 1661 section 6.4: suggest another, do not change ours yet. Alone: on a looped line the
		// request is our own, and rejecting our own demand for authentication would hide the loop.
		op := n.nakMagic()
		op.alone = true
		return op
	default:
		n.loops = 0
		n.judged.magic = magic
		return opinion{}
	}
}

func (n *lcp) nakMagic() opinion {
	return opinion{verdict: nak, want: option32(OptMagic, n.newMagic())}
}

func (n *lcp) rejected(o Option) Cause {
	switch o.Type {
	case OptMRU:
		n.askMRU = false
	case OptMagic:
		n.askMagic = false
	case OptAuth:
		return CauseNoAuthProtocol // RFC 1661 section 5.4: it must not be asked for again
	}
	return ""
}

func (n *lcp) nakked(o Option) Cause {
	switch o.Type {
	case OptMRU:
		n.takeMRU(o)
	case OptMagic:
		n.magic = n.newMagic() // RFC 1661 section 6.4: a new number, ours and not the peer's idea
	case OptAuth:
		return n.nextMethod(o)
	}
	return "" // options we did not ask for are suggestions (RFC 1661 section 5.3) we do not follow
}

// takeMRU follows a peer that wants to send less; it cannot make us receive more.
func (n *lcp) takeMRU(o Option) {
	if len(o.Data) != 2 {
		return
	}
	if mru := binary.BigEndian.Uint16(o.Data); mru >= minMRU && mru < n.ownMRU {
		n.ownMRU = mru
	}
}

// nextMethod strikes out the method refused, and goes to the one the peer names if we allow it, else
// to the next of our own (RFC 1661 section 6.2). Striking out bounds the exchange.
func (n *lcp) nextMethod(hint Option) Cause {
	var left []AuthMethod
	for _, m := range n.methods {
		if m != n.method {
			left = append(left, m)
		}
	}
	n.methods = left
	if len(left) == 0 {
		return CauseNoAuthProtocol
	}
	n.method = left[0]
	for _, m := range left {
		if hint.equal(Option{Type: OptAuth, Data: m.optionData()}) {
			n.method = m
		}
	}
	return ""
}
