// Package system is the subsystem of what concerns the box as a whole: its name and its log.
package system

import (
	"context"
	"log/slog"
	"runtime"
	"sync/atomic"
	"time"

	"vbng/control/clock"
	"vbng/control/config"
	"vbng/control/oper"
	"vbng/control/schema"
)

// DefaultHostname is the box's name until it is configured.
const DefaultHostname = "vbng"

// System implements commit.Subsystem. Its readers may be called from any goroutine.
type System struct {
	level   *slog.LevelVar
	version string
	clock   clock.Clock
	started time.Time
	name    atomic.Pointer[string]
}

// New returns the subsystem; level is the one that the process's log handler looks at.
func New(level *slog.LevelVar, version string, c clock.Clock) *System {
	s := &System{level: level, version: version, clock: c, started: c.Now()}
	s.setName(DefaultHostname)
	return s
}

// Hostname is the configured name.
func (s *System) Hostname() string { return *s.name.Load() }

func (s *System) setName(name string) { s.name.Store(&name) }

// Name implements commit.Subsystem.
func (*System) Name() string { return "system" }

// Schema implements commit.Subsystem.
func (*System) Schema() []*schema.Node {
	return []*schema.Node{
		{Name: "hostname", Kind: schema.Leaf, Help: "Name of this router, shown in the prompt and told to RADIUS and PPPoE peers",
			Type: schema.String(63, `[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?`, "HOSTNAME"), Default: DefaultHostname},
		{Name: "logging level", Kind: schema.Leaf, Help: "Least severity that is logged",
			Type: schema.Enum("debug", "info", "warning", "error"), Default: "info"},
	}
}

// Check implements commit.Subsystem: there is nothing that the types do not check.
func (*System) Check(_, _ *config.Tree) []error { return nil }

// Reserve implements commit.Subsystem.
func (*System) Reserve(_, _ *config.Tree) error { return nil }

// Release implements commit.Subsystem.
func (*System) Release() {}

// Apply implements commit.Subsystem.
func (s *System) Apply(_, new *config.Tree) {
	s.setName(new.Text("hostname"))
	s.level.Set(levels[new.Text("logging level")])
}

// Run implements commit.Subsystem.
func (*System) Run(context.Context) error { return nil }

// versionShown is the typed value of "show version".
type versionShown struct {
	Hostname, Version, Go string
	UptimeSeconds         int64
}

// Commands returns the operational commands of the subsystem.
func (s *System) Commands() []*oper.Command {
	return []*oper.Command{{Words: "show version", Help: "Version of the control process and since when it runs",
		Run: func(context.Context, oper.Call) (any, error) {
			v := versionShown{Hostname: s.Hostname(), Version: s.version, Go: runtime.Version(), UptimeSeconds: int64(s.clock.Now().Sub(s.started).Seconds())}
			return oper.Document{Data: v, Sections: []oper.Section{{Title: "vBNG", Lines: []oper.Field{
				{Name: "Hostname", Value: v.Hostname}, {Name: "Version", Value: v.Version}, {Name: "Built with", Value: v.Go},
				{Name: "Uptime", Value: (time.Duration(v.UptimeSeconds) * time.Second).String()},
			}}}}, nil
		}}}
}

var levels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warning": slog.LevelWarn, "error": slog.LevelError,
}
