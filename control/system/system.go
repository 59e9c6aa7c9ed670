// Package system is the subsystem of what concerns the box as a whole: its name and its log.
package system

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"vbng/control/clock"
	"vbng/control/config"
	"vbng/control/logbook"
	"vbng/control/oper"
	"vbng/control/schema"
)

// DefaultHostname is the box's name until it is configured.
const DefaultHostname = "vbng"

// Options is what a System is made of.
type Options struct {
	Book    *logbook.Book // the process's log
	Dial    logbook.Dial  // to syslog servers
	Version string
	Clock   clock.Clock
}

// System implements commit.Subsystem. Its readers may be called from any goroutine.
type System struct {
	options Options
	started time.Time
	name    atomic.Pointer[string]
}

// New returns the subsystem.
func New(o Options) *System {
	s := &System{options: o, started: o.Clock.Now()}
	s.name.Store(new(DefaultHostname))
	return s
}

// Hostname is the configured name.
func (s *System) Hostname() string { return *s.name.Load() }

// Name implements commit.Subsystem.
func (*System) Name() string { return "system" }

// Schema implements commit.Subsystem.
func (*System) Schema() []*schema.Node {
	return []*schema.Node{
		{Name: "hostname", Kind: schema.Leaf, Help: "Name of this router, shown in the prompt and told to RADIUS and PPPoE peers",
			Type: schema.String(63, `[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?`, "HOSTNAME"), Default: DefaultHostname},
		{Name: "logging buffered", Kind: schema.Leaf, Help: "How many messages \"show logging\" can show",
			Type: schema.Uint(0, 100_000, "messages"), Default: strconv.Itoa(logbook.DefaultSize)},
		{Name: "logging level", Kind: schema.Leaf, Help: "Least severity that is logged",
			Type: severity(), Default: "info"},
		{Name: "logging host", Kind: schema.List, Help: "Syslog server (RFC 5424)",
			Keys: []*schema.Node{{Name: "address", Kind: schema.Leaf, Help: "Its address", Type: schema.Addr()}},
			Children: []*schema.Node{
				{Name: "vrf", Kind: schema.Leaf, Help: "Whose way leads to it; management is the host's own", Type: schema.Name()},
				{Name: "port", Kind: schema.Leaf, Help: "Its port", Type: schema.Uint(1, 65535, ""), Default: "514"},
				{Name: "transport", Kind: schema.Leaf, Help: "How messages go there", Type: schema.Enum("udp", "tcp"), Default: "udp"},
				{Name: "level", Kind: schema.Leaf, Help: "Least severity that it gets", Type: severity(), Default: "debug"},
			}},
	}
}

func severity() schema.Type { return schema.Enum("debug", "info", "warning", "error") }

// Check implements commit.Subsystem: a VRF that a server names must be there.
func (*System) Check(_, new *config.Tree) []error {
	var faults []error
	for _, h := range new.List("logging host") {
		switch name := h.Text("vrf"); {
		case name == "", name == defaultVRF, name == managementVRF, new.Entry("vrf", name) != nil:
		default:
			faults = append(faults, &config.Error{Path: "logging host " + h.Text("address") + " / vrf", Word: name,
				Line: h.LineOf("vrf"), Text: fmt.Sprintf("vrf %q is not defined", name)})
		}
	}
	return faults
}

// The VRFs that are there without being configured.
const (
	defaultVRF    = "default"
	managementVRF = "management"
)

// Reserve implements commit.Subsystem.
func (*System) Reserve(_, _ *config.Tree) error { return nil }

// Release implements commit.Subsystem.
func (*System) Release() {}

// Apply implements commit.Subsystem.
func (s *System) Apply(_, new *config.Tree) {
	name, book := new.Text("hostname"), s.options.Book
	s.name.Store(&name)
	book.SetName(name)
	book.SetLevel(levels[new.Text("logging level")])
	book.Resize(int(new.Uint("logging buffered")))
	var hosts []logbook.Host
	for _, h := range new.List("logging host") {
		vrf := h.Text("vrf")
		if vrf == defaultVRF {
			vrf = ""
		}
		hosts = append(hosts, logbook.Host{Address: net.JoinHostPort(h.Text("address"), h.Text("port")), VRF: vrf,
			Transport: h.Text("transport"), Least: levels[h.Text("level")]})
	}
	book.SetHosts(hosts, s.options.Dial)
}

// Run implements commit.Subsystem.
func (s *System) Run(ctx context.Context) error {
	<-ctx.Done()
	s.options.Book.SetHosts(nil, nil)
	return nil
}

// versionShown is the typed value of "show version".
type versionShown struct {
	Hostname, Version, Go string
	UptimeSeconds         int64
}

// Commands returns the operational commands of the subsystem.
func (s *System) Commands() []*oper.Command {
	return []*oper.Command{
		{Words: "show version", Help: "Version of the control process and since when it runs", Run: s.showVersion},
		{Words: "show logging", Help: "The newest messages of control's log", Run: s.showLogging, Args: []oper.Arg{
			{Name: "last", Help: "So many messages at most", Keyword: true, Optional: true, Check: isCount},
			{Name: "level", Help: "Of this severity and above", Keyword: true, Optional: true, Enum: severity().Words()},
		}},
		{Words: "show logging hosts", Help: "How it goes with the syslog servers", Run: s.showHosts},
	}
}

func isCount(word string) error {
	if n, err := strconv.Atoi(word); err != nil || n < 1 {
		return fmt.Errorf("expected a number from 1 on, found %q", word)
	}
	return nil
}

func (s *System) showVersion(context.Context, oper.Call) (any, error) {
	v := versionShown{Hostname: s.Hostname(), Version: s.options.Version, Go: runtime.Version(),
		UptimeSeconds: int64(s.options.Clock.Now().Sub(s.started).Seconds())}
	return oper.Document{Data: v, Sections: []oper.Section{{Title: "vBNG", Lines: []oper.Field{
		{Name: "Hostname", Value: v.Hostname}, {Name: "Version", Value: v.Version}, {Name: "Built with", Value: v.Go},
		{Name: "Uptime", Value: (time.Duration(v.UptimeSeconds) * time.Second).String()},
	}}}}, nil
}

func (s *System) showLogging(_ context.Context, c oper.Call) (any, error) {
	count, least := math.MaxInt, slog.LevelDebug
	if c.Has("last") {
		count, _ = strconv.Atoi(c.Args["last"])
	}
	if c.Has("level") {
		least = levels[c.Args["level"]]
	}
	return oper.Table[logbook.Record]{Rows: s.options.Book.Last(count, least)}, nil
}

func (s *System) showHosts(context.Context, oper.Call) (any, error) {
	return oper.Table[logbook.HostState]{Rows: s.options.Book.Hosts()}, nil
}

var levels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warning": slog.LevelWarn, "error": slog.LevelError,
}
