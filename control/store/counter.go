package store

import (
	"encoding/binary"
	"fmt"
	"sync"
)

const (
	counterBucket = "counters"
	// block is how many identifiers one write reserves; a crash skips what is left of it.
	block = 1 << 14
)

// Counter hands out numbers that are never handed out again, also after a crash: it uses only those
// that lie below a limit on disk, and raises the limit by blocks, ahead of need.
type Counter struct {
	bucket *Bucket
	key    []byte

	mu    sync.Mutex
	next  uint64
	limit uint64 // on disk
	asked uint64 // on its way to the disk
}

// Counter returns the counter of that name; a new one begins at 1.
func (s *Store) Counter(name string) (*Counter, error) {
	value, err := s.read(counterBucket, name)
	if err != nil {
		return nil, fmt.Errorf("load counter %s: %w", name, err)
	}
	c := &Counter{bucket: s.Bucket(counterBucket), key: []byte(name), next: 1}
	switch len(value) {
	case 0:
	case 8:
		c.next = binary.BigEndian.Uint64(value)
	default:
		return nil, fmt.Errorf("load counter %s: %d bytes, want 8", name, len(value))
	}
	c.ask(c.next + block)
	if err := s.Flush(); err != nil {
		return nil, fmt.Errorf("reserve for counter %s: %w", name, err)
	}
	c.limit = c.asked
	return c, nil
}

// Next returns the next number. It waits for the disk only when a whole block was used up faster than
// half a block's reservation took to be written.
func (c *Counter) Next() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.next
	c.next++
	if c.asked == c.limit && c.limit-c.next < block/2 {
		c.ask(c.limit + block)
	}
	if c.next == c.limit {
		if err := c.bucket.store.Flush(); err != nil {
			c.bucket.store.log.Error("numbers may repeat after a crash", "counter", string(c.key), "error", err)
		}
		c.limit = c.asked
	}
	return n
}

func (c *Counter) ask(limit uint64) {
	c.asked = limit
	c.bucket.Put(c.key, binary.BigEndian.AppendUint64(nil, limit))
}
