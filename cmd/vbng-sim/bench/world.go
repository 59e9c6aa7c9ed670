package bench

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"

	"vbng/forwarding/entry"
)

const (
	accessPorts     = 4
	corePorts       = 4
	hopsPerPort     = 16
	firstAccess     = 1
	firstCore       = firstAccess + accessPorts
	firstInterface  = 100
	subscribersFrom = 100<<24 | 64<<16 // 100.64.0.0/10
	subscriberMTU   = 1492
)

// prefixWeights is how many prefixes of each length the Internet has, roughly: 60 in 100 are /24.
var prefixWeights = [33]int{
	8: 2, 9: 2, 10: 4, 11: 10, 12: 30, 13: 60, 14: 120, 15: 200, 16: 1350, 17: 820, 18: 1370, 19: 2500, 20: 4400,
	21: 5100, 22: 11500, 23: 10200, 24: 61500, 25: 150, 26: 150, 27: 100, 28: 120, 29: 130, 30: 100, 31: 10, 32: 82,
}

// tpids is the outer tag of each access port.
var tpids = [accessPorts]uint16{0x88a8, 0x8100, 0x9100, 0x88a8}

// hop is a next hop.
type hop struct {
	port    int // 0 to corePorts-1
	address uint32
	mac     entry.MAC
}

// session is a subscriber.
type session struct {
	port         int // 0 to accessPorts-1
	outer, inner uint16
	mac          entry.MAC
	id           uint16
	address      uint32
}

// route is a prefix of the Internet.
type route struct {
	address uint32
	length  int
	hop     int
}

// world is all that the engine is told, as plain values.
type world struct {
	accessMAC [accessPorts]entry.MAC
	coreMAC   [corePorts]entry.MAC
	hops      []hop
	sessions  []session
	routes    []route
}

func newWorld(sessions, routes int, r *rand.Rand) *world {
	w := &world{}
	for i := range w.accessMAC {
		w.accessMAC[i], w.coreMAC[i] = randomMAC(r), randomMAC(r)
	}
	for i := range corePorts * hopsPerPort {
		w.hops = append(w.hops, hop{i % corePorts, 10<<24 | uint32(i%corePorts)<<16 | uint32(i+2), randomMAC(r)})
	}
	w.addSessions(sessions, r)
	w.addRoutes(routes, r)
	return w
}

// randomMAC returns a unicast, locally administered address.
func randomMAC(r *rand.Rand) (m entry.MAC) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], r.Uint64())
	copy(m[:], b[:])
	m[0] = m[0]&^1 | 2
	return m
}

// addSessions gives each a place of its own on the access ports and an address, in no order.
func (w *world) addSessions(n int, r *rand.Rand) {
	type place struct {
		port         int
		outer, inner uint16
		id           uint16
	}
	taken := map[place]bool{}
	for i, offset := range r.Perm(n) {
		p := place{i % accessPorts, uint16(1 + r.IntN(4094)), uint16(1 + r.IntN(4094)), uint16(1 + r.IntN(65534))}
		for taken[p] {
			p.id = uint16(1 + r.IntN(65534))
		}
		taken[p] = true
		w.sessions = append(w.sessions, session{p.port, p.outer, p.inner, randomMAC(r), p.id, subscribersFrom + uint32(offset)})
	}
}

func (w *world) addRoutes(n int, r *rand.Rand) {
	total := 0
	for _, weight := range prefixWeights {
		total += weight
	}
	seen := make(map[[2]uint32]bool, n)
	for len(w.routes) < n {
		length, pick := 0, r.IntN(total)
		for pick >= prefixWeights[length] {
			pick -= prefixWeights[length]
			length++
		}
		address := r.Uint32() & uint32(^uint64(0)<<(32-length))
		key := [2]uint32{address, uint32(length)}
		if reserved(address) || seen[key] {
			continue
		}
		seen[key] = true
		w.routes = append(w.routes, route{address, length, r.IntN(len(w.hops))})
	}
}

// reserved keeps clear of what is not the Internet, and of our own addresses.
func reserved(address uint32) bool {
	top := address >> 24
	return top == 0 || top == 10 || top == 100 || top == 127 || top >= 224
}

// batches returns the world as entries, in parts that a control process would send.
func (w *world) batches() []*entry.Batch {
	const part = 10_000
	all := w.places()
	for i := range w.sessions {
		s := w.sessionEntry(i)
		all = append(all, s, entry.Route{
			Prefix: netip.PrefixFrom(s.IPv4, 32), Target: entry.Target{Kind: entry.TargetSession, Session: s.ID},
		})
	}
	for _, x := range w.routes {
		h := w.hops[x.hop]
		all = append(all, entry.Route{
			Prefix: netip.PrefixFrom(addr(x.address), x.length),
			Target: entry.Target{Kind: entry.TargetNeighbor, Interface: interfaceOf(h.port), Addr: addr(h.address)},
		})
	}
	var batches []*entry.Batch
	for len(all) > 0 {
		n := min(part, len(all))
		b := &entry.Batch{}
		b.Put(all[:n]...)
		batches, all = append(batches, b), all[n:]
	}
	return batches
}

// places returns ports, VRF, interfaces and next hops.
func (w *world) places() []entry.Entry {
	var all []entry.Entry
	for i := range accessPorts {
		all = append(all, entry.Port{
			ID: accessID(i), Driver: entry.DriverMemory, Device: fmt.Sprint("access", i), MAC: w.accessMAC[i], MTU: 1500, PPPoE: true,
		})
	}
	for i := range corePorts {
		all = append(all, entry.Port{
			ID: coreID(i), Driver: entry.DriverMemory, Device: fmt.Sprint("core", i), MAC: w.coreMAC[i], MTU: 1500,
		})
	}
	all = append(all, entry.VRF{})
	for i := range corePorts {
		all = append(all, entry.Interface{ID: interfaceOf(i), Port: coreID(i)})
	}
	for _, h := range w.hops {
		all = append(all, entry.Neighbor{Interface: interfaceOf(h.port), Addr: addr(h.address), MAC: h.mac, Resolved: true})
	}
	return all
}

func (w *world) sessionEntry(i int) entry.Session {
	s := w.sessions[i]
	return entry.Session{
		ID: entry.SessionID(i + 1), Port: accessID(s.port), OuterTPID: tpids[s.port], OuterVLAN: s.outer, InnerVLAN: s.inner,
		PeerMAC: s.mac, OwnMAC: w.accessMAC[s.port], PPPoE: s.id, IPv4: addr(s.address), MTU: subscriberMTU,
	}
}

func accessID(i int) entry.PortID         { return entry.PortID(firstAccess + i) }
func coreID(i int) entry.PortID           { return entry.PortID(firstCore + i) }
func interfaceOf(i int) entry.InterfaceID { return entry.InterfaceID(firstInterface + i) }

func addr(a uint32) netip.Addr {
	return netip.AddrFrom4([4]byte{byte(a >> 24), byte(a >> 16), byte(a >> 8), byte(a)})
}
