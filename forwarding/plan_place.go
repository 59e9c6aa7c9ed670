package forwarding

import (
	"fmt"

	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
	"vbng/forwarding/table"
)

// Ports, VRFs and interfaces: there are few, so a step keeps a function that takes it back.

func (e *Engine) planPort(x *entry.Port, s *step) string {
	d := e.directory
	if p, there := d.ports[x.ID]; there {
		old := *p
		s.action, s.slot, s.info, s.gone = differs(p.entry != *x), p.slot, p, old
		s.undo = func() { *p = old }
		p.entry, p.generation = *x, d.generation
		return ""
	}
	slot, ok := d.free[entry.KindPort].take()
	if !ok {
		return d.full(entry.KindPort, "ports")
	}
	opened, err := e.config.OpenPort(*x)
	if err != nil {
		d.free[entry.KindPort].give(slot)
		return err.Error()
	}
	p := &portInfo{entry: *x, slot: slot, generation: d.generation, opened: opened, state: opened.State()}
	d.ports[x.ID] = p
	s.action, s.slot, s.info = add, slot, p
	id := x.ID // x is read into again
	s.undo = func() {
		_ = opened.Close()
		delete(d.ports, id)
		d.free[entry.KindPort].give(slot)
	}
	return ""
}

func differs(different bool) action {
	if different {
		return change
	}
	return keep
}

func (e *Engine) planPortGone(x *entry.Port, s *step) string {
	d := e.directory
	p, there := d.ports[x.ID]
	if !there {
		return fmt.Sprintf("port %d is not there", x.ID)
	}
	if reason := d.inUse(entry.KindPort, p.slot, fmt.Sprintf("port %d", x.ID)); reason != "" {
		return reason
	}
	delete(d.ports, x.ID)
	d.free[entry.KindPort].rest(p.slot)
	s.action, s.slot, s.info = remove, p.slot, p
	id := x.ID
	s.undo = func() {
		d.ports[id] = p
		d.free[entry.KindPort].unrest()
	}
	return ""
}

func (e *Engine) planVRF(x *entry.VRF, s *step) string {
	d := e.directory
	tun, reason := d.tunOf(x)
	if reason != "" {
		return reason
	}
	v, there := d.vrfs[x.ID]
	if !there {
		return e.planNewVRF(x, tun, s)
	}
	old := *v
	s.action, s.slot, s.info = differs(v.entry != *x), v.slot, v
	d.holdTUN(tun, 1)
	d.holdTUN(old.tun, ^uint32(0))
	v.entry, v.tun, v.generation = *x, tun, d.generation
	s.undo = func() {
		d.holdTUN(tun, ^uint32(0))
		d.holdTUN(old.tun, 1)
		*v = old
	}
	return ""
}

func (e *Engine) planNewVRF(x *entry.VRF, tun uint32, s *step) string {
	d := e.directory
	slot, ok := d.free[entry.KindVRF].take()
	if !ok {
		return d.full(entry.KindVRF, "VRFs")
	}
	fib, err := table.NewFIB(e.tables.Groups)
	if err != nil {
		d.free[entry.KindVRF].give(slot)
		return err.Error()
	}
	fib6, err := table.NewFIB6(e.tables)
	if err != nil {
		fib.Free()
		d.free[entry.KindVRF].give(slot)
		return err.Error()
	}
	v := &vrfInfo{entry: *x, slot: slot, tun: tun, fib: fib, fib6: fib6, generation: d.generation}
	d.vrfs[x.ID] = v
	d.holdTUN(tun, 1)
	s.action, s.slot, s.info = add, slot, v
	id := x.ID
	s.undo = func() {
		d.holdTUN(tun, ^uint32(0))
		delete(d.vrfs, id)
		d.free[entry.KindVRF].give(slot)
		fib.Free()
		fib6.Free()
	}
	return ""
}

// tunOf returns the slot of a VRF's TUN, packet.None for none.
func (d *directory) tunOf(x *entry.VRF) (uint32, string) {
	if x.TUN == 0 {
		return packet.None, ""
	}
	p, ok := d.ports[x.TUN]
	switch {
	case !ok:
		return 0, fmt.Sprintf("VRF %d: port %d is not there", x.ID, x.TUN)
	case p.entry.Driver != entry.DriverTUN:
		return 0, fmt.Sprintf("VRF %d: port %d is no TUN", x.ID, x.TUN)
	}
	for _, other := range d.vrfs {
		if other.entry.TUN == x.TUN && other.entry.ID != x.ID {
			return 0, fmt.Sprintf("VRF %d: port %d is the TUN of VRF %d", x.ID, x.TUN, other.entry.ID)
		}
	}
	return p.slot, ""
}

func (d *directory) holdTUN(slot, change uint32) {
	if slot != packet.None {
		d.references[entry.KindPort][slot] += change
	}
}

func (e *Engine) planVRFGone(x *entry.VRF, s *step) string {
	d := e.directory
	v, there := d.vrfs[x.ID]
	if !there {
		return fmt.Sprintf("VRF %d is not there", x.ID)
	}
	if reason := d.inUse(entry.KindVRF, v.slot, fmt.Sprintf("VRF %d", x.ID)); reason != "" {
		return reason
	}
	delete(d.vrfs, x.ID)
	d.holdTUN(v.tun, ^uint32(0))
	d.free[entry.KindVRF].rest(v.slot)
	s.action, s.slot, s.gone = remove, v.slot, *v
	id := x.ID
	s.undo = func() {
		d.vrfs[id] = v
		d.holdTUN(v.tun, 1)
		d.free[entry.KindVRF].unrest()
	}
	return ""
}

func (e *Engine) planInterface(x *entry.Interface, s *step) string {
	d := e.directory
	next, reason := d.placeInterface(x)
	if reason != "" {
		return reason
	}
	i, there := d.interfaces[x.ID]
	if !there {
		slot, ok := d.free[entry.KindInterface].take()
		if !ok {
			return d.full(entry.KindInterface, "interfaces")
		}
		i = &interfaceInfo{slot: slot}
	}
	old := *i
	next.slot = i.slot
	s.action, s.slot, s.info, s.gone = add, i.slot, i, old
	if there {
		s.action = differs(old.entry != *x)
	}
	d.bindInterface(i, next)
	s.undo = func() {
		d.bindInterface(i, old)
		if !there {
			d.free[entry.KindInterface].give(old.slot)
		}
	}
	return ""
}

// placeInterface resolves what an interface refers to.
func (d *directory) placeInterface(x *entry.Interface) (next interfaceInfo, reason string) {
	port, ok := d.ports[x.Port]
	if !ok {
		return next, fmt.Sprintf("interface %d: port %d is not there", x.ID, x.Port)
	}
	if port.entry.Driver == entry.DriverTUN {
		return next, fmt.Sprintf("interface %d: port %d has no Ethernet", x.ID, x.Port)
	}
	vrf, ok := d.vrfs[x.VRF]
	if !ok {
		return next, fmt.Sprintf("interface %d: VRF %d is not there", x.ID, x.VRF)
	}
	tags, ok := table.Tags(x.OuterTPID, x.OuterVLAN, x.InnerVLAN)
	if !ok {
		return next, fmt.Sprintf("interface %d: outer TPID %#04x is not supported", x.ID, x.OuterTPID)
	}
	access := table.AccessPort(port.slot) | tags
	if other, taken := d.accesses[access]; taken && other.entry.ID != x.ID {
		return next, fmt.Sprintf("interface %d: its port and tags are those of interface %d", x.ID, other.entry.ID)
	}
	return interfaceInfo{entry: *x, access: access, port: port.slot, vrf: vrf.slot, generation: d.generation}, ""
}

// bindInterface replaces an interface, with its keys and references; entry id 0 stands for none.
func (d *directory) bindInterface(i *interfaceInfo, next interfaceInfo) {
	if next.entry.ID != 0 {
		d.hold(entry.KindPort, next.port)
		d.hold(entry.KindVRF, next.vrf)
	}
	if i.entry.ID != 0 {
		d.release(entry.KindPort, i.port)
		d.release(entry.KindVRF, i.vrf)
		delete(d.accesses, i.access)
		delete(d.interfaces, i.entry.ID)
	}
	*i = next
	if i.entry.ID != 0 {
		d.accesses[i.access] = i
		d.interfaces[i.entry.ID] = i
	}
}

func (e *Engine) planInterfaceGone(x *entry.Interface, s *step) string {
	d := e.directory
	i, there := d.interfaces[x.ID]
	if !there {
		return fmt.Sprintf("interface %d is not there", x.ID)
	}
	if reason := d.inUse(entry.KindInterface, i.slot, fmt.Sprintf("interface %d", x.ID)); reason != "" {
		return reason
	}
	old := *i
	s.action, s.slot, s.gone = remove, i.slot, old
	d.bindInterface(i, interfaceInfo{})
	d.free[entry.KindInterface].rest(old.slot)
	s.undo = func() {
		d.bindInterface(i, old)
		d.free[entry.KindInterface].unrest()
	}
	return ""
}
