//go:build lab

package lab

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Router is a running vbngd.
type Router struct {
	lab     *Lab
	Control *Process
	config  string
	shell   []string // the operator's shell
	starts  int
}

// StartRouter starts vbngd in the router's namespace with the given configuration as its seed, and
// waits until it answers.
func (l *Lab) StartRouter(config string) *Router {
	l.t.Helper()
	r := &Router{lab: l, config: filepath.Join(l.Dir, "vbng.conf"), shell: []string{Bin("vbng"), "-socket", filepath.Join(l.Dir, "vbng.sock")}}
	if err := os.WriteFile(r.config, []byte(config), 0o600); err != nil {
		l.t.Fatal(err)
	}
	r.Start()
	l.t.Cleanup(r.stopForwarder)
	return r
}

// Start starts the control process (again).
func (r *Router) Start() {
	r.lab.t.Helper()
	r.Control = r.lab.Start("R", "vbngd", Bin("vbngd"), "-netns", r.lab.NS("V"), "-run", r.lab.Dir, "-state", filepath.Join(r.lab.Dir, "state"), "-seed", r.config)
	r.starts++
	Until(r.lab.t, 20*time.Second, "router answers", func() bool {
		_, err := r.try("show engine")
		return err == nil
	})
}

// CLI runs commands in the operator's shell and returns what they print; a failure ends the test.
func (r *Router) CLI(commands ...string) string {
	r.lab.t.Helper()
	out, err := r.try(commands...)
	if err != nil {
		r.lab.t.Fatalf("vbng %q: %v\n%s", commands, err, out)
	}
	return out
}

func (r *Router) try(commands ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return output(ctx, strings.NewReader(strings.Join(commands, "\n")+"\n"), r.shell...)
}

// stopForwarder ends the forwarder, which outlives its control on purpose.
func (r *Router) stopForwarder() {
	r.Control.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	output(ctx, nil, Bin("vbngd"), "stop", "-run", r.lab.Dir)
}

// Capture records the frames of a device until the test ends and returns the file.
func (l *Lab) Capture(ns, device string) string {
	l.t.Helper()
	file := filepath.Join(l.Dir, device+".pcapng")
	p := l.Start(ns, "dumpcap-"+device, "dumpcap", "-q", "-i", device, "-w", file)
	Until(l.t, 10*time.Second, "capture on "+device, func() bool { return strings.Contains(p.Output(), "File:") })
	return file
}

// need fails the test unless text contains every one of the wanted parts.
func need(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, w := range wanted {
		if !strings.Contains(text, w) {
			t.Errorf("missing %q in:\n%s", w, text)
		}
	}
}
