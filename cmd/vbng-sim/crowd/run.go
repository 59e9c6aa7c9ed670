package crowd

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"vbng/forwarding/port"
)

// Exit statuses.
const (
	exitGood  = 0
	exitFault = 1
	exitUsage = 2
)

// MainPPPoE runs "vbng-sim pppoe" and returns the exit status.
func MainPPPoE(arguments []string) int { return main(&pppoeKind, arguments) }

// MainIPoE runs "vbng-sim ipoe" and returns the exit status.
func MainIPoE(arguments []string) int { return main(&ipoeKind, arguments) }

func main(k *kind, arguments []string) int {
	o, err := parseOptions(k, arguments, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitGood
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "vbng-sim %s: %v (--help tells the options)\n", k.command, err)
		return exitUsage
	}
	r, err := run(o)
	if err != nil {
		fmt.Fprintf(os.Stderr, "vbng-sim %s: %v\n", k.command, err)
		return exitUsage
	}
	if o.json {
		err = r.writeJSON(os.Stdout)
	} else {
		r.writeText(os.Stdout)
	}
	if err != nil || !r.OK {
		return exitFault
	}
	return exitGood
}

// run plays the script on real devices.
func run(o *options) (report, error) {
	access, err := o.access.open(o.macBase)
	if err != nil {
		return report{}, fmt.Errorf("open access device: %w", err)
	}
	defer access.Close()
	var inet port.Port
	if o.internet.name != "" {
		if inet, err = o.internet.open(o.internetMAC); err != nil {
			return report{}, fmt.Errorf("open Internet device: %w", err)
		}
		defer inet.Close()
	}
	screen := newScreen(o.quiet)
	random := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	c := newCrowd(o, access, inet, time.Now(), random, screen.log)
	c.turn(screen, descriptors(access, inet))
	screen.clear()
	return c.report(), nil
}

func descriptors(ports ...port.Port) (fds []unix.PollFd) {
	for _, p := range ports {
		if p != nil && p.Descriptor() >= 0 {
			fds = append(fds, unix.PollFd{Fd: int32(p.Descriptor()), Events: unix.POLLIN})
		}
	}
	return fds
}

// turn runs rounds until the script is over. The first signal ends the sessions in good order, the
// second ends the program.
func (c *Crowd) turn(screen *screen, fds []unix.PollFd) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM)
	defer signal.Stop(signals)
	for {
		now := time.Since(c.start)
		idle, over := c.Round(now)
		if over {
			return
		}
		screen.progress(now, c)
		select {
		case <-signals:
			c.Interrupt()
			signal.Stop(signals) // the next one has its default effect
		default:
		}
		sleep(fds, idle)
	}
}

// sleep waits until a frame comes, at most for idle.
func sleep(fds []unix.PollFd, idle time.Duration) {
	if idle <= 0 {
		return
	}
	limit := unix.NsecToTimespec(idle.Nanoseconds())
	// An error is a signal that came between; the next round looks again in any case.
	_, _ = unix.Ppoll(fds, &limit, nil)
}

// screen writes steps and progress to standard error.
type screen struct {
	w        io.Writer
	terminal bool
	next     time.Duration
}

func newScreen(quiet bool) *screen {
	if quiet {
		return &screen{w: io.Discard}
	}
	return &screen{w: os.Stderr, terminal: term.IsTerminal(int(os.Stderr.Fd()))}
}

const clearLine = "\r\x1b[K"

func (s *screen) clear() {
	if s.terminal {
		fmt.Fprint(s.w, clearLine)
	}
}

func (s *screen) log(format string, arguments ...any) {
	s.clear()
	fmt.Fprintf(s.w, format+"\n", arguments...)
}

func (s *screen) progress(now time.Duration, c *Crowd) {
	if s.terminal && now >= s.next {
		s.next = now + time.Second
		fmt.Fprint(s.w, clearLine, c.progress())
	}
}
