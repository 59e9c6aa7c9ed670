// Package model knows the configuration and the commands that this version of the router understands,
// without being a router: for checking files and for the reference manual.
//
// The reference pages of docs/ are written by this package ("vbng reference PAGE") and a test compares
// them with what it would write now, so they cannot say what the router does not do.
//
// Reading order: model.go, page.go, then the pages: configuration.go, commands.go, counters.go with
// meanings.go.
package model

import (
	"io"

	"vbng/aaa/service"
	"vbng/control/clock"
	"vbng/control/commit"
	"vbng/control/engine"
	"vbng/control/logbook"
	"vbng/control/monitor"
	"vbng/control/oper"
	"vbng/control/system"
	"vbng/routing/bgp"
	"vbng/routing/iface"
	"vbng/routing/policy"
	"vbng/routing/probe"
	"vbng/routing/rib"
	"vbng/routing/static"
	"vbng/routing/vrf"
	"vbng/sessions"
)

// Subsystems returns the subsystems in the order of their configuration. Only Name, Schema and Check
// of them may be called: they are joined to nothing.
func Subsystems() []commit.Subsystem {
	return []commit.Subsystem{
		box(), engine.New(nil, nil), vrf.New(vrf.NewTable(nil)), iface.New(iface.Options{}), static.New(nil, nil, nil),
		policy.New(), bgp.New(bgp.Needs{}),
		service.New(service.Options{}), &sessions.Manager{},
	}
}

func box() *system.System {
	return system.New(system.Options{Book: logbook.New(io.Discard, clock.Real{}), Clock: clock.Real{}})
}

// Commands returns the operational commands of all subsystems, sorted. They describe themselves, but
// must not be run.
func Commands() ([]*oper.Command, error) {
	registry := oper.NewRegistry()
	for _, some := range [][]*oper.Command{
		box().Commands(), engine.New(nil, nil).Commands(), iface.New(iface.Options{}).Commands(), rib.New(rib.Options{}).Commands(),
		policy.New().Commands(), bgp.New(bgp.Needs{}).Commands(),
		service.New(service.Options{}).Commands(), (&sessions.Manager{}).Commands(),
		monitor.New(monitor.Options{Places: &iface.Interfaces{}, Subscribers: &sessions.Manager{}}).Commands(),
		system.NewHost(nil).Commands(), probe.Commands(probe.Options{}),
	} {
		if err := registry.Add(some...); err != nil {
			return nil, err
		}
	}
	return registry.All(), nil
}
