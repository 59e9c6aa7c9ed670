package iface

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"vbng/control/oper"
	"vbng/forwarding/entry"
)

// InterfaceRow is one interface. Counters are those of the whole port, frames without FCS.
type InterfaceRow struct {
	Name          string   `show:"Interface"`
	State         string   `show:"State"` // up, down, shutdown, or why it is not open
	MAC           string   `show:"MAC"`
	MTUBytes      uint16   `show:"MTU"`
	VLAN          string   `show:"VLAN"`
	Addresses     []string `show:"Addresses"`
	InputPackets  uint64   `show:"In packets"`
	InputBytes    uint64   `show:"In bytes"`
	InputDrops    uint64   `show:"In drops"`
	OutputPackets uint64   `show:"Out packets"`
	OutputBytes   uint64   `show:"Out bytes"`
	OutputDrops   uint64   `show:"Out drops"`
	Description   string   `show:"Description"`

	Index   uint32       `show:"-"` // ifIndex
	Driver  string       `show:"-"`
	Device  string       `show:"-"`
	Problem string       `show:"-"` // what the forwarder said last against it
	port    entry.PortID // 0: without counters of its own
}

// NeighborRow is one neighbour.
type NeighborRow struct {
	Address    string `show:"Address"`
	MAC        string `show:"MAC"`
	Interface  string `show:"Interface"`
	State      string `show:"State"` // incomplete, reachable, stale, failed, static
	AgeSeconds uint64 `show:"Age (s)"`
	NextHop    bool   `show:"Next hop"` // a route needs it
}

// Commands returns the show and clear commands.
func (i *Interfaces) Commands() []*oper.Command {
	return []*oper.Command{
		{
			Words: "show interfaces", Help: "interfaces, their state, addresses and counters",
			Args: []oper.Arg{{Name: "name", Help: "only this interface, in detail", Optional: true, Complete: i.names}},
			Run:  i.showInterfaces,
		},
		{Words: "show arp", Help: "IPv4 neighbours: the ARP table", Run: i.showNeighbors(netip.Addr.Is4)},
		{Words: "show ipv6 neighbors", Help: "IPv6 neighbours", Run: i.showNeighbors(netip.Addr.Is6)},
		{
			Words: "clear arp", Help: "forget IPv4 neighbours; those that routes need are asked for at once",
			Args: []oper.Arg{{Name: "address", Help: "only this neighbour", Optional: true, Check: checkAddress(netip.Addr.Is4, "an IPv4 address")}},
			Run:  i.clearCommand("clear arp", netip.Addr.Is4),
		},
		{
			Words: "clear ipv6 neighbors", Help: "forget IPv6 neighbours; those that routes need are asked for at once",
			Args: []oper.Arg{{Name: "address", Help: "only this neighbour", Optional: true, Check: checkAddress(netip.Addr.Is6, "an IPv6 address")}},
			Run:  i.clearCommand("clear ipv6 neighbors", netip.Addr.Is6),
		},
	}
}

func (i *Interfaces) names() []string { return i.snapshot.Load().listed }

func checkAddress(family func(netip.Addr) bool, expected string) func(word string) error {
	return func(word string) error {
		if a, err := netip.ParseAddr(word); err != nil || !family(a) {
			return fmt.Errorf("expected %s, found %q", expected, word)
		}
		return nil
	}
}

// view makes the loop run a function and waits until it has.
func (i *Interfaces) view(ctx context.Context, look func()) error {
	m := view{look, make(chan struct{})}
	i.loop.Post(m)
	select {
	case <-m.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("ask interfaces: %w", ctx.Err())
	}
}

type view struct {
	look func()
	done chan struct{}
}

func (m view) handle(*Interfaces) {
	m.look()
	close(m.done)
}

func (i *Interfaces) showInterfaces(ctx context.Context, call oper.Call) (any, error) {
	name := call.Args["name"]
	var table oper.Table[InterfaceRow]
	err := i.view(ctx, func() {
		for _, s := range i.settings {
			if name == "" || s.name == name {
				table.Rows = append(table.Rows, i.row(s))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	if name != "" && len(table.Rows) == 0 {
		return nil, fmt.Errorf("show interfaces: there is no interface %s", name)
	}
	for n := range table.Rows {
		i.count(&table.Rows[n])
	}
	if name != "" {
		return table.Rows[0].document(), nil
	}
	return table, nil
}

// row describes an interface without its counters.
func (i *Interfaces) row(s *settings) InterfaceRow {
	r := InterfaceRow{Name: s.name, State: "down", Description: s.description, Addresses: []string{}}
	for _, a := range s.addresses {
		r.Addresses = append(r.Addresses, a.String())
	}
	l := i.linkOf(s.name)
	if l == nil {
		return r
	}
	if a := l.linkLocal(); a.IsValid() {
		r.Addresses = append(r.Addresses, a.String())
	}
	r.Index, r.Problem, r.State, r.VLAN = uint32(l.id), l.problem, l.state(), l.vlan()
	if l.port == nil {
		return r
	}
	r.MTUBytes = l.mtu()
	if mac := l.mac(); mac != (entry.MAC{}) {
		r.MAC = mac.String()
	}
	if s.class == classPort {
		r.port, r.Driver, r.Device = l.port.id, s.driver.String(), s.device
		if l.port.problem != "" {
			r.Problem = l.port.problem
		}
	}
	return r
}

func (i *Interfaces) linkOf(name string) *link {
	for _, l := range i.links {
		if l.name == name && l.want != nil {
			return l
		}
	}
	return nil
}

// state says in a word how the interface is.
func (l *link) state() string {
	p := l.port
	switch {
	case l.want.shutdown:
		return "shutdown"
	case p == nil:
		return "up"
	case p.want == nil:
		return "parent shutdown"
	case p.refused != entry.Port{}:
		return "refused: " + p.problem
	case !p.known:
		return "opening"
	case p.state.Err != "":
		return "not open: " + p.state.Err
	case p.state.Up:
		return "up"
	}
	return "down"
}

// vlan prints the tags: 100, 100.7, 0x88a8:100.7.
func (l *link) vlan() string {
	t := l.want.tags
	if t.outerTPID == 0 {
		return ""
	}
	text := fmt.Sprint(t.outerVLAN)
	if t.innerVLAN != 0 {
		text += fmt.Sprintf(".%d", t.innerVLAN)
	}
	if t.outerTPID != outerTPIDs["0x8100"] {
		text = fmt.Sprintf("%#04x:%s", t.outerTPID, text)
	}
	return text
}

func (i *Interfaces) count(r *InterfaceRow) {
	if r.port == 0 || i.options.Counters == nil {
		return
	}
	c, _ := i.options.Counters.PortCounters(r.port)
	r.InputPackets, r.InputBytes, r.InputDrops = c.InputPackets, c.InputBytes, c.InputDrops
	r.OutputPackets, r.OutputBytes, r.OutputDrops = c.OutputPackets, c.OutputBytes, c.OutputDrops
}

// document is the row for people who ask for one interface.
func (r InterfaceRow) document() oper.Document {
	lines := []oper.Field{{Name: "State", Value: r.State}, {Name: "Index", Value: fmt.Sprint(r.Index)}}
	add := func(name, value string) {
		if value != "" {
			lines = append(lines, oper.Field{Name: name, Value: value})
		}
	}
	add("Description", r.Description)
	add("Problem", r.Problem)
	if r.Device != "" {
		add("Device", r.Device+" ("+r.Driver+")")
	}
	add("MAC", r.MAC)
	if r.MTUBytes != 0 {
		add("MTU", fmt.Sprintf("%d bytes", r.MTUBytes))
	}
	add("VLAN", r.VLAN)
	add("Addresses", strings.Join(r.Addresses, " "))
	sections := []oper.Section{{Title: "Interface " + r.Name, Lines: lines}}
	if r.port != 0 {
		sections = append(sections, oper.Section{Title: "Counters", Lines: []oper.Field{
			{Name: "Input", Value: fmt.Sprintf("%d packets, %d bytes, %d dropped", r.InputPackets, r.InputBytes, r.InputDrops)},
			{Name: "Output", Value: fmt.Sprintf("%d packets, %d bytes, %d dropped", r.OutputPackets, r.OutputBytes, r.OutputDrops)},
		}})
	}
	return oper.Document{Sections: sections, Data: r}
}

func (i *Interfaces) showNeighbors(family func(netip.Addr) bool) func(context.Context, oper.Call) (any, error) {
	return func(ctx context.Context, _ oper.Call) (any, error) {
		var table oper.Table[NeighborRow]
		err := i.view(ctx, func() { table = i.neighborTable(family) })
		return table, err
	}
}

func (i *Interfaces) neighborTable(family func(netip.Addr) bool) (table oper.Table[NeighborRow]) {
	now := i.loop.Now()
	for _, id := range slices.Sorted(maps.Keys(i.links)) {
		l := i.links[id]
		for _, a := range slices.SortedFunc(maps.Keys(l.neighbors), netip.Addr.Compare) {
			n := l.neighbors[a]
			if !family(a) || n.state == idle && n.wants == 0 {
				continue // or on its way out
			}
			row := NeighborRow{Address: a.String(), Interface: l.name, State: n.state.String(), NextHop: n.wants > 0,
				AgeSeconds: uint64(now.Sub(n.since) / time.Second)}
			if n.state.resolved() {
				row.MAC = n.mac.String()
			}
			if n.fixed {
				row.State = "static"
			}
			table.Rows = append(table.Rows, row)
		}
	}
	c := i.arp
	if family(netip.IPv6Unspecified()) {
		c = i.nd
	}
	table.Summary = fmt.Sprintf("%d neighbors; %d requests sent (%d lost), %d answers, %d unsolicited, %d off link, %d address conflicts, "+
		"%d moved, %d evicted, %d not admitted; %d malformed, %d for hosts, %d for no interface, %d over limit",
		len(table.Rows), c.requests, c.unsent, c.answers, c.unsolicited, c.offLink, c.conflicts, c.moved, c.evicted, c.full,
		i.received.malformed.Load(), i.received.others.Load(), i.received.unknown.Load(), i.received.overload.Load())
	return table
}

func (i *Interfaces) clearCommand(words string, family func(netip.Addr) bool) func(context.Context, oper.Call) (any, error) {
	return func(ctx context.Context, call oper.Call) (any, error) { return i.clear(ctx, call, words, family) }
}

func (i *Interfaces) clear(ctx context.Context, call oper.Call, words string, family func(netip.Addr) bool) (any, error) {
	var addr netip.Addr
	if word := call.Args["address"]; word != "" {
		a, err := netip.ParseAddr(word)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", words, err)
		}
		addr = a
	}
	cleared := 0
	if err := i.view(ctx, func() { cleared = i.clearNeighbors(family, addr) }); err != nil {
		return nil, err
	}
	if addr.IsValid() && cleared == 0 {
		return nil, fmt.Errorf("%s: %v is no neighbour that could be forgotten", words, addr)
	}
	return oper.Document{
		Sections: []oper.Section{{Text: fmt.Sprintf("%d neighbors forgotten", cleared)}},
		Data:     map[string]int{"cleared": cleared},
	}, nil
}
