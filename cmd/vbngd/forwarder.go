package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strconv"
	"strings"

	"vbng/control/engine"
	"vbng/control/netns"
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
	flags.IntVar(&limits.Routes, "routes", limits.Routes, "most IPv4 routes")
	flags.IntVar(&limits.Routes6, "routes6", limits.Routes6, "most IPv6 routes")
	flags.IntVar(&limits.Groups, "groups", limits.Groups, "most groups of next hops")
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

// startForwarder runs a forwarder as configured, in a process session of its own, and in the host's namespace, where
// the ports are: what ends control does not end it.
func startForwarder(p paths, host *netns.Namespace, s engine.Settings) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find own executable: %w", err)
	}
	arguments := []string{"forward", "-run", p.run, "-workers", strconv.Itoa(s.Workers), "-sessions", strconv.Itoa(s.Sessions),
		"-routes", strconv.Itoa(s.Routes), "-routes6", strconv.Itoa(s.Routes6), "-groups", strconv.Itoa(s.Groups), "-neighbors", strconv.Itoa(s.Neighbors), "-buffers", strconv.Itoa(s.Buffers)}
	if len(s.CPUs) > 0 {
		arguments = append(arguments, "-cpus", strings.Trim(strings.ReplaceAll(fmt.Sprint(s.CPUs), " ", ","), "[]"))
	}
	if s.Spin {
		arguments = append(arguments, "-spin")
	}
	return netns.Do(host, remote.Spawn(self, arguments...))
}
