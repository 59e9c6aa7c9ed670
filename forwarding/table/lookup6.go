package table

import (
	"sync/atomic"
	"unsafe"

	"vbng/forwarding/packet"
)

// Prefetch6 asks the cache for the first IPv6 FIB entries of a vector, which mostly is of one VRF.
func (t *Tables) Prefetch6(c *packet.Columns, l *packet.List) {
	if l.N == 0 {
		return
	}
	v := t.VRFs[c.VRF[l.Slot[0]&(packet.VectorSize-1)]].Load()
	if v == nil {
		return
	}
	for _, s := range l.Slot[:l.N] {
		i := s & (packet.VectorSize - 1)
		c.Bucket[i] = uint32(c.DestHigh[i] >> (64 - root6Bits))
	}
	packet.PrefetchWords(unsafe.Pointer(unsafe.SliceData(v.FIB6.root)), &c.Bucket, l, 0)
}

// Lookup6 fills the target column from VRF and IPv6 destination. It goes down level by level: on each it asks the
// cache for the entries of all packets that are still on their way, and then reads them.
func (t *Tables) Lookup6(c *packet.Columns, l *packet.List) {
	var under packet.List // packets whose entry leads further down; Target holds that entry meanwhile
	last := uint32(packet.None)
	var v *VRF
	for _, s := range l.Slot[:l.N] {
		i := s & (packet.VectorSize - 1)
		if c.VRF[i] != last {
			last = c.VRF[i]
			v = t.VRFs[last].Load()
		}
		if v == nil {
			c.Target[i] = 0
			continue
		}
		e := atomic.LoadUint32(&v.FIB6.root[c.DestHigh[i]>>(64-root6Bits)])
		if e&entryGroup != 0 {
			c.Target[i] = e
			under.Add(s)
			continue
		}
		c.Target[i] = uint32(leaf6(e, v.FIB6))
	}
	for bits := root6Bits + 8; under.N > 0 && bits <= deepBits; bits += 8 {
		t.descend6(c, &under, bits)
	}
	for _, s := range under.Slot[:under.N] {
		i := s & (packet.VectorSize - 1)
		c.Target[i] = t.rest6(c, i)
	}
}

// descend6 takes the packets of a list one level down and keeps those that are to go further.
func (t *Tables) descend6(c *packet.Columns, under *packet.List, bits int) {
	entries := t.Groups6.entries
	for _, s := range under.Slot[:under.N] {
		i := s & (packet.VectorSize - 1)
		c.Bucket[i] = c.Target[i]<<8 | uint32(c.DestHigh[i]>>(64-bits))&(groupSize-1)
	}
	packet.PrefetchWords(unsafe.Pointer(unsafe.SliceData(entries)), &c.Bucket, under, 0)
	kept := 0
	for _, s := range under.Slot[:under.N] {
		i := s & (packet.VectorSize - 1)
		e := atomic.LoadUint32(&entries[c.Bucket[i]])
		if e&entryGroup != 0 || isDeep(e) {
			c.Target[i] = e
			under.Slot[kept&(packet.VectorSize-1)] = s
			kept++
			continue
		}
		c.Target[i] = uint32(t.leafOf(e, c.VRF[i]))
	}
	under.N = kept
}

// rest6 looks up what lies below a /64.
func (t *Tables) rest6(c *packet.Columns, i uint8) uint32 {
	v := t.VRFs[c.VRF[i]].Load()
	if v == nil {
		return 0
	}
	return uint32(v.FIB6.descend(c.Target[i], Address6{c.DestHigh[i], c.DestLow[i]}, deepBits))
}

func (t *Tables) leafOf(e, vrf uint32) Target {
	if e != 0 {
		return Target(e & entryMask)
	}
	if v := t.VRFs[vrf].Load(); v != nil {
		return Target(v.FIB6.def.Load())
	}
	return 0
}

func leaf6(e uint32, f *FIB6) Target {
	if e == 0 {
		return Target(f.def.Load())
	}
	return Target(e & entryMask)
}
