package shell

import (
	"context"
	"testing"
	"time"

	"vbng/control/oper"
)

// streaming returns an operator whose router has a command that counts for ever, and one that ends by itself.
func streaming(t *testing.T) (x terminal, ended *int) {
	t.Helper()
	o := options(t)
	ended = new(int)
	err := o.Registry.Add(
		&oper.Command{Words: "monitor numbers", Help: "Numbers", Stream: func(ctx context.Context, _ oper.Call, emit func(any) bool) error {
			defer func() { *ended++ }()
			for n := 1; emit(subscriber{User: "n", VLAN: n}); n++ {
			}
			return ctx.Err()
		}},
		&oper.Command{Words: "monitor silence", Help: "Nothing", Bound: oper.Bound{Time: time.Millisecond},
			Stream: func(ctx context.Context, c oper.Call, emit func(any) bool) error {
				emit("begun\n")
				<-ctx.Done()
				return ctx.Err()
			}},
	)
	if err != nil {
		t.Fatal(err)
	}
	return terminal{t, New(o, "alice")}, ended
}

func TestStreamEndsByCount(t *testing.T) {
	x, ended := streaming(t)
	const want = "User  n\nVLAN  1\nUser  n\nVLAN  2\nEnded after 2 pieces.\n"
	if got := x.types("monitor numbers count 2"); got != want || *ended != 1 {
		t.Errorf("%q, ended %d", got, *ended)
	}
	if got := x.types("monitor numbers count 12 | include VLAN | exclude [13] | count"); got != "7 lines\nEnded after 12 pieces.\n" {
		t.Errorf("%q", got)
	}
	if got := x.types("monitor numbers count 1 | json | include vlan"); got != "  \"vlan\": 1\nEnded after 1 pieces.\n" {
		t.Errorf("%q", got)
	}
	x.fails("monitor numbers count 0", 22, "a number from 1 to 100000")
	x.fails("monitor numbers | include x | json", 30, "json must be the first filter")
}

func TestStreamEndsByTime(t *testing.T) {
	x, _ := streaming(t)
	if got := x.types("monitor silence"); got != "begun\nEnded after 1ms.\n" {
		t.Errorf("%q", got)
	}
}

func TestStreamEndsByOperator(t *testing.T) {
	x, ended := streaming(t)
	ctx, cancel := context.WithCancel(context.Background())
	pieces := 0
	r := x.s.Follow(ctx, "monitor numbers", func(string) bool {
		if pieces++; pieces == 3 {
			cancel()
		}
		return true
	})
	if *ended != 1 || r.Output != "Stopped after 3 pieces.\n" {
		t.Errorf("%+v, ended %d", r, *ended)
	}
	r = x.s.Follow(context.Background(), "monitor numbers", func(string) bool { return false })
	if r.Error != "the shell is gone" || *ended != 2 {
		t.Errorf("%+v, ended %d", r, *ended)
	}
}
