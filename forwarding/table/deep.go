package table

import (
	"sync/atomic"

	"vbng/forwarding/packet"
)

// A deep entry of an IPv6 FIB stands for a /64 with prefixes of 127 or 128 bits: those lie in a hash and cost
// 16 bytes each, while by strides a lone one would cost eight groups of 1 KB. The entry's length field is
// entryDeep, and its lower 24 bits are the number of a record.
const entryDeep = 127 << lengthShift

// length6Mask is the length field of an IPv6 entry, of seven bits; only lengths up to 126 stand in entries.
const length6Mask = 127

// deep is the record of such a /64.
type deep struct {
	entry uint32 // what would stand in the record's place: a leaf, or the group of prefixes of 65 to 126 bits
	hosts uint32 // /128s in the hash
	pairs uint32 // /127s in the hash
}

// deeps is the store of the records and of the hash of all IPv6 FIBs.
type deeps struct {
	records []deep
	fresh   uint32 // records from here on were never used
	free    []uint32
	resting []uint32
	hosts   *Hash
	grace   func()
}

func newDeeps(count int, seed uint64, grace func()) (*deeps, error) {
	records, err := packet.NewSlab[deep](count)
	if err != nil {
		return nil, err
	}
	hosts, err := NewHash(count, seed)
	return &deeps{records: records, hosts: hosts, grace: grace}, err
}

func isDeep(e uint32) bool { return e&(entryGroup|entryDeep) == entryDeep }

// take returns the number of a record with an entry. There always is one: the engine bounds the routes.
func (d *deeps) take(entry uint32) uint32 {
	if len(d.free) == 0 && int(d.fresh) == len(d.records) {
		d.grace()
		d.reclaim()
	}
	index := d.fresh
	if n := len(d.free); n > 0 {
		index = d.free[n-1]
		d.free = d.free[:n-1]
	} else {
		d.fresh++
	}
	d.records[index] = deep{entry: entry}
	return index
}

func (d *deeps) give(index uint32) { d.resting = append(d.resting, index) }

func (d *deeps) reclaim() {
	d.free = append(d.free, d.resting...)
	d.resting = d.resting[:0]
	d.hosts.Reclaim()
}

// used returns how many records are in use or resting.
func (d *deeps) used() int { return int(d.fresh) - len(d.free) }

// hostKey is the key of a /127 or /128 inside the /64 of a record. A key's lower word is never 0, so the address
// 0 is told by a bit of the upper one.
func hostKey(record uint32, low uint64, length int) Key {
	high := uint64(record) | uint64(length&1)<<24
	if low == 0 {
		return Key{Low: 1, High: high | 1<<25}
	}
	return Key{Low: low, High: high}
}

// put inserts or changes a prefix of 127 or 128 bits.
func (d *deeps) put(record uint32, low uint64, length int, target Target, isNew bool) {
	key := hostKey(record, low, length)
	if !isNew {
		d.hosts.Replace(key, uint32(target))
		return
	}
	if !d.hosts.Insert(key, uint32(target)) {
		d.grace()
		d.hosts.Reclaim()
		if !d.hosts.Insert(key, uint32(target)) {
			panic("IPv6 host table is full although the engine bounds the routes")
		}
	}
	atomic.AddUint32(d.counter(record, length), 1)
}

// remove deletes a prefix of 127 or 128 bits and reports whether the record has no further one.
func (d *deeps) remove(record uint32, low uint64, length int) bool {
	atomic.AddUint32(d.counter(record, length), ^uint32(0))
	d.hosts.Delete(hostKey(record, low, length))
	return d.records[record].hosts == 0 && d.records[record].pairs == 0
}

func (d *deeps) counter(record uint32, length int) *uint32 {
	if length == 128 {
		return &d.records[record].hosts
	}
	return &d.records[record].pairs
}

// lookup returns the target of a /128 or /127, or what else stands in the record's place.
func (d *deeps) lookup(e uint32, low uint64) (target Target, found bool, rest uint32) {
	record := e & entryMask
	r := &d.records[record]
	if atomic.LoadUint32(&r.hosts) > 0 {
		if v, ok := d.hosts.Find(hostKey(record, low, 128)); ok {
			return Target(v), true, 0
		}
	}
	if atomic.LoadUint32(&r.pairs) > 0 {
		if v, ok := d.hosts.Find(hostKey(record, low&^1, 127)); ok {
			return Target(v), true, 0
		}
	}
	return 0, false, atomic.LoadUint32(&r.entry)
}
