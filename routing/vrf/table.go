package vrf

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"vbng/forwarding/entry"
)

// The names of what needs no line in the configuration.
const (
	Default    = "default"    // the default VRF; the empty name means it as well
	Management = "management" // the host's own stack
)

// FirstID is what the numbering of VRFs begins with.
const FirstID = 1

// Indexes gives names numbers that stay the same over restarts (control/store has them).
type Indexes interface {
	Index(name string) uint32
}

// Table is the numbers of the VRFs by name. Its methods may be called from any goroutine.
type Table struct {
	indexes Indexes

	mu    sync.RWMutex
	names map[entry.VRFID]string
}

// NewTable returns a table on a numbering that begins with FirstID. It may be nil where nothing is
// numbered (checks of a configuration alone).
func NewTable(indexes Indexes) *Table {
	return &Table{indexes: indexes, names: map[entry.VRFID]string{0: Default}}
}

// ID returns the number of a VRF. A name that has none yet gets one, which takes some milliseconds.
func (t *Table) ID(name string) entry.VRFID {
	if name == "" || name == Default {
		return 0
	}
	id := entry.VRFID(t.indexes.Index(name))
	t.mu.Lock()
	t.names[id] = name
	t.mu.Unlock()
	return id
}

// Lookup returns the number of a VRF that has been asked for since the start. Unlike ID it gives none away: for
// names that an operator may have mistyped.
func (t *Table) Lookup(name string) (id entry.VRFID, ok bool) {
	if name == "" {
		name = Default
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	for id, n := range t.names {
		if n == name {
			return id, true
		}
	}
	return 0, false
}

// Name returns the name of a VRF, its number in digits when nobody asked for its number yet.
func (t *Table) Name(id entry.VRFID) string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if name, ok := t.names[id]; ok {
		return name
	}
	return strconv.FormatUint(uint64(id), 10)
}

// Names returns the VRFs that have been asked for since the start, in order, without the default one.
func (t *Table) Names() []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	names := make([]string, 0, len(t.names))
	for id, name := range t.names {
		if id != 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Device returns the name of a VRF's TUN.
func Device(id entry.VRFID) string { return devicePrefix + strconv.FormatUint(uint64(id), 10) }

const devicePrefix = "vbng"

// OwnDevice reports whether a device's name is one of those that Device gives.
func OwnDevice(name string) bool {
	digits, ok := strings.CutPrefix(name, devicePrefix)
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}
