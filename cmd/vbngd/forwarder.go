package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"vbng/control/engine"
	"vbng/forwarding"
	"vbng/forwarding/process"
	"vbng/forwarding/remote"
)

// runForwarder is the forwarder process from start to end.
func runForwarder(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("vbngd forward", flag.ContinueOnError)
	run := runFlag(flags)
	limits := forwarding.DefaultLimits()
	workers := flags.Int("workers", 1, "threads that move packets")
	cpus := flags.String("cpus", "", "CPUs of the workers, separated by commas; empty: the highest ones")
	spin := flags.Bool("spin", false, "workers never sleep")
	flags.IntVar(&limits.Sessions, "sessions", limits.Sessions, "most subscribers")
	flags.IntVar(&limits.Routes, "routes", limits.Routes, "most routes")
	flags.IntVar(&limits.Neighbors, "neighbors", limits.Neighbors, "most neighbours")
	flags.IntVar(&limits.Buffers, "buffers", limits.Buffers, "packet buffers per worker")
	if err := flags.Parse(args); err != nil {
		return err
	}
	pinned, err := workerCPUs(*cpus, *workers)
	if err != nil {
		return err
	}
	return process.Serve(ctx, process.Config{Path: paths{run: *run}.forwarderSock(), Limits: limits, Workers: *workers,
		CPUs: pinned, Spin: *spin, Log: newLogger(slog.LevelInfo).With("process", "forwarder")})
}

// workerCPUs reads the list of CPUs. An empty one means the highest, as interrupts and housekeeping
// like the lowest; when that would leave none for the rest, nothing is pinned.
func workerCPUs(text string, workers int) ([]int, error) {
	var cpus []int
	if text == "" {
		for i := range workers {
			cpus = append(cpus, runtime.NumCPU()-workers+i)
		}
		if cpus[0] < 1 {
			return nil, nil
		}
		return cpus, nil
	}
	for _, word := range strings.Split(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil, fmt.Errorf("CPU list %q: %q is not a number", text, word)
		}
		cpus = append(cpus, n)
	}
	return cpus, nil
}

// startForwarder runs a forwarder as configured, in a process session of its own: what ends control
// does not end it.
func startForwarder(p paths, s engine.Settings) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find own executable: %w", err)
	}
	arguments := []string{"forward", "-run", p.run, "-workers", strconv.Itoa(s.Workers), "-sessions", strconv.Itoa(s.Sessions),
		"-routes", strconv.Itoa(s.Routes), "-neighbors", strconv.Itoa(s.Neighbors), "-buffers", strconv.Itoa(s.Buffers)}
	if len(s.CPUs) > 0 {
		arguments = append(arguments, "-cpus", strings.Trim(strings.ReplaceAll(fmt.Sprint(s.CPUs), " ", ","), "[]"))
	}
	if s.Spin {
		arguments = append(arguments, "-spin")
	}
	return remote.Spawn(self, arguments...)()
}

// stopTime bounds how long a forwarder may take to end.
const stopTime = 5 * time.Second

// stopForwarder ends the forwarder that serves the run folder's socket. Sessions end with it as far as
// packets go; a control process that still runs starts a new one.
func stopForwarder(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("vbngd stop", flag.ContinueOnError)
	run := runFlag(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	pid, err := servingProcess(paths{run: *run}.forwarderSock())
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil // none runs
	}
	if err != nil {
		return fmt.Errorf("find the forwarder: %w", err)
	}
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
