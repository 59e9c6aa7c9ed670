package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"runtime"

	"vbng/control/engine"
	"vbng/control/netns"
	"vbng/forwarding"
	"vbng/forwarding/process"
	"vbng/forwarding/remote"
)

// runForwarder is the forwarder process from start to end.
func runForwarder(args []string) error {
	ctx, stop := untilSignalled()
	defer stop()
	flags := flag.NewFlagSet("vbngd forward", flag.ContinueOnError)
	run := runFlag(flags)
	file := flags.String("settings", "", "file of the configuration's engine settings, written by control; absent or empty: the defaults")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	s, err := readSettings(*file)
	if err != nil {
		return err
	}
	pinned, err := workerCPUs(s.CPUs, s.Workers)
	if err != nil {
		return err
	}
	limits := forwarding.DefaultLimits()
	limits.Sessions, limits.Neighbors, limits.Buffers = s.Sessions, s.Neighbors, s.Buffers
	limits.Routes, limits.Routes6, limits.Groups = s.Routes, s.Routes6, s.Groups
	return process.Serve(ctx, process.Config{Path: paths{run: *run}.forwarderSock(), Limits: limits, Workers: s.Workers,
		CPUs: pinned, Spin: s.Spin, Log: newLogger(slog.LevelInfo).With("process", "forwarder")})
}

// readSettings reads what writeSettings wrote. A router that was never configured has no such file.
func readSettings(file string) (engine.Settings, error) {
	s := engine.DefaultSettings()
	if file == "" {
		return s, nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return s, fmt.Errorf("read forwarder's settings %s: %w", file, err)
	}
	return s, nil
}

// writeSettings keeps the settings for the next start of a forwarder, whoever starts it.
func writeSettings(file string, s engine.Settings) error {
	text, err := json.Marshal(s)
	if err == nil {
		err = os.WriteFile(file+".new", append(text, '\n'), 0o640)
	}
	if err == nil {
		err = os.Rename(file+".new", file)
	}
	if err != nil {
		return fmt.Errorf("write forwarder's settings: %w", err)
	}
	return nil
}

// workerCPUs chooses the workers' CPUs. None given means the highest, as interrupts and housekeeping like the lowest;
// when that would leave none for the rest, nothing is pinned.
func workerCPUs(given []int, workers int) ([]int, error) {
	if len(given) > 0 {
		for _, cpu := range given {
			if cpu >= runtime.NumCPU() {
				return nil, fmt.Errorf("there is no CPU %d, this machine has %d", cpu, runtime.NumCPU())
			}
		}
		return given, nil
	}
	var cpus []int
	for i := range workers {
		cpus = append(cpus, runtime.NumCPU()-workers+i)
	}
	if cpus[0] < 1 {
		return nil, nil
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
	if err := writeSettings(p.settings(), s); err != nil {
		return err
	}
	return netns.Do(host, remote.Spawn(self, "forward", "-run", p.run, "-settings", p.settings()))
}
