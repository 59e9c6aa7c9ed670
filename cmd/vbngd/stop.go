package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"vbng/control/netns"
	"vbng/control/store"
	"vbng/routing/iface"
)

// stopTime bounds how long a forwarder may take to end.
const stopTime = 5 * time.Second

// traces is what a control leaves for "vbngd stop" to take away, in a file of the run folder.
type traces struct {
	State     string // folder of the store
	Namespace string // empty: the host's
	Made      bool   // the namespace is ours to remove
}

func (p paths) traces() string { return filepath.Join(p.run, "router.json") }

// leaveTraces notes what there is to take away. A namespace that an earlier control made is still ours.
func leaveTraces(p paths, t traces) error {
	if before, err := readTraces(p); err == nil && before.Namespace == t.Namespace {
		t.Made = t.Made || before.Made
	}
	text, err := json.Marshal(t)
	if err == nil {
		err = os.WriteFile(p.traces(), text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("note what is to be taken away at the end: %w", err)
	}
	return nil
}

func readTraces(p paths) (t traces, err error) {
	text, err := os.ReadFile(p.traces())
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	return t, err
}

// makeNamespace makes the network namespace of a control that runs without root, and notes that it is to be
// removed at the end.
func makeNamespace(args []string) error {
	flags := flag.NewFlagSet("vbngd namespace", flag.ContinueOnError)
	run := runFlag(flags)
	state := stateFlag(flags)
	name := namespaceFlag(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	made, err := netns.Make(*name)
	if err != nil || !made {
		return err
	}
	p := paths{run: *run, state: *state}
	if err := leaveTraces(p, traces{State: p.state, Namespace: *name, Made: true}); err != nil {
		return err
	}
	return giveToOwnerOf(p.run, p.traces())
}

// giveToOwnerOf lets the owner of a folder change a file in it.
func giveToOwnerOf(dir, file string) error {
	var s unix.Stat_t
	if err := unix.Stat(dir, &s); err != nil {
		return fmt.Errorf("find owner of %s: %w", dir, err)
	}
	if err := os.Chown(file, int(s.Uid), int(s.Gid)); err != nil {
		return fmt.Errorf("give %s away: %w", file, err)
	}
	return nil
}

// stopRouter ends the forwarder that serves the run folder's socket. Sessions end with it as far as packets
// go; a control process that still runs starts a new one. When none runs, all else that the router has
// changed in the kernel goes as well.
func stopRouter(args []string) error {
	ctx, stop := untilSignalled()
	defer stop()
	flags := flag.NewFlagSet("vbngd stop", flag.ContinueOnError)
	run := runFlag(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	p := paths{run: *run}
	host, err := stopForwarder(ctx, p)
	if err != nil {
		return err
	}
	defer host.Close()
	if _, err := os.Stat(p.run); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	release, err := holdFolder(p.run, 0)
	if err != nil {
		return nil // control runs on
	}
	defer release()
	return takeAway(p, host)
}

// takeAway gives the kernel back as it was found.
func takeAway(p paths, host *netns.Namespace) error {
	t, err := readTraces(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read what is to be taken away: %w", err)
	}
	faults := []error{clearKernel(paths{run: p.run, state: t.State}, host, t.Namespace)}
	if t.Made {
		faults = append(faults, netns.Remove(t.Namespace))
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	return os.Remove(p.traces())
}

func clearKernel(p paths, host *netns.Namespace, namespace string) error {
	home := host
	o := iface.KernelOptions{}
	if namespace != "" {
		own, err := netns.Open(namespace)
		if err != nil {
			return err
		}
		defer own.Close()
		home, o.Host = own, host
	}
	if _, err := os.Stat(p.store()); err == nil {
		kept, err := store.Open(p.store(), newLogger(slog.LevelWarn))
		if err != nil {
			return err
		}
		defer kept.Close()
		o.Settings = kept.Bucket(settingsBucket)
	}
	kernel, err := iface.NewKernel(o)
	return errors.Join(err, netns.Do(home, kernel.Clear))
}

// stopForwarder ends the forwarder, if one runs, and returns the namespace it lived in: the host's.
func stopForwarder(ctx context.Context, p paths) (host *netns.Namespace, err error) {
	pid, err := servingProcess(p.forwarderSock())
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return netns.Current() // none runs: the host is where we are called
	}
	if err != nil {
		return nil, fmt.Errorf("find the forwarder: %w", err)
	}
	if host, err = netns.Open(fmt.Sprintf("/proc/%d/ns/net", pid)); err != nil {
		return nil, err
	}
	return host, endProcess(ctx, pid)
}

func endProcess(ctx context.Context, pid int) error {
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return fmt.Errorf("end the forwarder, process %d: %w", pid, err)
	}
	for deadline := time.Now().Add(stopTime); syscall.Kill(pid, 0) == nil; {
		if time.Now().After(deadline) {
			return fmt.Errorf("the forwarder, process %d, does not end", pid)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// servingProcess asks the kernel who listens on a socket.
func servingProcess(path string) (pid int, err error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	failed := raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err := errors.Join(failed, err); err != nil {
		return 0, err
	}
	return int(cred.Pid), nil
}
