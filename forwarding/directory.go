package forwarding

import (
	"net/netip"

	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
	"vbng/forwarding/port"
	"vbng/forwarding/table"
)

// directory is what the writer knows of all entries: keys, slots, who refers to whom, and in which
// generation an entry was put last. Workers never see it.
type directory struct {
	limits     Limits
	generation uint64

	ports      map[entry.PortID]*portInfo
	vrfs       map[entry.VRFID]*vrfInfo
	interfaces map[entry.InterfaceID]*interfaceInfo
	accesses   map[table.Access]*interfaceInfo
	locals     map[localKey]*localInfo
	neighbors  map[localKey]*neighborInfo
	policers   [entry.NumClasses]policerInfo
	groups     map[entry.GroupID]*groupInfo
	routes6    map[route6Key]route6Info
	captures   map[entry.CaptureID]*captureInfo
	groups6    int // FIB groups that routes6 take at most

	sessions        []sessionInfo // by slot
	sessionByID     *table.Hash
	sessionByAccess *table.Hash
	routes          []routeInfo // by slot, which is the writer's own
	routeByPrefix   *table.Hash
	references      [entry.NumKinds][]uint32 // by slot
	free            [entry.NumKinds]slots
}

type portInfo struct {
	entry      entry.Port
	slot       uint32
	generation uint64
	opened     port.Port // nil: it could not be opened again
	state      entry.PortState
	before     entry.PortCounters // of drivers that were closed
}

type vrfInfo struct {
	entry      entry.VRF
	fib        *table.FIB
	fib6       *table.FIB6
	tun        uint32 // port slot or packet.None
	slot       uint32
	generation uint64
}

type interfaceInfo struct {
	entry      entry.Interface
	slot       uint32
	generation uint64
	access     table.Access
	port, vrf  uint32 // slots
}

// localKey is the key of a Local and of a Neighbor.
type localKey struct {
	Interface entry.InterfaceID
	addr      netip.Addr
}

type localInfo struct {
	entry      entry.Local
	on         *interfaceInfo
	generation uint64
}

type neighborInfo struct {
	entry      entry.Neighbor
	on         *interfaceInfo
	slot       uint32
	generation uint64
}

type policerInfo struct {
	entry      entry.Policer
	generation uint64
	set        bool
}

// sessionInfo is what the writer remembers of a session. It holds no pointers: there may be many.
type sessionInfo struct {
	id             entry.SessionID // 0: free
	key            table.Key       // access
	port, vrf      uint32          // slots
	generation     uint64
	echoGeneration uint64
	echo           bool
}

// routeInfo is an IPv4 prefix. It holds no pointers.
type routeInfo struct {
	address    uint32
	length     uint8
	used       bool
	vrf        uint32 // slot
	target     table.Target
	generation uint64
}

func newDirectory(l Limits, seed uint64) (*directory, error) {
	d := &directory{
		limits:     l,
		ports:      make(map[entry.PortID]*portInfo, l.Ports),
		vrfs:       make(map[entry.VRFID]*vrfInfo, l.VRFs),
		interfaces: map[entry.InterfaceID]*interfaceInfo{},
		accesses:   map[table.Access]*interfaceInfo{},
		locals:     map[localKey]*localInfo{},
		neighbors:  map[localKey]*neighborInfo{},
		groups:     map[entry.GroupID]*groupInfo{},
		routes6:    map[route6Key]route6Info{},
		captures:   map[entry.CaptureID]*captureInfo{},
	}
	for kind, limit := range map[entry.Kind]int{
		entry.KindPort: l.Ports, entry.KindVRF: l.VRFs, entry.KindInterface: l.Interfaces,
		entry.KindNeighbor: l.Neighbors, entry.KindSession: l.Sessions, entry.KindRoute: l.Routes, entry.KindGroup: l.Groups,
	} {
		if err := d.reserve(kind, limit); err != nil {
			return nil, err
		}
	}
	var err error
	if d.sessions, err = packet.NewSlab[sessionInfo](l.Sessions); err != nil {
		return nil, err
	}
	if d.routes, err = packet.NewSlab[routeInfo](l.Routes); err != nil {
		return nil, err
	}
	if d.sessionByID, err = table.NewHash(l.Sessions, seed); err != nil {
		return nil, err
	}
	if d.sessionByAccess, err = table.NewHash(l.Sessions, seed); err != nil {
		return nil, err
	}
	d.routeByPrefix, err = table.NewHash(l.Routes, seed)
	return d, err
}

func (d *directory) reserve(kind entry.Kind, limit int) (err error) {
	if d.free[kind].list, err = packet.NewSlab[uint32](limit); err != nil {
		return err
	}
	d.references[kind], err = packet.NewSlab[uint32](limit)
	return err
}

// slots gives out the slots of one kind, the one freed last first.
type slots struct {
	list    []uint32 // memory for free ones
	count   int      // free ones in list
	next    uint32   // from here on never used
	resting []uint32 // freed, but perhaps still read
}

func (s *slots) take() (uint32, bool) {
	if s.count > 0 {
		s.count--
		return s.list[s.count], true
	}
	if int(s.next) == len(s.list) {
		return 0, false
	}
	s.next++
	return s.next - 1, true
}

// give takes a slot back that no worker has seen.
func (s *slots) give(slot uint32) {
	s.list[s.count] = slot
	s.count++
}

// rest takes a slot back that workers may still look at.
func (s *slots) rest(slot uint32) { s.resting = append(s.resting, slot) }

// unrest undoes the last rest.
func (s *slots) unrest() { s.resting = s.resting[:len(s.resting)-1] }

// reclaim frees the resting ones.
func (s *slots) reclaim() {
	for _, slot := range s.resting {
		s.give(slot)
	}
	s.resting = s.resting[:0]
}

func (d *directory) reclaim() {
	for i := range d.free {
		d.free[i].reclaim()
	}
}

func (d *directory) hold(kind entry.Kind, slot uint32)    { d.references[kind][slot]++ }
func (d *directory) release(kind entry.Kind, slot uint32) { d.references[kind][slot]-- }

// holdTarget counts a route's reference to what it leads to.
func (d *directory) holdTarget(t table.Target, change uint32) {
	switch t.Kind() {
	case table.KindConnected:
		d.references[entry.KindInterface][t.Index()] += change
	case table.KindNeighbor:
		d.references[entry.KindNeighbor][t.Index()] += change
	case table.KindSession:
		d.references[entry.KindSession][t.Index()] += change
	case table.KindGroup:
		d.references[entry.KindGroup][t.Index()] += change
	}
}

func (d *directory) session(id entry.SessionID) (uint32, bool) {
	return d.sessionByID.Find(sessionIDKey(id))
}

func sessionIDKey(id entry.SessionID) table.Key { return table.Key{Low: uint64(id)} }

// routeKey is the hash key of a prefix.
func routeKey(vrf, address uint32, length uint8) table.Key {
	return table.Key{Low: 1<<63 | uint64(address)<<8 | uint64(length), High: uint64(vrf)}
}

func (d *directory) route(vrf, address uint32, length uint8) (uint32, bool) {
	return d.routeByPrefix.Find(routeKey(vrf, address, length))
}

// cover searches the longest prefix over another one; length 0 is the default route or none.
func (d *directory) cover(vrf, address uint32, length uint8) (uint8, table.Target) {
	for l := int(length) - 1; l > 0; l-- {
		if slot, ok := d.route(vrf, address&uint32(^uint64(0)<<(32-l)), uint8(l)); ok {
			return uint8(l), d.routes[slot].target
		}
	}
	return 0, 0
}

// forget removes a key from a hash that only the writer reads.
func forget(h *table.Hash, k table.Key) {
	h.Delete(k)
	h.Reclaim()
}
