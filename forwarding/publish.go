package forwarding

import (
	"time"

	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
	"vbng/forwarding/punt"
	"vbng/forwarding/remote"
	"vbng/forwarding/table"
)

// publish carries a planned batch out on the tables, in the batch's order. It cannot fail. Deleted
// sessions come to the answer when workers have left them, see settle.
func (e *Engine) publish(encoded []byte, a *remote.Answer) {
	r := entry.NewReader(encoded)
	for i := range e.steps {
		if _, err := r.Next(&e.op); err != nil {
			panic("batch cannot be decoded a second time: " + err.Error()) // it was, by plan
		}
		e.publishStep(&e.op, &e.steps[i], a)
	}
}

func (e *Engine) publishStep(x *entry.Any, s *step, a *remote.Answer) {
	if s.action == remove {
		e.withdraw(s, x)
		return
	}
	switch x.Kind {
	case entry.KindPort:
		a.Ports = append(a.Ports, remote.PortSlot{Port: x.Port.ID, Slot: s.slot})
		e.publishPort(s)
	case entry.KindVRF:
		e.publishVRF(s)
	case entry.KindInterface:
		if s.action != keep {
			e.publishInterface(s.info.(*interfaceInfo), s)
			e.retapInterface(x.Interface.ID)
		}
	case entry.KindLocal:
		if s.action == add {
			e.publishLocal(s.slot, x.Local.Addr)
		}
	case entry.KindNeighbor:
		if s.action != keep {
			e.publishNeighbor(s.info.(*neighborInfo))
		}
	case entry.KindSession:
		a.Sessions = append(a.Sessions, remote.SessionSlot{Session: x.Session.ID, Slot: s.slot})
		e.publishSession(&x.Session, s)
	case entry.KindEcho:
		e.publishEcho(&x.Echo, s)
	case entry.KindGroup:
		e.publishGroup(s)
	case entry.KindRoute:
		e.publishRoute(&x.Route, s)
	case entry.KindPolicer:
		for _, w := range e.workers {
			w.Policers.Set(x.Policer)
		}
	case entry.KindCapture:
		if s.action != keep {
			e.publishPorts()
		}
	}
}

// publishSession compiles the session. A new one is written before it can be found; a known one is
// changed by its worker.
func (e *Engine) publishSession(x *entry.Session, s *step) {
	if x.OwnMAC == (entry.MAC{}) {
		x.OwnMAC = e.directory.portMAC(x.Port)
	}
	record := table.NewSession(x, table.Access(s.key.High), s.port, s.vrf)
	live := &e.tables.Sessions[s.slot]
	if s.action == add {
		live.Reconfigure(&record)
		e.insert(e.tables.BySession, record.Key(), s.slot)
		e.retap(x.ID)
		return
	}
	if e.settled() && live.Configured(&record) {
		return
	}
	moved := s.session.key != s.key
	if moved {
		e.insert(e.tables.BySession, record.Key(), s.slot)
	}
	e.command(commandSession, func(c *command) { c.slot, c.session = s.slot, record })
	if moved {
		e.tables.BySession.Delete(s.session.key)
		e.unlinked = true
		e.retap(x.ID)
	}
}

// insert adds a key that the plan has made sure fits. Places of keys deleted in this batch may be all
// that is left: then their rest is waited for.
func (e *Engine) insert(h *table.Hash, k table.Key, value uint32) {
	if h.Insert(k, value) {
		return
	}
	e.grace()
	h.Reclaim()
	if !h.Insert(k, value) {
		panic("hash table is full although the plan found room")
	}
}

func (e *Engine) publishEcho(x *entry.Echo, s *step) {
	e.command(commandEcho, func(c *command) {
		c.slot = s.slot
		c.session.Echo = table.SessionEcho{
			LocalMagic: x.LocalMagic, PeerMagic: x.PeerMagic, PeerMRU: x.PeerMRU, Misses: x.Misses,
			IntervalNanos: int64(x.IntervalSeconds) * int64(time.Second),
		}
	})
}

func (e *Engine) publishRoute(x *entry.Route, s *step) {
	if s.action == keep {
		return
	}
	v := e.tables.VRFs[s.vrf].Load()
	if s.is6 {
		v.FIB6.Put(s.key6.address(), int(s.key6.length), s.target, s.action == add)
		return
	}
	fib := v.FIB
	if err := fib.Put(table.Address4(x.Prefix.Addr()), x.Prefix.Bits(), s.target, s.action == add); err != nil {
		e.config.Log.Error("FIB keeps its small root", "error", err)
	}
}

// publishInterface publishes an interface and all neighbours on it, whose headers depend on it.
func (e *Engine) publishInterface(i *interfaceInfo, s *step) {
	if i.entry.ID == 0 {
		return // removed later in the batch
	}
	e.tables.Interfaces[i.slot].Store(e.compileInterface(i))
	if s != nil {
		if old, ok := s.gone.(interfaceInfo); ok && old.entry.ID != 0 && old.access != i.access {
			e.tables.ByAccess.Delete(table.InterfaceKey(old.access))
			e.unlinked = true
			e.insert(e.tables.ByAccess, table.InterfaceKey(i.access), i.slot)
		} else if s.action == add {
			e.insert(e.tables.ByAccess, table.InterfaceKey(i.access), i.slot)
		}
	}
	for _, n := range e.directory.neighbors {
		if n.on == i {
			e.publishNeighbor(n)
		}
	}
}

func (e *Engine) compileInterface(i *interfaceInfo) *table.Interface {
	d := e.directory
	mac, mtu := i.entry.MAC, uint32(i.entry.MTU)
	if mac == (entry.MAC{}) {
		mac = d.portMAC(i.entry.Port)
	}
	if mtu == 0 {
		mtu = packet.MaxFrame - table.AdjacencyBytes
		if p := d.ports[i.entry.Port]; p != nil && p.state.MTU != 0 {
			mtu = uint32(p.state.MTU)
		}
	}
	next := &table.Interface{
		ID: i.entry.ID, Access: i.access, VRF: i.vrf, MAC: mac, MTU: mtu, Local6: e.local6[i.slot],
		Verify: i.entry.Verify, MSS: i.entry.MSS,
	}
	if i.entry.Source4.Is4() {
		next.Source4 = table.Address4(i.entry.Source4)
	}
	if i.entry.Source6.Is6() {
		next.Source6 = table.NewAddress6(i.entry.Source6)
	}
	return next
}

func (e *Engine) publishNeighbor(n *neighborInfo) {
	if i := e.tables.Interfaces[n.on.slot].Load(); i != nil {
		e.tables.Adjacencies[n.slot].Store(table.NewAdjacency(i, n.on.slot, &n.entry))
	}
}

func (e *Engine) publishVRF(s *step) {
	if s.action == keep {
		return
	}
	v := s.info.(*vrfInfo)
	e.tables.VRFs[v.slot].Store(&table.VRF{ID: v.entry.ID, FIB: v.fib, FIB6: v.fib6, TUN: v.tun})
	e.publishPorts()
}

// withdraw takes an entry from the workers' sight.
func (e *Engine) withdraw(s *step, x *entry.Any) {
	e.unlinked = true
	switch s.kind {
	case entry.KindPort:
		e.publishPorts()
		e.closing = append(e.closing, s.info.(*portInfo))
	case entry.KindVRF:
		v := s.gone.(vrfInfo)
		e.tables.VRFs[s.slot].Store(nil)
		e.freeing = append(e.freeing, v.fib, v.fib6)
		e.publishPorts()
	case entry.KindInterface:
		e.tables.ByAccess.Delete(table.InterfaceKey(s.gone.(interfaceInfo).access))
		e.tables.Interfaces[s.slot].Store(nil)
		e.retapInterface(s.gone.(interfaceInfo).entry.ID)
	case entry.KindLocal:
		e.withdrawLocal(s.slot, x.Local.Addr)
	case entry.KindNeighbor:
		e.tables.Adjacencies[s.slot].Store(nil)
	case entry.KindSession:
		e.tables.BySession.Delete(s.session.key)
		e.leaving = append(e.leaving, leaver{s.session.id, s.slot})
		e.retap(s.session.id)
	case entry.KindEcho:
		e.command(commandEchoStop, func(c *command) { c.slot = s.slot })
	case entry.KindGroup:
		e.tables.HopGroups[s.slot].Store(nil)
	case entry.KindRoute:
		if s.is6 {
			v := e.tables.VRFs[s.key6.vrf].Load()
			v.FIB6.Delete(s.key6.address(), int(s.key6.length), int(s.coverLength), s.target)
			return
		}
		v := e.tables.VRFs[s.route.vrf].Load()
		v.FIB.Delete(s.route.address, int(s.route.length), int(s.coverLength), s.target)
	case entry.KindPolicer:
		for _, w := range e.workers {
			w.Policers.Set(punt.Default(x.Policer.Class))
		}
	case entry.KindCapture:
		e.publishPorts()
	}
}
