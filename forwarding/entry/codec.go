package entry

import (
	"encoding/binary"
	"net/netip"
)

// FormatVersion names the binary form of a batch, on which control and forwarder must agree. It is raised by
// every change of a layout, a kind or a verb. The form is, little-endian:
//
//	version u16, count u32, then count times: verb u8, kind u8, body
//
// A body is the fields of its struct in order, each of fixed size: integers as they are, bool as one byte
// (0 or 1), MAC as 6 bytes, an address as family u8 (0, 4, 6) and 16 bytes, a prefix as length u8 and
// address. What varies: texts of a Port (length u8 and bytes), and the hops of a Group (as many as Count).
const FormatVersion = 2

// The families of an encoded address. A zone has no meaning to the forwarder, and AppendBatch has no
// error to return: familyZoned is written so that the reader refuses it.
const (
	familyNone  = 0
	familyIPv4  = 4
	familyIPv6  = 6
	familyZoned = 255
)

// AppendBatch appends the binary form of b to buf.
func AppendBatch(buf []byte, b *Batch) []byte {
	buf = binary.LittleEndian.AppendUint16(buf, FormatVersion)
	buf = binary.LittleEndian.AppendUint32(buf, uint32(len(b.Ops)))
	for _, op := range b.Ops {
		buf = AppendOp(buf, op)
	}
	return buf
}

// AppendBatchHeader begins a batch of count ops that follow in binary form (AppendOp).
func AppendBatchHeader(buf []byte, count int) []byte {
	buf = binary.LittleEndian.AppendUint16(buf, FormatVersion)
	return binary.LittleEndian.AppendUint32(buf, uint32(count))
}

// AppendOp appends the binary form of one op. An entry of a foreign type becomes kind 0, which no reader
// accepts.
func AppendOp(buf []byte, op Op) []byte {
	w := writer(append(buf, byte(op.Verb), byte(kindOf(op.Entry))))
	switch e := op.Entry.(type) {
	case Port:
		w.port(e)
	case VRF:
		w.u32(uint32(e.ID))
		w.u32(uint32(e.TUN))
	case Interface:
		w.iface(e)
	case Local:
		w.u32(uint32(e.Interface))
		w.addr(e.Addr)
	case Neighbor:
		w.u32(uint32(e.Interface))
		w.addr(e.Addr)
		w.mac(e.MAC)
		w.bool(e.Resolved)
	case Session:
		w.session(e)
	case Echo:
		w.echo(e)
	case Group:
		w.group(&e)
	case Route:
		w.route(e)
	case Policer:
		w.policer(e)
	case Capture:
		w.capture(e)
	}
	return w
}

func kindOf(e Entry) Kind {
	switch e.(type) {
	case Port, VRF, Interface, Local, Neighbor, Session, Echo, Group, Route, Policer, Capture:
		return e.Kind()
	}
	return 0
}

// writer appends fields.
type writer []byte

func (w *writer) u8(v uint8)   { *w = append(*w, v) }
func (w *writer) u16(v uint16) { *w = binary.LittleEndian.AppendUint16(*w, v) }
func (w *writer) u32(v uint32) { *w = binary.LittleEndian.AppendUint32(*w, v) }
func (w *writer) u64(v uint64) { *w = binary.LittleEndian.AppendUint64(*w, v) }
func (w *writer) mac(m MAC)    { *w = append(*w, m[:]...) }

func (w *writer) bool(v bool) {
	if v {
		w.u8(1)
	} else {
		w.u8(0)
	}
}

// text writes at most 255 bytes; the reader's bound is lower still.
func (w *writer) text(s string) {
	s = s[:min(len(s), 255)]
	w.u8(uint8(len(s)))
	*w = append(*w, s...)
}

func (w *writer) addr(a netip.Addr) {
	family, bytes := flatten(a)
	w.u8(family)
	*w = append(*w, bytes[:]...)
}

func (w *writer) prefix(p netip.Prefix) {
	w.u8(uint8(p.Bits())) // a prefix that is not valid has -1 bits: 255
	w.addr(p.Addr())
}

// flatten gives an address its fixed form: an IPv4 address fills the first four bytes.
func flatten(a netip.Addr) (family uint8, bytes [16]byte) {
	switch {
	case !a.IsValid():
		return familyNone, bytes
	case a.Is4():
		v4 := a.As4()
		copy(bytes[:], v4[:])
		return familyIPv4, bytes
	case a.Zone() != "":
		return familyZoned, a.As16()
	}
	return familyIPv6, a.As16()
}

func (w *writer) port(p Port) {
	w.u32(uint32(p.ID))
	w.u8(uint8(p.Driver))
	w.text(p.Device)
	w.text(p.Namespace)
	w.u8(uint8(p.XDP))
	w.u16(p.MTU)
	w.mac(p.MAC)
	w.bool(p.PPPoE)
	w.bool(p.IPoE)
}

func (w *writer) iface(i Interface) {
	w.u32(uint32(i.ID))
	w.u32(uint32(i.Port))
	w.u16(i.OuterTPID)
	w.u16(i.OuterVLAN)
	w.u16(i.InnerVLAN)
	w.u32(uint32(i.VRF))
	w.mac(i.MAC)
	w.u16(i.MTU)
	w.addr(i.Source4)
	w.addr(i.Source6)
	w.u8(uint8(i.Verify))
	w.u16(i.MSS)
}

func (w *writer) session(s Session) {
	w.u64(uint64(s.ID))
	w.u32(uint32(s.Port))
	w.u16(s.OuterTPID)
	w.u16(s.OuterVLAN)
	w.u16(s.InnerVLAN)
	w.mac(s.PeerMAC)
	w.mac(s.OwnMAC)
	w.u16(s.PPPoE)
	w.u32(uint32(s.VRF))
	w.addr(s.IPv4)
	w.prefix(s.IPv6)
	w.addr(s.Gateway4)
	w.addr(s.Gateway6)
	w.addr(s.LinkLocal)
	w.u16(s.MTU)
	w.u16(s.MSS)
	w.bool(s.SourceAny)
	w.u32(s.QoSRoot)
}

func (w *writer) echo(e Echo) {
	w.u64(uint64(e.Session))
	w.u32(e.LocalMagic)
	w.u32(e.PeerMagic)
	w.u16(e.IntervalSeconds)
	w.u8(e.Misses)
	w.u16(e.PeerMRU)
}

func (w *writer) route(r Route) {
	w.u32(uint32(r.VRF))
	w.prefix(r.Prefix)
	w.target(r.Target)
	w.u8(r.CoverLength)
	w.target(r.Cover)
}

func (w *writer) target(t Target) {
	w.u8(uint8(t.Kind))
	w.u32(uint32(t.Interface))
	w.addr(t.Addr)
	w.u64(uint64(t.Session))
	w.u32(uint32(t.Group))
}

func (w *writer) group(g *Group) {
	w.u32(uint32(g.ID))
	w.u8(g.Count)
	for i := range min(int(g.Count), MaxHops) { // a reader refuses a greater count
		w.u32(uint32(g.Hops[i].Interface))
		w.addr(g.Hops[i].Addr)
	}
}

func (w *writer) capture(c Capture) {
	w.u32(uint32(c.ID))
	w.u32(uint32(c.Port))
	w.u32(uint32(c.Interface))
	w.u64(uint64(c.Session))
	w.u32(c.Packets)
	w.u16(c.SnapBytes)
}

func (w *writer) policer(p Policer) {
	w.u8(uint8(p.Class))
	w.u32(p.PacketsPerSecond)
	w.u32(p.Burst)
	w.u32(p.SourcePerSecond)
	w.u32(p.SourceBurst)
}
