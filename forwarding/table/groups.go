package table

import (
	"fmt"
	"math/bits"

	"vbng/forwarding/packet"
)

const groupSize = 256

// Groups is the store of the second and third levels of all FIBs: groups of 256 entries.
type Groups struct {
	entries []uint32
	next    uint32 // groups from here on were never used
	free    []uint32
	resting []uint32 // given back since the last Reclaim
	// grace waits until every reader has passed a round. It is called when only resting groups are left.
	grace func()
}

// NewGroups reserves count groups.
func NewGroups(count int, grace func()) (*Groups, error) {
	if count < 1 || bits.Len(uint(count)) > 24 {
		return nil, fmt.Errorf("make FIB groups: %d do not fit 24 bits", count)
	}
	entries, err := packet.NewSlab[uint32](count * groupSize)
	if err != nil {
		return nil, err
	}
	return &Groups{entries: entries, grace: grace}, nil
}

// group returns the entries of one group.
func (g *Groups) group(index uint32) []uint32 {
	return g.entries[index*groupSize : index*groupSize+groupSize]
}

// take returns a group whose entries all are fill. There always is one: the engine bounds the routes.
func (g *Groups) take(fill uint32) uint32 {
	if len(g.free) == 0 && int(g.next)*groupSize == len(g.entries) {
		g.grace()
		g.Reclaim()
	}
	index := g.next
	if n := len(g.free); n > 0 {
		index = g.free[n-1]
		g.free = g.free[:n-1]
	} else {
		g.next++
	}
	e := g.group(index)
	for i := range e {
		e[i] = fill
	}
	return index
}

// give returns a group that no entry leads to any more.
func (g *Groups) give(index uint32) { g.resting = append(g.resting, index) }

// Reclaim makes given groups usable again; every reader must have passed a round since.
func (g *Groups) Reclaim() {
	g.free = append(g.free, g.resting...)
	g.resting = g.resting[:0]
}

// Used returns how many groups are in use or resting.
func (g *Groups) Used() int { return int(g.next) - len(g.free) }
