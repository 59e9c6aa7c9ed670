package table

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"unsafe"

	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
)

// Interface is an L3 interface; it never changes, an interface that does gets a new one.
type Interface struct {
	ID     entry.InterfaceID
	Access Access
	VRF    uint32 // slot
	MAC    entry.MAC
	MTU    uint32
	// Source4 and Source6 speak to the senders of what was received here; none: 0 and ::.
	Source4 uint32
	Source6 Address6
	Verify  entry.Verify
	MSS     uint16 // 0: any
	// Local6 are our IPv6 addresses here: few, and looked at for neighbour discovery only.
	Local6 []Address6
}

// Owns reports whether an IPv6 address is ours on the interface.
func (i *Interface) Owns(a Address6) bool { return slices.Contains(i.Local6, a) }

// VRF is a routing table; it never changes but for its FIBs.
type VRF struct {
	ID   entry.VRFID
	FIB  *FIB   // IPv4
	FIB6 *FIB6  // IPv6
	TUN  uint32 // port slot of the host stack, or packet.None
}

// Limits bounds the tables.
type Limits struct {
	Sessions, Routes, Routes6, Neighbors, Interfaces, VRFs, Groups int
}

// Tables is all that the workers share.
type Tables struct {
	Sessions    []Session
	BySession   *Hash // SessionKey to session slot
	ByAccess    *Hash // InterfaceKey to interface slot
	Local       *Hash // LocalKey: our own addresses
	Interfaces  []atomic.Pointer[Interface]
	Adjacencies []atomic.Pointer[Adjacency]
	VRFs        []atomic.Pointer[VRF]
	Groups      *Groups // of the IPv4 FIBs
	Groups6     *Groups // of the IPv6 FIBs
	deeps       *deeps
	HopGroups   []atomic.Pointer[HopGroup]
	FlowSeed    uint64 // of the hash that spreads flows over next hops
}

// LocalsPerInterface sizes the table of own addresses.
const LocalsPerInterface = 4

// New reserves tables. The seed is random; grace waits until every worker has passed a round.
func New(l Limits, seed uint64, grace func()) (*Tables, error) {
	if l.Sessions > MaxIndex || l.Neighbors > MaxIndex || l.Interfaces > MaxIndex/LocalsPerInterface || l.Groups > MaxIndex {
		return nil, fmt.Errorf("make tables: limits exceed %d", MaxIndex)
	}
	t := &Tables{
		Interfaces:  make([]atomic.Pointer[Interface], l.Interfaces),
		Adjacencies: make([]atomic.Pointer[Adjacency], l.Neighbors),
		VRFs:        make([]atomic.Pointer[VRF], l.VRFs),
		HopGroups:   make([]atomic.Pointer[HopGroup], l.Groups),
		FlowSeed:    seed,
	}
	var errs [7]error
	t.Sessions, errs[0] = packet.NewSlab[Session](l.Sessions)
	t.BySession, errs[1] = NewHash(l.Sessions+1, seed) // one that moves has two keys for a moment
	t.ByAccess, errs[2] = NewHash(l.Interfaces, seed)
	t.Local, errs[3] = NewHash(l.Interfaces*LocalsPerInterface, seed)
	// A prefix needs at most two groups of its own; what rests between two grace periods is on top.
	t.Groups, errs[4] = NewGroups(2*l.Routes+l.Routes/4+1024, grace)
	t.Groups6, errs[5] = NewGroups(Groups6(l.Routes6)+l.Routes6/4+1024, grace)
	t.deeps, errs[6] = newDeeps(l.Routes6, seed, grace)
	return t, errors.Join(errs[:]...)
}

// Groups6 is how many groups the IPv6 FIBs take at most when there may be so many prefixes: six each, which is what
// one of 57 to 64 bits needs when it lies alone. The engine refuses prefixes that could need more.
func Groups6(routes int) int { return 6 * routes }

// Reclaim makes what was deleted usable again; every worker must have passed a round since.
func (t *Tables) Reclaim() {
	t.BySession.Reclaim()
	t.ByAccess.Reclaim()
	t.Local.Reclaim()
	t.Groups.Reclaim()
	t.Groups6.Reclaim()
	t.deeps.reclaim()
	for i := range t.VRFs {
		if v := t.VRFs[i].Load(); v != nil {
			v.FIB.Reclaim()
		}
	}
}

// Prefetch asks the cache for the first FIB entries of a vector, which mostly is of one VRF.
func (t *Tables) Prefetch(c *packet.Columns, l *packet.List) {
	if l.N == 0 {
		return
	}
	v := t.VRFs[c.VRF[l.Slot[0]&(packet.VectorSize-1)]].Load()
	if v == nil {
		return
	}
	root := v.FIB.tree.Load()
	packet.PrefetchWords(unsafe.Pointer(unsafe.SliceData(root.root)), &c.Dest, l, uint(32-root.rootBits))
}

// Lookup fills the target column from VRF and destination.
func (t *Tables) Lookup(c *packet.Columns, l *packet.List) {
	groups := t.Groups.entries
	last := uint32(packet.None)
	var root *tree
	var def Target
	for _, s := range l.Slot[:l.N] {
		i := s & (packet.VectorSize - 1)
		if c.VRF[i] != last {
			last = c.VRF[i]
			v := t.VRFs[last].Load()
			if v == nil {
				root, def, last = nil, 0, packet.None
			} else {
				root, def = v.FIB.tree.Load(), Target(v.FIB.def.Load())
			}
		}
		if root == nil {
			c.Target[i] = 0
			continue
		}
		c.Target[i] = uint32(lookup(root, groups, def, c.Dest[i]))
	}
}
