package iface

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"vbng/control/clock"
)

// stubbornKernel refuses some orders.
type stubbornKernel struct {
	refuse int
	seen   []string
}

func (k *stubbornKernel) Configure(s HostState) error {
	k.seen = append(k.seen, s.Quiet[0])
	if k.refuse--; k.refuse >= 0 {
		return errors.New("busy")
	}
	return nil
}

// What the kernel refuses is tried again, but not once something newer is wanted.
func TestKernelIsAskedAgain(t *testing.T) {
	c, k := clock.NewFake(time.Unix(0, 0)), &stubbornKernel{refuse: 3}
	w := newHostWorker(k, c, slog.New(slog.DiscardHandler))
	ask := func(device string) { w.want(HostState{Quiet: []string{device}}); w.loop.Drain(w.configure) }
	wait := func() { c.Advance(hostRetry); w.loop.Drain(w.configure) }
	ask("one")
	wait()
	ask("two")
	wait()
	wait()
	if got := len(k.seen); got != 4 || k.seen[1] != "one" || k.seen[2] != "two" || k.seen[3] != "two" {
		t.Errorf("asked for %v", k.seen)
	}
}
