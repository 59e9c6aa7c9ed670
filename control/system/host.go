package system

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"time"

	"vbng/control/oper"
)

// The host keeps the clock and knows the resolver; the router shows what they are.

// askTime bounds a program of the host.
const askTime = 5 * time.Second

// Host is where the facts of the host come from.
type Host struct {
	// Run runs a program in the host's network namespace and returns what it prints; the error is
	// fs.ErrNotExist or exec.ErrNotFound when there is no such program.
	Run func(ctx context.Context, program string, arguments ...string) (string, error)
	// Resolver is the file of the host's resolver.
	Resolver string
}

// NewHost returns the host that the process runs on. do runs a function in the host's network namespace, on a
// thread of its own; nil: the process is there.
func NewHost(do func(func() error) error) Host {
	return Host{Resolver: "/etc/resolv.conf", Run: func(ctx context.Context, program string, arguments ...string) (text string, err error) {
		ctx, cancel := context.WithTimeout(ctx, askTime)
		defer cancel()
		ask := func() error {
			out, err := exec.CommandContext(ctx, program, arguments...).CombinedOutput()
			text = string(out)
			return err
		}
		if do == nil {
			return text, ask()
		}
		return text, do(ask)
	}}
}

// clocks are the programs that know about the clock, best first.
var clocks = []struct {
	name    string
	command []string
}{
	{"chrony", []string{"chronyc", "-n", "tracking"}},
	{"systemd-timesyncd", []string{"timedatectl", "timesync-status"}},
	{"timedatectl", []string{"timedatectl", "show"}},
}

// ClockShown is the typed value of "show ntp": what the host's program says, name to value.
type ClockShown struct {
	Source string // empty: nobody knows
	Facts  map[string]string
}

func (h Host) showClock(ctx context.Context, _ oper.Call) (any, error) {
	var tried []string
	for _, c := range clocks {
		text, err := h.Run(ctx, c.command[0], c.command[1:]...)
		if err != nil {
			tried = append(tried, fmt.Sprintf("%s: %s", strings.Join(c.command, " "), reason(text, err)))
			continue
		}
		lines := facts(text)
		shown := ClockShown{Source: c.name, Facts: map[string]string{}}
		for _, f := range lines {
			shown.Facts[f.Name] = f.Value
		}
		return oper.Document{Data: shown, Sections: []oper.Section{{Title: "Clock of the host, by " + c.name, Lines: lines}}}, nil
	}
	return oper.Document{Data: ClockShown{Facts: map[string]string{}}, Sections: []oper.Section{{
		Title: "Clock of the host", Text: "unavailable: neither chrony nor systemd-timesyncd answers\n" + strings.Join(tried, "\n")}}}, nil
}

// reason says in a line why a program told nothing.
func reason(text string, err error) string {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return "not installed"
	}
	if first, _, _ := strings.Cut(strings.TrimSpace(text), "\n"); first != "" {
		return first
	}
	return err.Error()
}

// facts reads lines of NAME : VALUE or NAME=VALUE.
func facts(text string) (lines []oper.Field) {
	for scanner := bufio.NewScanner(strings.NewReader(text)); scanner.Scan(); {
		name, value, ok := strings.Cut(scanner.Text(), ":")
		if !ok {
			name, value, ok = strings.Cut(scanner.Text(), "=")
		}
		if ok {
			lines = append(lines, oper.Field{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)})
		}
	}
	return lines
}

// ResolverShown is the typed value of "show dns".
type ResolverShown struct{ Servers, Search []string }

func (h Host) showResolver(context.Context, oper.Call) (any, error) {
	text, err := os.ReadFile(h.Resolver)
	if err != nil {
		return nil, fmt.Errorf("show dns: %w", err)
	}
	shown := ResolverShown{Servers: []string{}, Search: []string{}}
	for scanner := bufio.NewScanner(strings.NewReader(string(text))); scanner.Scan(); {
		words := strings.Fields(scanner.Text())
		switch {
		case len(words) >= 2 && words[0] == "nameserver":
			shown.Servers = append(shown.Servers, words[1])
		case len(words) >= 2 && (words[0] == "search" || words[0] == "domain"):
			shown.Search = words[1:]
		}
	}
	return oper.Document{Data: shown, Sections: []oper.Section{{Title: "Resolver of the host (" + h.Resolver + ")", Lines: []oper.Field{
		{Name: "Servers", Value: strings.Join(shown.Servers, " ")}, {Name: "Search", Value: strings.Join(shown.Search, " ")},
	}}}}, nil
}

// Commands returns the show commands.
func (h Host) Commands() []*oper.Command {
	return []*oper.Command{
		{Words: "show dns", Help: "Name servers of the host, by which names are resolved", Run: h.showResolver},
		{Words: "show ntp", Help: "State of the host's clock, as chrony or systemd-timesyncd tells it", Run: h.showClock},
	}
}
