package iface

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"vbng/forwarding/entry"
)

// snapshot is what other goroutines may know without asking the loop. It is never changed.
type snapshot struct {
	ports  map[entry.PortID]portFacts
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

// portFacts is what others may know of a port.
type portFacts struct {
	name string
	mac  entry.MAC // zero: not known yet, or the port is on its way out
	up   bool
}

// Port tells about a port. It may be called from any goroutine.
func (i *Interfaces) Port(id entry.PortID) (name string, mac entry.MAC, up bool, ok bool) {
	p, ok := i.snapshot.Load().ports[id]
	return p.name, p.mac, p.up, ok
}

// CapturePoint returns what a name means to who wants to see frames: a port, or a tagged interface on one; the other one
// is 0. It may be called from any goroutine.
func (i *Interfaces) CapturePoint(name string) (entry.PortID, entry.InterfaceID, error) {
	s := i.snapshot.Load()
	for id, p := range s.ports {
		if p.name == name {
			return id, 0, nil
		}
	}
	for id, n := range s.names {
		if n != name {
			continue
		}
		if c, _ := classify(name); c != classSub {
			return 0, 0, fmt.Errorf("interface %s has no frames of its own", name)
		}
		return 0, id, nil
	}
	return 0, 0, fmt.Errorf("there is no interface %s", name)
}

// InterfaceNames lists the configured interfaces. It may be called from any goroutine.
func (i *Interfaces) InterfaceNames() []string { return i.names() }

// InterfaceName names an interface, by its number when it has no name. It may be called from any goroutine.
func (i *Interfaces) InterfaceName(id entry.InterfaceID) string {
	if name, ok := i.snapshot.Load().names[id]; ok {
		return name
	}
	return strconv.FormatUint(uint64(id), 10)
}

func (p *port) facts() portFacts {
	if p.want == nil {
		return portFacts{name: p.name}
	}
	return portFacts{p.name, p.mac(), p.up()}
}

// publish makes a new snapshot and brings the kernel up to date.
func (i *Interfaces) publish() {
	s := &snapshot{
		ports: map[entry.PortID]portFacts{}, names: map[entry.InterfaceID]string{}, places: map[place]entry.InterfaceID{},
	}
	for _, id := range slices.Sorted(maps.Keys(i.ports)) {
		p := i.ports[id]
		s.names[entry.InterfaceID(id)] = p.name
		if !p.internal {
			s.ports[id] = p.facts()
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
