package forwarding

import (
	"net/netip"
	"slices"

	"vbng/forwarding/table"
)

// publishLocal makes an address ours on an interface. IPv4 addresses are looked up in a hash for ARP; IPv6 ones are
// part of the interface's record, which is replaced.
func (e *Engine) publishLocal(slot uint32, a netip.Addr) {
	if a.Is4() {
		e.insert(e.tables.Local, table.LocalKey(slot, table.Address4(a)), slot)
		return
	}
	e.local6[slot] = append(slices.Clone(e.local6[slot]), table.NewAddress6(a))
	e.replaceLocal6(slot)
}

func (e *Engine) withdrawLocal(slot uint32, a netip.Addr) {
	if a.Is4() {
		e.tables.Local.Delete(table.LocalKey(slot, table.Address4(a)))
		return
	}
	gone := table.NewAddress6(a)
	e.local6[slot] = slices.DeleteFunc(slices.Clone(e.local6[slot]), func(b table.Address6) bool { return b == gone })
	if len(e.local6[slot]) == 0 {
		delete(e.local6, slot)
	}
	e.replaceLocal6(slot)
}

func (e *Engine) replaceLocal6(slot uint32) {
	old := e.tables.Interfaces[slot].Load()
	if old == nil {
		return
	}
	next := *old
	next.Local6 = e.local6[slot]
	e.tables.Interfaces[slot].Store(&next)
}
