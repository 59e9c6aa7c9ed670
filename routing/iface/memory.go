package iface

import (
	"encoding/binary"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"vbng/forwarding/entry"
)

// Memory keeps resolved neighbours over a restart of control, so that the forwarder, which went on
// meanwhile, is not told that they are unknown. A bucket of control/store is one.
type Memory interface {
	Put(key, value []byte)
	Delete(key []byte)
	ForEach(f func(key, value []byte) error) error
}

// remembered are the neighbours of an earlier control.
type remembered map[entry.InterfaceID]map[netip.Addr]entry.MAC

// A key is the interface, 4 bytes, and the address.
const (
	rememberedKeyBytes4 = 4 + 4
	rememberedKeyBytes6 = 4 + 16
)

func memoryKey(id entry.InterfaceID, addr netip.Addr) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(id)), addr.AsSlice()...)
}

// load reads what an earlier control remembered.
func load(m Memory) (remembered, error) {
	all := remembered{}
	if m == nil {
		return all, nil
	}
	err := m.ForEach(func(key, value []byte) error {
		if len(key) != rememberedKeyBytes4 && len(key) != rememberedKeyBytes6 || len(value) != len(entry.MAC{}) {
			return fmt.Errorf("neighbour %x has %d bytes", key, len(value))
		}
		id := entry.InterfaceID(binary.BigEndian.Uint32(key))
		if all[id] == nil {
			all[id] = map[netip.Addr]entry.MAC{}
		}
		addr, _ := netip.AddrFromSlice(key[4:])
		all[id][addr] = entry.MAC(value)
		return nil
	})
	return all, err
}

// recallNeighbors brings a link's neighbours back the first time it is up. They are used as they are
// and verified at once.
func (i *Interfaces) recallNeighbors(l *link) {
	saved := i.remembered[l.id]
	if saved == nil || !l.up() {
		return
	}
	delete(i.remembered, l.id)
	for _, a := range slices.SortedFunc(maps.Keys(saved), netip.Addr.Compare) {
		var n *neighbor
		if l.onLink(a) && l.neighbors[a] == nil {
			n = i.admit(l, a)
		}
		if n == nil {
			i.options.Memory.Delete(memoryKey(l.id, a))
			continue
		}
		n.mac, n.saved = saved[a], saved[a]
		i.feed(n, hint)
	}
}

// remember keeps the memory in step with a neighbour.
func (i *Interfaces) remember(n *neighbor) {
	m := i.options.Memory
	mac := entry.MAC{}
	if n.state.resolved() {
		mac = n.mac
	}
	if m == nil || n.saved == mac {
		return
	}
	n.saved = mac
	if mac == (entry.MAC{}) {
		m.Delete(memoryKey(n.link.id, n.addr))
		return
	}
	m.Put(memoryKey(n.link.id, n.addr), mac[:])
}
