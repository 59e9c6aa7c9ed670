// Listening sockets are plain TCP: Go's default, multipath TCP, has no MD5 keys (RFC 2385), and BGP's need them.
//
//go:debug multipathtcp=0

// Command vbngd is the router.
//
//	vbngd [flags]           the control process; starts a forwarder when none is running
//	vbngd forward [flags]   the forwarder process
//	vbngd stop [flags]      end the forwarder, which outlives control on purpose; without control, all that the router has
//	                        changed in the kernel as well
//	vbngd namespace [flags] make the network namespace for a control that may not: for who starts it
//	vbngd version
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"
)

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "vbngd:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	command := ""
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		command, args = args[0], args[1:]
	}
	switch command {
	case "":
		return runControl(args)
	case "forward":
		return runForwarder(args)
	case "stop":
		return stopRouter(args)
	case "namespace":
		return makeNamespace(args)
	case "version":
		fmt.Println("vbngd", version())
		return nil
	}
	return fmt.Errorf("unknown command %q (there are: forward, namespace, stop, version; none is the control process)", command)
}

// release is set by the linker (make build): the version of the package.
var release string

// untilSignalled is the life of a process that a signal ends in order. Until a command asks for it a signal ends the
// process at once: one that came before control executes itself anew must not be lost with the old execution.
func untilSignalled() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
}

func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(unknown)"
	}
	return info.Main.Version
}

// paths are the places that both processes must agree on.
type paths struct{ run, state string }

func (p paths) cliSocket() string     { return filepath.Join(p.run, "vbng.sock") }
func (p paths) forwarderSock() string { return filepath.Join(p.run, "forwarder.sock") }
func (p paths) settings() string      { return filepath.Join(p.state, "forwarder.json") }
func (p paths) captures() string      { return filepath.Join(p.state, "captures") }
func (p paths) store() string         { return filepath.Join(p.state, "store.db") }

func runFlag(flags *flag.FlagSet) *string {
	return flags.String("run", "/run/vbng", "folder of sockets")
}

func stateFlag(flags *flag.FlagSet) *string {
	return flags.String("state", "/var/lib/vbng", "folder of the startup configuration, its revisions and the session store")
}

func namespaceFlag(flags *flag.FlagSet) *string {
	return flags.String("netns", "vbng", "network namespace of the router's own sockets, made if absent; empty: the one it is started in")
}

func newLogger(level slog.Leveler) *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
}
