package sessions

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"vbng/control/oper"
	"vbng/forwarding/wire"
)

// debugging is a "debug subscriber" that runs.
type debugging struct {
	lines  chan string
	result chan error
	cancel context.CancelFunc
}

// debug begins one, and returns when it follows or was refused.
func (w *world) debug(args map[string]string) *debugging {
	ctx, cancel := context.WithCancel(context.Background())
	w.t.Cleanup(cancel)
	d := &debugging{lines: make(chan string, 10_000), result: make(chan error, 1), cancel: cancel}
	before := len(w.m.followers)
	go func() {
		d.result <- w.m.debugSubscriber(ctx, oper.Call{Args: args}, func(piece any) bool {
			d.lines <- piece.(oper.Document).Sections[0].Text
			return true
		})
	}()
	for len(w.m.followers) == before && len(d.result) == 0 {
		w.drain()
		runtime.Gosched()
	}
	return d
}

// stop ends it and returns all that it said.
func (w *world) stop(d *debugging) (said string, err error) {
	for _, f := range w.m.followers { // let it catch up
		for len(f.events) > 0 {
			runtime.Gosched()
		}
	}
	d.cancel()
	err = <-d.result
	for len(d.lines) > 0 {
		said += <-d.lines + "\n"
	}
	w.drain()
	return said, err
}

func TestDebugTellsTheWholeLifeOfASession(t *testing.T) {
	w := newWorld(t, sampleConfig)
	c, other := w.peer(1), w.peer(2)
	d := w.debug(map[string]string{"mac": c.mac.String()})
	c.dial()
	other.dial()
	w.settle(c, other)
	if len(w.requests) == 0 || w.requests[0].Trace == nil && w.requests[1].Trace == nil {
		t.Error("AAA was not asked to tell")
	}
	for _, r := range w.requests {
		if r.Trace != nil {
			r.Trace("Access-Request to somebody")
		}
	}
	c.discover(wire.CodePADT, c.session, nil)
	w.settle(c, other)
	said, err := w.stop(d)
	if err != nil {
		t.Error(err)
	}
	for _, want := range []string{
		"state   nobody yet", "in      PPPoE PADI", "out     PPPoE PADO", "in      PPPoE PADR", "out     PPPoE PADS",
		"state   PPPoE of 02:01:00:00:00:01 on access0, VLAN 100.2", "program put session", "program confirmed",
		"out     LCP Configure-Request", "in      LCP Configure-Ack", "state   link -> authenticating", `state   user "alice"`,
		"out     CHAP Challenge", "in      CHAP Response", "aaa     granted", "aaa     Access-Request to somebody",
		"of pool residential", "route   route to 100.64.", "IPCP Configure-Request", "network -> up", "timer   setup in 2m0s",
		"in      PPPoE PADT", "end     ends: padt-received", "up -> ending", "end     ended: padt-received",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("nothing of %q", want)
		}
	}
	if strings.Contains(said, other.mac.String()) {
		t.Error("told of another subscriber")
	}
	if t.Failed() {
		t.Log("\n" + said)
	}
	if w.m.followers != nil || w.m.listening.Load() != nil {
		t.Error("somebody still follows")
	}
}

func TestDebugOfOneSessionEndsWithIt(t *testing.T) {
	w := newWorld(t, sampleConfig)
	c := w.peer(1)
	c.dial()
	w.settle(c)
	s := w.m.index.byTuple[c.tuple()]
	d := w.debug(map[string]string{"ip": s.ipv4().String()})
	c.discover(wire.CodePADT, c.session, nil)
	w.settle(c)
	var last *oper.Farewell
	if err := <-d.result; !errors.As(err, &last) || !strings.Contains(last.Text, "has ended: padt-received") {
		t.Errorf("ended with %v", err)
	}
	w.drain()
	if w.m.followers != nil {
		t.Error("somebody still follows")
	}
}

func TestDebugRefuses(t *testing.T) {
	w := newWorld(t, sampleConfig)
	for want, args := range map[string]map[string]string{
		"say whom":        {"count": "7"},
		"is still to":     {"ip": "192.0.2.1"},
		"expected a MAC":  {"mac": "nobody"},
		"session number,": {"session-id": "0"},
	} {
		if err := <-w.debug(args).result; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", args, err)
		}
	}
	for range maxFollowers {
		w.debug(map[string]string{"user": "alice"})
	}
	if err := <-w.debug(map[string]string{"user": "alice"}).result; err == nil || !strings.Contains(err.Error(), "already") {
		t.Error(err)
	}
}

// What nobody reads is counted and told; the loop does not wait.
func TestDebugIsBounded(t *testing.T) {
	w := newWorld(t, sampleConfig)
	f := &follower{clock: w.clock.Now, events: make(chan Happened, 2), over: make(chan string, 1)}
	for range 5 {
		f.tell(1, "state", "x")
	}
	var told uint64
	if got := f.piece(<-f.events, &told).Sections[0].Text; !strings.HasPrefix(got, "-- 3 events are missing") {
		t.Error(got)
	}
	for n := range maxFollowed + 1 {
		c := w.peer(10 + n)
		c.dial()
		w.settle(c)
	}
	if err := <-w.debug(map[string]string{"user": "alice"}).result; err == nil || !strings.Contains(err.Error(), "too many") {
		t.Error(err)
	}
}

func TestDebugOfIPoE(t *testing.T) {
	w := newWorld(t, dualConfig)
	s := w.station(1)
	d := w.debug(map[string]string{"mac": s.mac.String()})
	s.discover()
	w.settleWith(s)
	said, _ := w.stop(d)
	for _, want := range []string{"in      DHCP DISCOVER", "out     DHCP OFFER", "IPoE of"} {
		if !strings.Contains(said, want) {
			t.Errorf("nothing of %q in\n%s", want, said)
		}
	}
}

// SelectOne finds one, and says when it is over.
func TestSelectOne(t *testing.T) {
	w := newWorld(t, sampleConfig)
	c := w.peer(1)
	c.dial()
	w.settle(c)
	ended := make(chan string, 1)
	found := make(chan error, 1)
	go func() {
		id, name, _, err := w.m.SelectOne(t.Context(), oper.Call{Args: map[string]string{"user": "alice", "count": "5"}}, func(cause string) { ended <- cause })
		if err == nil && (id == 0 || !strings.HasPrefix(name, "alice (session ")) {
			err = errors.New(name)
		}
		found <- err
	}()
	for len(found) == 0 {
		w.drain()
		runtime.Gosched()
	}
	if err := <-found; err != nil {
		t.Fatal(err)
	}
	c.discover(wire.CodePADT, c.session, nil)
	w.settle(c)
	if got := <-ended; got != string(CausePADT) {
		t.Error(got)
	}
	if len(w.m.farewells) != 0 {
		t.Error("somebody still waits")
	}
}
