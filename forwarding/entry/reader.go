package entry

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

// Any is one decoded op: the field that Kind names holds the entry, the others are stale.
type Any struct {
	Verb      Verb
	Kind      Kind
	Port      Port
	VRF       VRF
	Interface Interface
	Local     Local
	Neighbor  Neighbor
	Session   Session
	Echo      Echo
	Group     Group
	Route     Route
	Policer   Policer
	Capture   Capture
}

// Entry returns the decoded entry as a value of its own.
func (a *Any) Entry() Entry {
	switch a.Kind {
	case KindPort:
		return a.Port
	case KindVRF:
		return a.VRF
	case KindInterface:
		return a.Interface
	case KindLocal:
		return a.Local
	case KindNeighbor:
		return a.Neighbor
	case KindSession:
		return a.Session
	case KindEcho:
		return a.Echo
	case KindGroup:
		return a.Group
	case KindRoute:
		return a.Route
	case KindPolicer:
		return a.Policer
	case KindCapture:
		return a.Capture
	}
	return nil
}

// FormatError tells that bytes are no batch: where decoding stopped and why.
type FormatError struct {
	Offset int // in the encoded batch
	Op     int
	Reason string
}

// Error implements error.
func (e *FormatError) Error() string {
	return fmt.Sprintf("decode batch: entry %d, byte %d: %s", e.Op, e.Offset, e.Reason)
}

// Reader decodes a batch op by op.
type Reader struct {
	cursor cursor
	count  int
	op     int
	err    error
}

// NewReader returns a reader of an encoded batch. A bad header shows at the first Next.
func NewReader(encoded []byte) Reader {
	r := Reader{cursor: cursor{bytes: encoded}}
	version := r.cursor.u16()
	r.count = int(r.cursor.u32())
	switch {
	case r.cursor.short:
		r.err = r.format("shorter than a batch header")
	case version != FormatVersion:
		r.err = r.format(fmt.Sprintf("format version %d, this side has %d", version, FormatVersion))
	}
	return r
}

// Op returns the index of the op that Next decoded last.
func (r *Reader) Op() int { return r.op - 1 }

// Count returns how many ops the batch's header promises.
func (r *Reader) Count() int { return r.count }

// Next decodes the next op into a; more is false at the batch's end. The error is a *FormatError, or a
// *Refused for a value that no forwarder accepts; either is final. Next allocates nothing but a Port's texts.
func (r *Reader) Next(a *Any) (more bool, err error) {
	if r.err != nil {
		return false, r.err
	}
	if r.op == r.count {
		if r.cursor.at != len(r.cursor.bytes) {
			r.err = r.format(fmt.Sprintf("%d bytes behind the last entry", len(r.cursor.bytes)-r.cursor.at))
		}
		return false, r.err
	}
	r.cursor.op(a)
	r.err = r.check(a)
	r.op++
	return r.err == nil, r.err
}

func (r *Reader) check(a *Any) error {
	switch {
	case r.cursor.short:
		return r.format("cut off")
	case r.cursor.reason != "":
		return r.format(r.cursor.reason)
	}
	if reason := a.check(); reason != "" {
		return &Refused{Op: r.op, Reason: reason}
	}
	return nil
}

func (r *Reader) format(reason string) error {
	return &FormatError{Offset: r.cursor.at, Op: r.op, Reason: reason}
}

// cursor reads fields; running out of bytes sets short and gives zeros from there on.
type cursor struct {
	bytes  []byte
	at     int
	short  bool
	reason string // first malformed field
}

// zeros is what a cursor reads behind the end; no field is longer.
var zeros [64]byte

func (c *cursor) take(n int) []byte {
	if len(c.bytes)-c.at < n {
		c.short = true
		return zeros[:n]
	}
	c.at += n
	return c.bytes[c.at-n : c.at]
}

func (c *cursor) malformed(reason string) {
	if c.reason == "" {
		c.reason = reason
	}
}

func (c *cursor) u8() uint8   { return c.take(1)[0] }
func (c *cursor) u16() uint16 { return binary.LittleEndian.Uint16(c.take(2)) }
func (c *cursor) u32() uint32 { return binary.LittleEndian.Uint32(c.take(4)) }
func (c *cursor) u64() uint64 { return binary.LittleEndian.Uint64(c.take(8)) }
func (c *cursor) mac() MAC    { return MAC(c.take(6)) }

func (c *cursor) bool() bool {
	v := c.u8()
	if v > 1 {
		c.malformed("truth value is neither 0 nor 1")
	}
	return v == 1
}

// text copies; what is longer than limit is malformed.
func (c *cursor) text(limit int) string {
	n := int(c.u8())
	if n > limit {
		c.malformed("text is too long")
		return ""
	}
	return string(c.take(n))
}

func (c *cursor) addr() netip.Addr {
	family := c.u8()
	b := [16]byte(c.take(16))
	switch family {
	case familyIPv4:
		if [12]byte(b[4:]) != [12]byte{} {
			c.malformed("IPv4 address is not padded with zeros")
		}
		return netip.AddrFrom4([4]byte(b[:4]))
	case familyIPv6:
		return netip.AddrFrom16(b)
	case familyNone:
		if b != [16]byte{} {
			c.malformed("absent address is not zero")
		}
	case familyZoned:
		c.malformed("address has a zone")
	default:
		c.malformed("unknown address family")
	}
	return netip.Addr{}
}

func (c *cursor) prefix() netip.Prefix {
	bits := c.u8()
	addr := c.addr()
	if bits == 255 || !addr.IsValid() || int(bits) > addr.BitLen() {
		return netip.Prefix{} // not valid; the value check names it
	}
	return netip.PrefixFrom(addr, int(bits))
}

func (c *cursor) op(a *Any) {
	a.Verb, a.Kind = Verb(c.u8()), Kind(c.u8())
	switch a.Kind {
	case KindPort:
		a.Port = c.port()
	case KindVRF:
		a.VRF = VRF{ID: VRFID(c.u32()), TUN: PortID(c.u32())}
	case KindInterface:
		a.Interface = c.iface()
	case KindLocal:
		a.Local = Local{Interface: InterfaceID(c.u32()), Addr: c.addr()}
	case KindNeighbor:
		a.Neighbor = Neighbor{Interface: InterfaceID(c.u32()), Addr: c.addr(), MAC: c.mac(), Resolved: c.bool()}
	case KindSession:
		a.Session = c.session()
	case KindEcho:
		a.Echo = c.echo()
	case KindGroup:
		c.group(&a.Group)
	case KindRoute:
		a.Route = c.route()
	case KindPolicer:
		a.Policer = c.policer()
	case KindCapture:
		a.Capture = c.capture()
	default:
		c.malformed("unknown kind of entry")
	}
	if a.Verb != Put && a.Verb != Delete {
		c.malformed("unknown verb")
	}
}

// Composite literals below name the fields in the order of the layout: Go evaluates their calls from
// left to right.

func (c *cursor) port() Port {
	return Port{
		ID:        PortID(c.u32()),
		Driver:    Driver(c.u8()),
		Device:    c.text(MaxDeviceBytes),
		Namespace: c.text(MaxDeviceBytes),
		XDP:       XDPMode(c.u8()),
		MTU:       c.u16(),
		MAC:       c.mac(),
		PPPoE:     c.bool(),
		IPoE:      c.bool(),
	}
}

func (c *cursor) iface() Interface {
	return Interface{
		ID:        InterfaceID(c.u32()),
		Port:      PortID(c.u32()),
		OuterTPID: c.u16(),
		OuterVLAN: c.u16(),
		InnerVLAN: c.u16(),
		VRF:       VRFID(c.u32()),
		MAC:       c.mac(),
		MTU:       c.u16(),
		Source4:   c.addr(),
		Source6:   c.addr(),
		Verify:    Verify(c.u8()),
		MSS:       c.u16(),
	}
}

func (c *cursor) session() Session {
	return Session{
		ID:        SessionID(c.u64()),
		Port:      PortID(c.u32()),
		OuterTPID: c.u16(),
		OuterVLAN: c.u16(),
		InnerVLAN: c.u16(),
		PeerMAC:   c.mac(),
		OwnMAC:    c.mac(),
		PPPoE:     c.u16(),
		VRF:       VRFID(c.u32()),
		IPv4:      c.addr(),
		IPv6:      c.prefix(),
		Gateway4:  c.addr(),
		Gateway6:  c.addr(),
		LinkLocal: c.addr(),
		MTU:       c.u16(),
		MSS:       c.u16(),
		SourceAny: c.bool(),
		QoSRoot:   c.u32(),
	}
}

func (c *cursor) echo() Echo {
	return Echo{
		Session:         SessionID(c.u64()),
		LocalMagic:      c.u32(),
		PeerMagic:       c.u32(),
		IntervalSeconds: c.u16(),
		Misses:          c.u8(),
		PeerMRU:         c.u16(),
	}
}

func (c *cursor) route() Route {
	return Route{
		VRF:         VRFID(c.u32()),
		Prefix:      c.prefix(),
		Target:      c.target(),
		CoverLength: c.u8(),
		Cover:       c.target(),
	}
}

func (c *cursor) target() Target {
	return Target{
		Kind:      TargetKind(c.u8()),
		Interface: InterfaceID(c.u32()),
		Addr:      c.addr(),
		Session:   SessionID(c.u64()),
		Group:     GroupID(c.u32()),
	}
}

// group decodes in place: a Group is large.
func (c *cursor) group(g *Group) {
	*g = Group{ID: GroupID(c.u32()), Count: c.u8()}
	if g.Count > MaxHops {
		c.malformed("group of more than 64 next hops")
		return
	}
	for i := range g.Count {
		g.Hops[i] = Hop{Interface: InterfaceID(c.u32()), Addr: c.addr()}
	}
}

func (c *cursor) capture() Capture {
	return Capture{
		ID:        CaptureID(c.u32()),
		Port:      PortID(c.u32()),
		Interface: InterfaceID(c.u32()),
		Session:   SessionID(c.u64()),
		Packets:   c.u32(),
		SnapBytes: c.u16(),
	}
}

func (c *cursor) policer() Policer {
	return Policer{
		Class:            Class(c.u8()),
		PacketsPerSecond: c.u32(),
		Burst:            c.u32(),
		SourcePerSecond:  c.u32(),
		SourceBurst:      c.u32(),
	}
}
