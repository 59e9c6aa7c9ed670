// Command vbng-sim plays the router's surroundings, for labs, tests and benchmarks.
package main

import (
	"fmt"
	"os"

	"vbng/cmd/vbng-sim/bench"
	"vbng/cmd/vbng-sim/crowd"
)

// commands is the table of what vbng-sim can play.
var commands = [...]struct {
	name string
	help string
	main func(arguments []string) int
}{
	{"bench", "the engine on in-memory ports: packets per second, verified", bench.Main},
	{"pppoe", "PPPoE subscribers on a device, and verified traffic to and from them", crowd.MainPPPoE},
	{"ipoe", "IPoE subscribers (DHCP, IPv6) on a device, and verified traffic to and from them", crowd.MainIPoE},
}

func main() {
	os.Exit(run(os.Args[1:]))
}

// run dispatches to a command and returns the exit status.
func run(arguments []string) int {
	if len(arguments) == 0 {
		usage(os.Stderr)
		return 2
	}
	for _, c := range commands {
		if c.name == arguments[0] {
			return c.main(arguments[1:])
		}
	}
	switch arguments[0] {
	case "help", "--help", "-h":
		if len(arguments) == 2 {
			return run([]string{arguments[1], "--help"})
		}
		usage(os.Stdout)
		return 0
	}
	fmt.Fprintf(os.Stderr, "vbng-sim: there is no command %q\n\n", arguments[0])
	usage(os.Stderr)
	return 2
}

func usage(w *os.File) {
	fmt.Fprint(w, "Usage: vbng-sim COMMAND [OPTIONS]\n\nCommands:\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-8s %s\n", c.name, c.help)
	}
	fmt.Fprint(w, "\nvbng-sim help COMMAND tells a command's options.\n")
}
