package rib

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"vbng/forwarding/entry"
)

// rows returns a destination's candidates, best first.
func (r *RIB) rows(d *destination, source Source) []RouteRow {
	var rows []RouteRow
	best := d.best()
	for rt := d.routes; rt != nil; rt = rt.next {
		if source != 0 && rt.source != source {
			continue
		}
		age := r.loop.Now().Sub(r.born) - rt.since
		row := RouteRow{
			Code: rt.source.Code(), Prefix: d.prefix.String(), Source: rt.source.String(), Distance: rt.distance, Metric: rt.metric,
			Age: formatAge(age), AgeSeconds: uint64(age / time.Second), State: r.state(d, rt, best),
		}
		if row.State == "active" {
			row.Code += ">"
		}
		rows = append(rows, r.ways(rt, row)...)
	}
	return rows
}

// state says in a word how a candidate stands.
func (r *RIB) state(d *destination, rt, best *route) string {
	switch {
	case rt.refused:
		return "refused: " + r.refused[rt]
	case rt.leads().kind == 0:
		return "unresolved"
	case rt != best:
		return "backup"
	case d.changed != agreed || !same(d.installed, rt.leads()):
		return "programming"
	}
	return "active"
}

// ways fills in where a route leads: a row, or one per next hop and what that is reached by.
func (r *RIB) ways(rt *route, row RouteRow) []RouteRow {
	if rt.via == nil {
		row.Via, row.Interface = r.describe(rt)
		return []RouteRow{row}
	}
	var rows []RouteRow
	for _, g := range rt.via.gateways {
		one := row
		one.Via = g.key.addr.String()
		switch {
		case len(g.reached.hops) > 0:
			for _, key := range g.reached.hops {
				rows = append(rows, r.way(rt, g, key, row))
			}
			continue
		case !g.reached.drop:
			one.Code, one.State = rt.source.Code(), "unresolved"
			if g.key.iface != 0 {
				one.Interface = r.name(g.key.iface)
			}
		default:
			one.Via += " > discard"
		}
		rows = append(rows, one)
	}
	return rows
}

// way describes one neighbour of a next hop.
func (r *RIB) way(rt *route, g *gateway, key NextHop, row RouteRow) RouteRow {
	row.Via, row.Interface = g.key.addr.String(), r.name(key.Interface)
	if key.Addr != g.key.addr {
		row.Via += " > " + key.Addr.String()
	}
	if row.State != "active" {
		return row
	}
	if !rt.via.bundle.carries(key) {
		row.Code, row.State = rt.source.Code(), "backup"
		if h := r.hops[key]; h != nil && h.dead {
			row.State = "silent"
		}
	}
	return row
}

// carries reports whether packets go to a hop.
func (b *bundle) carries(key NextHop) bool {
	if b == nil {
		return false
	}
	used := b.hops
	if b.group != 0 {
		used = b.members
	}
	return slices.ContainsFunc(used, func(h *hop) bool { return h.key == key })
}

func (r *RIB) describe(rt *route) (via, iface string) {
	switch rt.given.kind {
	case entry.TargetDrop:
		if rt.source == Connected {
			return "discard", r.name(entry.InterfaceID(rt.owner))
		}
		if rt.source == Aggregate {
			return "discard (" + rt.destination.table.owners[rt.owner] + ")", ""
		}
		return "discard", ""
	case entry.TargetLocal:
		return "own address", r.name(entry.InterfaceID(rt.owner))
	case entry.TargetConnected:
		return "on link", r.name(entry.InterfaceID(rt.given.id))
	case entry.TargetNeighbor:
		h := rt.given.via.hops[0]
		return h.key.Addr.String(), r.name(h.key.Interface)
	case entry.TargetSession:
		return fmt.Sprintf("session %d", rt.given.id), ""
	}
	return "", ""
}

func (r *RIB) name(i entry.InterfaceID) string {
	if r.nameOf == nil {
		return strconv.FormatUint(uint64(i), 10)
	}
	return r.nameOf(i)
}

// formatAge prints a duration as routers do: 12s, 3m07s, 4h05m, 6d11h.
func formatAge(d time.Duration) string {
	s := int(d / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	}
	return fmt.Sprintf("%dd%02dh", s/86400, s/3600%24)
}
