package shell

import (
	"context"
	"strings"
	"testing"

	"vbng/control/oper"
)

func TestShowTech(t *testing.T) {
	o := options(t)
	err := o.Registry.Add(&oper.Command{Words: "show long", Help: "Long", Run: func(context.Context, oper.Call) (any, error) {
		return strings.Repeat("é\n", techPartBytes), nil
	}}, &oper.Command{Words: "show needy", Help: "Needs something", Args: []oper.Arg{{Name: "what", Help: "It"}},
		Run: func(context.Context, oper.Call) (any, error) { return "never", nil }})
	if err != nil {
		t.Fatal(err)
	}
	// The command that never answers would take techPatience.
	o.Registry = without(t, o.Registry, "show slow")
	x := terminal{t, New(o, "alice")}
	got := x.types("show tech")
	for _, want := range []string{"goroutines", "show running-config\n  hostname bng1", "password <hidden>", "bytes left out", "% internal error: broken", "show subscribers\n  User"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in it", want)
		}
	}
	for _, not := range []string{"wonderland", "never", "\ufffd", "show tech\n"} {
		if strings.Contains(got, not) {
			t.Errorf("%q is in it", not)
		}
	}
	if len(got) > 8*techPartBytes {
		t.Errorf("%d bytes", len(got))
	}
}

func without(t testing.TB, r *oper.Registry, words string) *oper.Registry {
	t.Helper()
	left := oper.NewRegistry()
	for _, c := range r.All() {
		if c.Words == words {
			continue
		}
		if err := left.Add(c); err != nil {
			t.Fatal(err)
		}
	}
	return left
}
