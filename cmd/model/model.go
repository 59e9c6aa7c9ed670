// Package model knows the configuration that this version of the router understands, without being a
// router: for checking files and for the reference manual.
package model

import (
	"log/slog"

	"vbng/aaa/service"
	"vbng/control/commit"
	"vbng/control/engine"
	"vbng/control/system"
	"vbng/routing/iface"
	"vbng/routing/static"
	"vbng/sessions"
)

// Subsystems returns the subsystems in the order of their configuration. Only Name, Schema and Check
// of them may be called: they are joined to nothing.
func Subsystems() []commit.Subsystem {
	return []commit.Subsystem{
		system.New(new(slog.LevelVar)), engine.New(nil), iface.New(iface.Options{}), static.New(nil),
		service.New(service.Options{}), &sessions.Manager{},
	}
}
