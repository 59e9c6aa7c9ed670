package iface

import (
	"time"

	"vbng/forwarding/entry"
)

// portRetryDelay is how long a port that still has users waits before it is taken away again.
const portRetryDelay = time.Second

// port is what an interface's frames come from.
type port struct {
	id         entry.PortID
	name       string
	internal   bool        // a VRF's TUN: not configured, not shown to others
	vrf        entry.VRFID // of the TUN
	settings   *settings   // nil: no longer configured
	want       *entry.Port // nil: none (removed or shut down)
	programmed entry.Port  // zero ID: none
	leaving    bool        // its deletion is on the way
	state      entry.PortState
	known      bool // state is that of the programmed port
	problem    string
	refused    entry.Port // not put again
}

// up reports whether the port's device is there and has a link.
func (p *port) up() bool { return p.stands() && p.known && p.state.Up }

// stands reports whether entries may refer to the port.
func (p *port) stands() bool { return p.want != nil && !p.leaving && p.programmed.ID != 0 }

// mac returns our address on the port, zero when it is not known yet.
func (p *port) mac() entry.MAC {
	if p.want != nil && p.want.MAC != (entry.MAC{}) {
		return p.want.MAC
	}
	if p.known {
		return p.state.MAC
	}
	return entry.MAC{}
}

// mtu returns the largest IP packet of the port.
func (p *port) mtu() uint16 {
	switch {
	case p.want != nil && p.want.MTU != 0:
		return p.want.MTU
	case p.known && p.state.MTU != 0:
		return min(p.state.MTU, maxMTU)
	}
	return defaultMTU
}

// wantPort notes a port's configuration.
func (i *Interfaces) wantPort(id entry.PortID, s *settings) {
	p, ok := i.ports[id]
	if !ok {
		p = &port{id: id, name: s.name}
		i.ports[id] = p
	}
	p.settings, p.want = s, nil
	if !s.shutdown {
		e := s.port(id)
		p.want = &e
	}
}

// convergePort programs the port as it is wanted. Its removal is removePort.
func (i *Interfaces) convergePort(p *port) {
	if p.want == nil || p.leaving || p.programmed == *p.want || p.refused == *p.want {
		return
	}
	if p.programmed.Driver != p.want.Driver || p.programmed.Device != p.want.Device {
		// The forwarder opens another device under the same key and tells its state.
		p.known, p.state = false, entry.PortState{}
	}
	p.programmed, p.refused, p.problem = *p.want, entry.Port{}, ""
	var b entry.Batch
	b.Put(p.programmed)
	put := p.programmed
	i.program(&b, func(reason string) {
		p.refused, p.programmed, p.problem = put, entry.Port{}, reason
		i.converge()
	})
}

// removePort takes away a port that is not wanted, once no link stands on it. Sessions may stand on
// it as well: the forwarder refuses as long as they do. They end by themselves: their owner compares the
// same configuration.
func (i *Interfaces) removePort(p *port) {
	if p.want != nil || p.leaving {
		return
	}
	if p.programmed.ID == 0 {
		if p.settings == nil {
			delete(i.ports, p.id)
		}
		return
	}
	for _, l := range i.links {
		if l.port == p && l.programmed.ID != 0 {
			return
		}
	}
	p.leaving = true
	var b entry.Batch
	b.Delete(entry.Port{ID: p.id})
	i.options.Programmer.Apply(&b, func(res entry.Result) { i.loop.Post(portGone{p, res.Err}) })
}

// portGone answers a port's deletion.
type portGone struct {
	port *port
	err  error
}

func (m portGone) handle(i *Interfaces) {
	p := m.port
	if m.err == nil {
		p.leaving, p.programmed, p.problem = false, entry.Port{}, ""
		p.known, p.state = false, entry.PortState{}
		i.converge()
		return
	}
	if p.problem == "" {
		p.problem = m.err.Error()
		i.options.Log.Warn("port is still in use, it is taken away when it no longer is", "interface", p.name, "reason", m.err)
	}
	i.loop.After(portRetryDelay, portRetry(m))
}

// portRetry tries a deletion again.
type portRetry portGone

func (m portRetry) handle(i *Interfaces) {
	m.port.leaving = false
	if m.port.want != nil {
		m.port.problem = "" // it is to stay after all
	}
	i.converge()
}

// PortState tells what became of a port's device. It may be called from any goroutine.
func (i *Interfaces) PortState(s entry.PortState) { i.loop.Post(portState(s)) }

type portState entry.PortState

func (m portState) handle(i *Interfaces) {
	p, ok := i.ports[m.Port]
	if !ok || p.programmed.ID == 0 {
		return // one that we have taken away meanwhile
	}
	moved := p.known && p.state.MAC != m.MAC
	p.state, p.known = entry.PortState(m), true
	switch {
	case m.Err != "":
		i.options.Log.Error("port cannot be opened", "interface", p.name, "device", p.programmed.Device, "error", m.Err)
	default:
		i.options.Log.Info("port state", "interface", p.name, "up", m.Up, "mac", m.MAC, "mtu", m.MTU)
	}
	if p.internal {
		// A new forwarder tells the old state of a new device, to which the kernel has nothing bound yet.
		i.host.again()
	}
	i.converge()
	if moved {
		i.announcePort(p)
	}
}
