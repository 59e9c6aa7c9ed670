package system

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vbng/control/oper"
)

func TestShowClock(t *testing.T) {
	says := map[string]string{"chronyc": "", "timedatectl": ""}
	h := Host{Run: func(_ context.Context, program string, _ ...string) (string, error) {
		if text := says[program]; text != "" {
			return text, nil
		}
		if program == "chronyc" {
			return "506 Cannot talk to daemon\n", errors.New("exit status 1")
		}
		return "", &exec.Error{Name: program, Err: exec.ErrNotFound}
	}}
	ask := func() string {
		got, err := h.showClock(context.Background(), oper.Call{})
		if err != nil {
			t.Fatal(err)
		}
		d := got.(oper.Document)
		return fmt.Sprint(d.Sections[0], d.Data)
	}
	for _, want := range []string{"unavailable", "chronyc -n tracking: 506 Cannot talk to daemon", "timedatectl show: not installed"} {
		if got := ask(); !strings.Contains(got, want) {
			t.Errorf("without any: %s, want %q", got, want)
		}
	}
	says["timedatectl"] = "       Server: 192.0.2.9 (time)\nPoll interval: 34min\n"
	if got := ask(); !strings.Contains(got, "systemd-timesyncd") || !strings.Contains(got, "Server:192.0.2.9 (time)") {
		t.Errorf("by timesyncd: %s", got)
	}
	says["chronyc"] = "Reference ID    : C0000209 (192.0.2.9)\nStratum         : 3\n"
	if got := ask(); !strings.Contains(got, "{Stratum 3}") {
		t.Errorf("by chrony: %s", got)
	}
}

func TestShowResolver(t *testing.T) {
	file := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(file, []byte("# mine\nnameserver 192.0.2.53\nnameserver 2001:db8::53\nsearch example.net example.org\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Host{Resolver: file}.showResolver(context.Background(), oper.Call{})
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprint(got.(oper.Document).Data); text != "{[192.0.2.53 2001:db8::53] [example.net example.org]}" {
		t.Errorf("resolver %s", text)
	}
}
