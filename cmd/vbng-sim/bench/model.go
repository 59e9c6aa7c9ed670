package bench

import (
	"encoding/binary"

	"vbng/forwarding/entry"
)

// model works out, slowly and from the world's plain values, where a packet goes and what it looks like
// then. It knows nothing of the engine.
type model struct {
	w        *world
	byLength [33]map[uint32]int // prefix to hop
}

func newModel(w *world) *model {
	m := &model{w: w}
	for i := range m.byLength {
		m.byLength[i] = map[uint32]int{}
	}
	for _, r := range w.routes {
		m.byLength[r.length][r.address] = r.hop
	}
	return m
}

// hop returns the next hop to an address: the longest prefix wins.
func (m *model) hop(address uint32) hop {
	for length := 32; length >= 0; length-- {
		network := address
		for bit := range 32 - length {
			network &^= 1 << bit
		}
		if i, ok := m.byLength[length][network]; ok {
			return m.w.hops[i]
		}
	}
	panic("the model has no route: templates draw from known prefixes")
}

// upstream returns the frame that leaves for an IP packet of a subscriber.
func (m *model) upstream(ip []byte) (frame []byte, port entry.PortID) {
	h := m.hop(binary.BigEndian.Uint32(ip[16:]))
	frame = append(frame, h.mac[:]...)
	frame = append(frame, m.w.coreMAC[h.port][:]...)
	frame = append(frame, 0x08, 0x00)
	return append(frame, routed(ip)...), coreID(h.port)
}

// downstream returns the frame that leaves for an IP packet to a subscriber.
func (m *model) downstream(ip []byte, to int) (frame []byte, port entry.PortID) {
	s := m.w.sessions[to]
	frame = append(frame, s.mac[:]...)
	frame = append(frame, m.w.accessMAC[s.port][:]...)
	frame = binary.BigEndian.AppendUint16(frame, tpids[s.port])
	frame = binary.BigEndian.AppendUint16(frame, s.outer)
	frame = append(frame, 0x81, 0x00)
	frame = binary.BigEndian.AppendUint16(frame, s.inner)
	frame = append(frame, 0x88, 0x64, 0x11, 0x00)
	frame = binary.BigEndian.AppendUint16(frame, s.id)
	frame = binary.BigEndian.AppendUint16(frame, uint16(len(ip)+2))
	frame = append(frame, 0x00, 0x21)
	return append(frame, routed(ip)...), accessID(s.port)
}

// routed returns the packet as a router leaves it: TTL one less, checksum made anew.
func routed(ip []byte) []byte {
	out := append([]byte{}, ip...)
	out[8]--
	out[10], out[11] = 0, 0
	binary.BigEndian.PutUint16(out[10:], headerChecksum(out[:20]))
	return out
}

func headerChecksum(header []byte) uint16 {
	sum := uint32(0)
	for i := 0; i < len(header); i += 2 {
		sum += uint32(header[i])<<8 + uint32(header[i+1])
	}
	for sum > 0xFFFF {
		sum = sum&0xFFFF + sum>>16
	}
	return ^uint16(sum)
}
