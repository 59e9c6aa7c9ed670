package table

import (
	"sync/atomic"

	"vbng/forwarding/packet"
)

// A FIB entry: bit 31 says that the lower 24 bits are a group, otherwise they are a Target and bits 24 to
// 29 the length of the prefix that wrote it. Knowing the length, an update writes each entry once: it
// replaces what shorter prefixes wrote and leaves longer ones alone.
const (
	entryGroup  = 1 << 31
	entryMask   = 1<<24 - 1
	lengthShift = 24
	lengthMask  = 63
)

// A root has 16 bits for a VRF with few prefixes and 24 bits for one with many; below it each level has
// 8 bits. All code is the same for both.
const (
	smallRootBits = 16
	largeRootBits = 24
	// promoteAt is the number of prefixes at which a VRF gets the large root: 64 MB, which spare most
	// lookups one dependent memory access.
	promoteAt = 4096
)

type tree struct {
	root     []uint32
	rootBits int
}

// FIB is the longest-prefix match of one VRF.
type FIB struct {
	groups *Groups
	tree   atomic.Pointer[tree]
	def    atomic.Uint32 // target of the default route: never written to millions of entries
	routes int
	old    *tree // replaced, and possibly still read
}

// NewFIB returns an empty one with a small root.
func NewFIB(groups *Groups) (*FIB, error) {
	root, err := packet.NewSlab[uint32](1 << smallRootBits)
	if err != nil {
		return nil, err
	}
	f := &FIB{groups: groups}
	f.tree.Store(&tree{root, smallRootBits})
	return f, nil
}

// Lookup returns the target of the longest prefix that covers the address.
func (f *FIB) Lookup(address uint32) Target {
	t := f.tree.Load()
	return lookup(t, f.groups.entries, Target(f.def.Load()), address)
}

func lookup(t *tree, groups []uint32, def Target, address uint32) Target {
	shift := 32 - t.rootBits
	e := atomic.LoadUint32(&t.root[address>>shift])
	for e&entryGroup != 0 {
		shift -= 8
		e = atomic.LoadUint32(&groups[e&entryMask<<8|address>>shift&(groupSize-1)])
	}
	if e == 0 {
		return def
	}
	return Target(e & entryMask)
}

// Put adds a prefix that is not there, or changes its target. The error is that of reserving the large
// root; the route is in force all the same.
func (f *FIB) Put(address uint32, length int, target Target, isNew bool) error {
	if isNew {
		f.routes++
	}
	if length == 0 {
		f.def.Store(uint32(target))
		return nil
	}
	t := f.tree.Load()
	u := update{f: f, address: address, length: length, lowest: 0, entry: entryOf(length, target), split: true}
	u.level(t.root, t.rootBits)
	if f.routes >= promoteAt && t.rootBits == smallRootBits {
		return f.promote(t)
	}
	return nil
}

// Delete removes a prefix; cover is the longest remaining one over it, with length 0 for the default
// route or none.
func (f *FIB) Delete(address uint32, length int, coverLength int, cover Target) {
	f.routes--
	if length == 0 {
		f.def.Store(0)
		return
	}
	e := uint32(0)
	if coverLength > 0 {
		e = entryOf(coverLength, cover)
	}
	t := f.tree.Load()
	u := update{f: f, address: address, length: length, lowest: length, entry: e}
	u.level(t.root, t.rootBits)
}

func entryOf(length int, target Target) uint32 {
	return uint32(length)<<lengthShift | uint32(target)&entryMask
}

// Len returns how many prefixes there are.
func (f *FIB) Len() int { return f.routes }

// update is one change on its way down: entries written by a prefix of lowest to length bits are replaced.
type update struct {
	f       *FIB
	address uint32
	length  int
	lowest  int
	entry   uint32
	split   bool // make groups where there are none
}

// level applies the update to a root or group whose entries stand for the first bits bits.
func (u *update) level(entries []uint32, bits int) {
	at := int(u.address>>(32-bits)) & (len(entries) - 1)
	if u.length <= bits {
		u.fill(entries[at:at+1<<(bits-u.length)], bits)
		return
	}
	e := entries[at]
	if e&entryGroup == 0 {
		if !u.split {
			return
		}
		e = entryGroup | u.f.groups.take(e)
	}
	group := u.f.groups.group(e & entryMask)
	u.level(group, bits+8)
	if !u.split && uniform(group, bits) {
		u.f.groups.give(e & entryMask)
		e = group[0]
	}
	if e != entries[at] {
		atomic.StoreUint32(&entries[at], e)
	}
}

// fill writes the run of entries that the prefix covers, and all groups below them.
func (u *update) fill(run []uint32, bits int) {
	for i := range run {
		e := run[i]
		if e&entryGroup != 0 {
			u.fill(u.f.groups.group(e&entryMask), bits+8)
			continue
		}
		if l := int(e >> lengthShift & lengthMask); l >= u.lowest && l <= u.length {
			atomic.StoreUint32(&run[i], u.entry)
		}
	}
}

// uniform reports whether one entry of the level above, of so many bits, can stand for the whole group.
func uniform(group []uint32, bits int) bool {
	first := group[0]
	if first&entryGroup != 0 || int(first>>lengthShift&lengthMask) > bits {
		return false
	}
	for _, e := range group[1:] {
		if e != first {
			return false
		}
	}
	return true
}

// promote builds the large root from the small one and swaps it in. The groups of the third level serve
// both; those of the second become part of the root.
func (f *FIB) promote(small *tree) error {
	root, err := packet.NewSlab[uint32](1 << largeRootBits)
	if err != nil {
		return err
	}
	for i, e := range small.root {
		part := root[i*groupSize : (i+1)*groupSize]
		if e&entryGroup != 0 {
			copy(part, f.groups.group(e&entryMask))
			f.groups.give(e & entryMask)
			continue
		}
		if e == 0 {
			continue
		}
		for j := range part {
			part[j] = e
		}
	}
	f.tree.Store(&tree{root, largeRootBits})
	f.old = small
	return nil
}

// Reclaim frees a replaced root; every reader must have passed a round since.
func (f *FIB) Reclaim() {
	if f.old != nil {
		packet.FreeSlab(f.old.root)
		f.old = nil
	}
}

// Free gives the memory back. The FIB must be empty of routes and readers.
func (f *FIB) Free() {
	f.Reclaim()
	packet.FreeSlab(f.tree.Load().root)
}
