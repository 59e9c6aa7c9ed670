package iface

import (
	"maps"
	"slices"
	"strconv"

	"vbng/forwarding/entry"
)

// snapshot is what other goroutines may know without asking the loop. It is never changed.
type snapshot struct {
	ports  map[entry.PortID]PortEvent
	names  map[entry.InterfaceID]string
	places map[place]entry.InterfaceID
	listed []string // names of all interfaces, in order
}

// place is where a frame comes in.
type place struct {
	port entry.PortID
	tags tags
}

func (s *snapshot) interfaceAt(p entry.PortID, t tags) entry.InterfaceID {
	return s.places[place{p, t}]
}

// PortEvent is the state of a port.
type PortEvent struct {
	Port entry.PortID
	Name string
	MAC  entry.MAC // zero: not known yet
	MTU  uint16    // largest IP packet, bytes
	Up   bool
	Gone bool // shut down or removed: its sessions must go, the port closes when they have
}

// Observe registers a function that hears of every change of a port, on the loop's goroutine; it must
// not block. It must be called before Run.
func (i *Interfaces) Observe(f func(PortEvent)) { i.observers = append(i.observers, f) }

// Port tells about a port. It may be called from any goroutine.
func (i *Interfaces) Port(id entry.PortID) (name string, mac entry.MAC, up bool, ok bool) {
	p, ok := i.snapshot.Load().ports[id]
	return p.Name, p.MAC, p.Up, ok
}

// InterfaceName names an interface, by its number when it has no name. It may be called from any goroutine.
func (i *Interfaces) InterfaceName(id entry.InterfaceID) string {
	if name, ok := i.snapshot.Load().names[id]; ok {
		return name
	}
	return strconv.FormatUint(uint64(id), 10)
}

// event returns a port's state as others see it.
func (p *port) event() PortEvent {
	if p.want == nil {
		return PortEvent{Port: p.id, Name: p.name, Gone: true}
	}
	return PortEvent{Port: p.id, Name: p.name, MAC: p.mac(), MTU: p.mtu(), Up: p.up()}
}

// tell tells the observers what changed of a port.
func (i *Interfaces) tell(p *port) {
	e := p.event()
	if p.internal || e == p.told {
		return
	}
	p.told = e
	for _, f := range i.observers {
		i.later(func() { f(e) })
	}
}

// publish makes a new snapshot, tells the observers, and brings the kernel up to date.
func (i *Interfaces) publish() {
	s := &snapshot{
		ports: map[entry.PortID]PortEvent{}, names: map[entry.InterfaceID]string{}, places: map[place]entry.InterfaceID{},
	}
	for _, id := range slices.Sorted(maps.Keys(i.ports)) {
		p := i.ports[id]
		s.names[entry.InterfaceID(id)] = p.name
		if !p.internal {
			s.ports[id] = p.event()
			i.tell(p)
		}
	}
	for id, l := range i.links {
		s.names[id] = l.name
		if e := l.programmed; e.ID != 0 {
			s.places[place{e.Port, tags{e.OuterTPID, e.OuterVLAN, e.InnerVLAN}}] = id
		}
	}
	for _, c := range i.settings {
		s.listed = append(s.listed, c.name)
	}
	i.snapshot.Store(s)
	i.updateHost()
}
