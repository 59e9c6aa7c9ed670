package loop

import (
	"context"
	"testing"

	"vbng/control/clock"
)

// A loop whose inbox never runs empty ends with its context all the same.
func TestRunEndsUnderLoad(t *testing.T) {
	const bound = 1 << 20
	l := New[int](clock.Real{}, 1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	handled := 0
	l.Post(0)
	l.Run(ctx, func(n int) {
		if handled++; handled == 10 {
			cancel()
		}
		if n < bound {
			l.Post(n + 1)
		}
	})
	if handled > bound/2 {
		t.Errorf("%d messages were handled after the end", handled-10)
	}
}

func TestOfferIsBoundedAndPostIsNot(t *testing.T) {
	l := New[int](clock.Real{}, 2)
	if !l.Offer(1) || !l.Offer(2) || l.Offer(3) || l.Refused() != 1 {
		t.Errorf("%d refused", l.Refused())
	}
	l.Post(4)
	var got []int
	l.Drain(func(n int) { got = append(got, n) })
	if len(got) != 3 || got[2] != 4 || !l.Offer(5) {
		t.Errorf("handled %v", got)
	}
}
