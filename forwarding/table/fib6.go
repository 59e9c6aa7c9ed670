package table

import (
	"sync/atomic"

	"vbng/forwarding/packet"
)

// The IPv6 FIB has a root of 16 bits, and below it groups of 8 bits each, down to bit 64 as they are needed. Where a
// /64 has longer prefixes its entry leads to further groups (65 to 126 bits) and by a deep record to a hash (127 and
// 128 bits). An entry is like one of IPv4, with a length field of seven bits.
const (
	root6Bits = 16
	deepBits  = 64
)

// FIB6 is the longest-prefix match of one VRF for IPv6.
type FIB6 struct {
	groups *Groups
	deeps  *deeps
	root   []uint32
	def    atomic.Uint32 // target of the default route
	routes int
}

// NewFIB6 returns an empty one, of 256 KB.
func NewFIB6(t *Tables) (*FIB6, error) {
	root, err := packet.NewSlab[uint32](1 << root6Bits)
	if err != nil {
		return nil, err
	}
	return &FIB6{groups: t.Groups6, deeps: t.deeps, root: root}, nil
}

// GroupsOf6 returns how many groups a prefix takes at most.
func GroupsOf6(length int) int {
	switch {
	case length <= root6Bits:
		return 0
	case length >= 127:
		return (deepBits - root6Bits) / 8
	}
	return (length - root6Bits + 7) / 8
}

// Lookup returns the target of the longest prefix that covers the address.
func (f *FIB6) Lookup(a Address6) Target {
	e := atomic.LoadUint32(&f.root[a.High>>(64-root6Bits)])
	return f.descend(e, a, root6Bits)
}

// descend follows an entry of the level of so many bits.
func (f *FIB6) descend(e uint32, a Address6, bits int) Target {
	for {
		if isDeep(e) {
			target, found, rest := f.deeps.lookup(e, a.Low)
			if found {
				return target
			}
			e = rest
		}
		if e&entryGroup == 0 {
			break
		}
		bits += 8
		e = atomic.LoadUint32(&f.groups.entries[e&entryMask<<8|a.index(bits)])
	}
	if e == 0 {
		return Target(f.def.Load())
	}
	return Target(e & entryMask)
}

// Len returns how many prefixes there are.
func (f *FIB6) Len() int { return f.routes }

// Put adds a prefix that is not there, or changes its target.
func (f *FIB6) Put(a Address6, length int, target Target, isNew bool) {
	if isNew {
		f.routes++
	}
	switch {
	case length == 0:
		f.def.Store(uint32(target))
	case length >= 127:
		u := update6{f: f, address: a, length: length, target: target, isNew: isNew, split: true}
		u.level(f.root, root6Bits)
	default:
		u := update6{f: f, address: a, length: length, entry: entryOf(length, target), split: true}
		u.level(f.root, root6Bits)
	}
}

// Delete removes a prefix; cover is the longest remaining one over it, with length 0 for the default route or none.
// Of a prefix of 128 bits the cover may be the one of 127; it is not needed, the hash knows it.
func (f *FIB6) Delete(a Address6, length int, coverLength int, cover Target) {
	f.routes--
	if length == 0 {
		f.def.Store(0)
		return
	}
	u := update6{f: f, address: a, length: length, lowest: length}
	if coverLength > 0 {
		u.entry = entryOf(coverLength, cover)
	}
	u.level(f.root, root6Bits)
}

// update6 is one change on its way down, as update is for IPv4.
type update6 struct {
	f       *FIB6
	address Address6
	length  int
	lowest  int
	entry   uint32
	split   bool // a Put: make groups where there are none
	target  Target
	isNew   bool
}

// level applies the update to the root or a group whose entries stand for the first bits bits.
func (u *update6) level(entries []uint32, bits int) {
	at := int(u.address.index(bits))
	if bits == root6Bits {
		at = int(u.address.High >> (64 - root6Bits))
	}
	if u.length <= bits {
		u.fill(entries[at:at+1<<(bits-u.length)], bits)
		return
	}
	if bits == deepBits {
		u.below64(&entries[at])
		return
	}
	u.below(&entries[at], bits)
}

// below64 changes what lies below the entry of a /64.
func (u *update6) below64(at *uint32) {
	d := u.f.deeps
	switch {
	case u.length < 127 && isDeep(*at):
		u.below(&d.records[*at&entryMask].entry, deepBits)
	case u.length < 127:
		u.below(at, deepBits)
	case u.split && isDeep(*at):
		d.put(*at&entryMask, u.address.Low, u.length, u.target, u.isNew)
	case u.split:
		record := d.take(*at)
		d.put(record, u.address.Low, u.length, u.target, true)
		atomic.StoreUint32(at, entryDeep|record)
	case isDeep(*at):
		record := *at & entryMask
		if d.remove(record, u.address.Low, u.length) {
			atomic.StoreUint32(at, d.records[record].entry)
			d.give(record)
		}
	}
}

// below changes the group below an entry of the level of so many bits, and makes or dissolves it.
func (u *update6) below(at *uint32, bits int) {
	e := *at
	if e&entryGroup == 0 {
		if !u.split {
			return
		}
		e = entryGroup | u.f.groups.take(e)
	}
	group := u.f.groups.group(e & entryMask)
	u.level(group, bits+8)
	if !u.split && uniform6(group, bits) {
		u.f.groups.give(e & entryMask)
		e = group[0]
	}
	if e != *at {
		atomic.StoreUint32(at, e)
	}
}

// fill writes the run of entries that the prefix covers, and all below them.
func (u *update6) fill(run []uint32, bits int) {
	for i := range run {
		at := &run[i]
		if isDeep(*at) {
			at = &u.f.deeps.records[*at&entryMask].entry
		}
		e := *at
		if e&entryGroup != 0 {
			u.fill(u.f.groups.group(e&entryMask), bits+8)
			continue
		}
		if l := int(e >> lengthShift & length6Mask); l >= u.lowest && l <= u.length {
			atomic.StoreUint32(at, u.entry)
		}
	}
}

// uniform6 reports whether one entry of the level above, of so many bits, can stand for the whole group.
func uniform6(group []uint32, bits int) bool {
	first := group[0]
	if first&entryGroup != 0 || int(first>>lengthShift&length6Mask) > bits { // a deep one's length field is the greatest
		return false
	}
	for _, e := range group[1:] {
		if e != first {
			return false
		}
	}
	return true
}

// Free gives the memory back. The FIB must be empty of routes and readers.
func (f *FIB6) Free() { packet.FreeSlab(f.root) }
