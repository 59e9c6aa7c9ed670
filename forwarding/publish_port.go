package forwarding

import (
	"vbng/forwarding/entry"
	"vbng/forwarding/graph"
	"vbng/forwarding/packet"
	"vbng/forwarding/port"
	"vbng/forwarding/table"
)

// portMAC is the address that a port answers to.
func (d *directory) portMAC(id entry.PortID) entry.MAC {
	p := d.ports[id]
	switch {
	case p == nil:
		return entry.MAC{}
	case p.entry.MAC != (entry.MAC{}):
		return p.entry.MAC
	}
	return p.state.MAC
}

// publishPort tells the workers of a port. One whose device is another now is opened again.
func (e *Engine) publishPort(s *step) {
	p := s.info.(*portInfo)
	if s.action == keep {
		return
	}
	if old, ok := s.gone.(portInfo); ok && reopens(old.entry, p.entry) && !resized(p, old.entry) {
		e.reopen(p)
	}
	e.publishPorts()
	e.refreshInterfaces(p.entry.ID)
}

// reopens reports whether a change of a port's entry is one of its device. Whether PPPoE is terminated or IPoE
// served there is none.
func reopens(a, b entry.Port) bool {
	a.PPPoE, b.PPPoE, a.IPoE, b.IPoE = false, false, false, false
	return a != b
}

// resized changes the MTU of an open port, if that is all that changed and its driver can.
func resized(p *portInfo, old entry.Port) bool {
	r, ok := p.opened.(port.Resizer)
	if old.MTU = p.entry.MTU; !ok || reopens(old, p.entry) || r.SetMTU(p.entry.MTU) != nil {
		return false
	}
	p.state = p.opened.State()
	return true
}

func (e *Engine) reopen(p *portInfo) {
	old := p.opened
	p.opened = nil
	if old != nil {
		e.publishPorts()
		e.settle()
		p.before = p.before.Add(old.Counters())
		e.close(p.entry.ID, old)
	}
	opened, err := e.config.OpenPort(p.entry)
	if err != nil {
		p.state = entry.PortState{Port: p.entry.ID, Err: err.Error()}
		e.config.Log.Error("port not opened again", "port", p.entry.ID, "error", err)
		return
	}
	p.opened, p.state = opened, opened.State()
}

func (e *Engine) close(id entry.PortID, p interface{ Close() error }) {
	if err := p.Close(); err != nil {
		e.config.Log.Error("port not closed cleanly", "port", id, "error", err)
	}
}

// publishPorts gives the workers the ports that are open.
func (e *Engine) publishPorts() {
	ports := make([]*graph.Port, e.config.Limits.Ports)
	for _, p := range e.directory.ports {
		if p.opened != nil {
			ports[p.slot] = e.compilePort(p)
		}
	}
	e.command(commandPorts, func(c *command) { c.ports = ports })
}

func (e *Engine) compilePort(p *portInfo) *graph.Port {
	g := &graph.Port{
		Slot: p.slot, ID: p.entry.ID, Driver: p.opened, MAC: table.PackMAC(e.directory.portMAC(p.entry.ID)),
		PPPoE: p.entry.PPPoE, IPoE: p.entry.IPoE, L3: p.entry.Driver == entry.DriverTUN, VRF: packet.None, Before: p.before,
	}
	for _, v := range e.directory.vrfs {
		if v.tun == p.slot {
			g.VRF = v.slot
		}
	}
	e.tap(g)
	return g
}

// refreshInterfaces publishes the interfaces on a port again: they may take address and MTU from it.
func (e *Engine) refreshInterfaces(id entry.PortID) {
	for _, i := range e.directory.interfaces {
		if i.entry.Port == id && e.tables.Interfaces[i.slot].Load() != nil {
			e.publishInterface(i, nil)
		}
	}
}
