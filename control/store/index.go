package store

import (
	"encoding/binary"
	"fmt"
	"sync"
)

// Indexes gives names numbers that stay the same over restarts and are never given to another name.
type Indexes struct {
	bucket *Bucket

	mu     sync.Mutex
	byName map[string]uint32
	next   uint32
}

// Indexes returns the numbering of that name, beginning at first when it is new.
func (s *Store) Indexes(name string, first uint32) (*Indexes, error) {
	x := &Indexes{bucket: s.Bucket("index-" + name), byName: map[string]uint32{}, next: first}
	err := x.bucket.ForEach(func(key, value []byte) error {
		if len(value) != 4 {
			return fmt.Errorf("index of %q has %d bytes, want 4", key, len(value))
		}
		n := binary.BigEndian.Uint32(value)
		x.byName[string(key)] = n
		x.next = max(x.next, n+1)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load indexes %s: %w", name, err)
	}
	return x, nil
}

// Index returns the number of a name, a new one when it has none. A new number is on disk before it
// is returned, which takes some milliseconds.
func (x *Indexes) Index(name string) uint32 {
	x.mu.Lock()
	defer x.mu.Unlock()
	if n, ok := x.byName[name]; ok {
		return n
	}
	n := x.next
	x.next++
	x.byName[name] = n
	x.bucket.Put([]byte(name), binary.BigEndian.AppendUint32(nil, n))
	if err := x.bucket.store.Flush(); err != nil {
		x.bucket.store.log.Error("index may change at the next start", "name", name, "index", n, "error", err)
	}
	return n
}

// Lookup returns the number of a name that has one.
func (x *Indexes) Lookup(name string) (uint32, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	n, ok := x.byName[name]
	return n, ok
}
