// Command vbng is the operator's shell of the router.
//
//	vbng                          interactive, or lines from standard input when it is no terminal
//	vbng -c LINE [-c LINE ...]    these lines, in order; stops at the first that fails
//	vbng check FILE               check a configuration file without a router
//	vbng reference PAGE           print a page of the reference manual
//
// The exit status is 0 when all went well, 1 when a line failed or a file is wrong, 2 for wrong use.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"vbng/cli/client"
	"vbng/cli/prompt"
)

// The exit statuses.
const (
	success = 0
	failure = 1
	misuse  = 2
)

const defaultSocket = "/run/vbng/vbng.sock"

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// lines is a flag that may be given several times.
type lines []string

func (l *lines) String() string     { return fmt.Sprint(*l) }
func (l *lines) Set(s string) error { *l = append(*l, s); return nil }

func run(args []string, in *os.File, out, errs io.Writer) int {
	flags := flag.NewFlagSet("vbng", flag.ContinueOnError)
	flags.SetOutput(errs)
	socket := flags.String("socket", socketPath(), "path of the router's socket (environment: VBNG_SOCKET)")
	var commands lines
	flags.Var(&commands, "c", "run this `line` and exit; may be given several times")
	flags.Usage = func() {
		fmt.Fprintln(errs, "usage: vbng [-socket PATH] [-c LINE]...\n       vbng check FILE\n       vbng reference PAGE")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return misuse
	}
	switch {
	case flags.Arg(0) == "check" && flags.NArg() == 2:
		return checkFile(flags.Arg(1), out, errs)
	case flags.Arg(0) == "reference" && flags.NArg() <= 2:
		return reference(flags.Arg(1), out, errs)
	case flags.NArg() > 0:
		flags.Usage()
		return misuse
	}
	c, err := client.Dial(*socket, behalf())
	if err != nil {
		fmt.Fprintf(errs, "vbng: %v\n", err)
		return failure
	}
	defer c.Close()
	switch {
	case len(commands) > 0:
		return script{client: c, out: out, errs: errs}.lines(commands)
	case !term.IsTerminal(int(in.Fd())):
		return script{client: c, out: out, errs: errs}.read(in)
	}
	return interactive(c, out, errs)
}

func socketPath() string {
	if path := os.Getenv("VBNG_SOCKET"); path != "" {
		return path
	}
	return defaultSocket
}

// behalf names the operator who has become root by sudo.
func behalf() string {
	if os.Geteuid() != 0 {
		return ""
	}
	return os.Getenv("SUDO_USER")
}

func interactive(c *client.Client, out, errs io.Writer) int {
	fmt.Fprint(out, c.Greeting())
	s := &screen{client: c, out: out, pager: prompt.NewPager(out)}
	if err := prompt.Run(s, "exit"); err != nil {
		fmt.Fprintf(errs, "vbng: %v\n", err)
		return failure
	}
	if s.lost != nil {
		fmt.Fprintf(errs, "vbng: %v\n", s.lost)
		return failure
	}
	return success
}
