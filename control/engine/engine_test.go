package engine

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"vbng/control/config"
	"vbng/control/oper"
	"vbng/control/schema"
)

func parse(t *testing.T, text string) *config.Tree {
	t.Helper()
	root, err := schema.Merge(New(nil, nil).Schema())
	if err != nil {
		t.Fatal(err)
	}
	tree, faults := config.Parse(root, text)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return tree
}

func TestCheck(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "",
		"engine\n workers 1\n cpu 3": "",
		"engine\n workers 2":         "runs 1",
		"engine\n cpu 1 2":           "2 CPUs for 1 workers",
	} {
		faults := New(nil, nil).Check(nil, parse(t, text))
		switch {
		case want == "" && len(faults) > 0:
			t.Errorf("%q: %v", text, faults)
		case want != "" && (len(faults) != 1 || !strings.Contains(faults[0].Error(), want)):
			t.Errorf("%q: %v, want %q", text, faults, want)
		}
	}
}

func TestDefaults(t *testing.T) {
	e := New(nil, nil)
	e.Apply(nil, parse(t, ""))
	if s := e.Settings(); s.Workers != 1 || s.Sessions != 65536 || s.Routes != 1<<20 || s.Spin || len(s.CPUs) != 0 {
		t.Errorf("without configuration: %+v", s)
	}
	e.Apply(nil, parse(t, "engine\n mode poll\n cpu 2\n limit sessions 1000"))
	if s := e.Settings(); !s.Spin || s.Sessions != 1000 || len(s.CPUs) != 1 || s.CPUs[0] != 2 {
		t.Errorf("configured: %+v", s)
	}
}

// tracer is a forwarder that records what it is asked.
type tracer struct {
	Source
	asked []string
}

func (t *tracer) Trace(_ context.Context, request string) (string, error) {
	t.asked = append(t.asked, request)
	return "packet 1: ethernet-input", nil
}

func TestTraceStartsWaitsAndShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &tracer{}
		begun := time.Now()
		answer, err := New(source, nil).trace(t.Context(), oper.Call{Args: map[string]string{"packets": "5", "seconds": "2"}})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took != 2*time.Second {
			t.Errorf("recorded for %v", took)
		}
		if strings.Join(source.asked, ", ") != "start 5, show" {
			t.Errorf("the forwarder was asked %q", source.asked)
		}
		if d := answer.(oper.Document); d.Data != "packet 1: ethernet-input" {
			t.Errorf("answer %+v", d)
		}
	})
}
