package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"vbng/control/clock"
	"vbng/control/logbook"
	"vbng/control/netns"
)

// runControl is the control process from start to end. Ending it ends no session: the forwarder goes
// on, and the next control finds everything in the store.
func runControl(args []string) error {
	flags := flag.NewFlagSet("vbngd", flag.ContinueOnError)
	run := runFlag(flags)
	state := stateFlag(flags)
	namespace := namespaceFlag(flags)
	forwarder := flags.String("forwarder", "start", "start: start a forwarder when none runs; wait: wait for one that somebody else starts, as a unit of its own")
	seed := flags.String("seed", "/etc/vbng/vbng.conf", "configuration for an empty state folder")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if *forwarder != "start" && *forwarder != "wait" {
		return fmt.Errorf("-forwarder %q: start or wait", *forwarder)
	}
	p := paths{run: *run, state: *state}
	home, err := netns.Enter(*namespace) // first of all: the process is executed anew
	if err != nil {
		return err
	}
	ctx, stop := untilSignalled()
	defer stop()
	for _, dir := range []string{p.run, p.state} {
		if err := os.MkdirAll(dir, 0o750); err != nil {
			return fmt.Errorf("make folder: %w", err)
		}
	}
	release, err := holdFolder(p.run, folderPatience)
	if err != nil {
		return err
	}
	defer release()
	if p.state, err = filepath.Abs(p.state); err != nil {
		return fmt.Errorf("find state folder: %w", err)
	}
	if err := leaveTraces(p, traces{State: p.state, Namespace: *namespace, Made: home.Made}); err != nil {
		return err
	}
	book := logbook.New(os.Stderr, clock.Real{})
	r, err := wire(p, dwelling{home.Host, *namespace, *forwarder == "wait"}, *seed, book)
	if err != nil {
		return err
	}
	defer r.store.Close()
	return r.run(ctx)
}

// folderPatience is how long a starting control waits for one that is just ending.
const folderPatience = 5 * time.Second

// holdFolder makes this process the only control on a folder of sockets, before it touches anything there: one
// with another state folder would take the forwarder over, and with it the sessions that it does not know.
func holdFolder(dir string, patience time.Duration) (release func(), err error) {
	path := filepath.Join(dir, "control.lock")
	lock, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open control's lock: %w", err)
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(folderPause) {
		err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = lock.Close() }, nil
		}
		if time.Now().After(deadline) {
			_ = lock.Close()
			return nil, fmt.Errorf("another router runs on folder %s: lock %s: %w", dir, path, err)
		}
	}
}

const folderPause = 50 * time.Millisecond

// restoreReminder is how often a slow restore is logged.
const restoreReminder = 10 * time.Second

// run starts every loop and waits for the end.
func (r *router) run(ctx context.Context) error {
	if err := r.commits.Start(); err != nil {
		return fmt.Errorf("load configuration: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	start := func(name string, f func(context.Context) error) {
		wg.Go(func() {
			if err := f(ctx); err != nil {
				cancel(fmt.Errorf("%s: %w", name, err))
			}
		})
	}
	for _, s := range r.subsystems {
		start(s.Name(), s.Run)
	}
	start("configuration", r.commits.Run)
	start("rib", r.rib.Run)
	start("forwarder client", r.client.Run)
	start("restore", r.restore)
	start("operators' socket", r.operators.Run)
	r.log.Info("router started", "version", version())
	<-ctx.Done()
	err := context.Cause(ctx)
	wg.Wait()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// restore brings back what an earlier control left, in the order of reference: ports, then the sessions
// on them, then routes, for which BGP waits until its neighbours have told theirs (not for ever). When all
// have settled, the forwarder may sweep what nobody spoke for.
func (r *router) restore(ctx context.Context) error {
	r.settle(ctx, "interfaces", r.interfaces.Settled)
	r.settle(ctx, "sessions", r.restoreSessions)
	r.settle(ctx, "BGP", r.bgp.Settled)
	r.settle(ctx, "routes", r.rib.Settled)
	if ctx.Err() == nil {
		r.client.Synced()
	}
	return nil
}

// restoreSessions takes up the sessions of before. A store that cannot be read does not keep the router
// from serving those who dial in anew. A router without sessions tells the accounting servers so.
func (r *router) restoreSessions(done func()) {
	err := r.sessions.Restore(func(revived int) {
		if revived == 0 {
			r.authority.AnnounceStart()
		}
		done()
	})
	if err != nil {
		r.log.Error("sessions of before are lost in part or whole", "error", err)
	}
}

// settle waits until a part has taken up what it had before, however long that is: to sweep too early
// would end sessions that live.
func (r *router) settle(ctx context.Context, part string, ask func(done func())) {
	settled := make(chan struct{})
	ask(func() { close(settled) })
	reminder := time.NewTicker(restoreReminder)
	defer reminder.Stop()
	for {
		select {
		case <-settled:
			return
		case <-reminder.C:
			r.log.Warn("still restoring; what the forwarder held before stays meanwhile", "part", part)
		case <-ctx.Done():
			return
		}
	}
}
