package crowd

import (
	"fmt"
	"os"
	"strings"
	"time"

	"vbng/cmd/vbng-sim/life"
)

// verb is a kind of step. begin starts it; done is asked in each round until it says yes. An error
// of begin is a problem of the run, and the script goes on.
type verb struct {
	name          string
	arguments     []argument
	help          string
	begin         func(c *Crowd, s *step) error
	done          func(c *Crowd, s *step) bool
	overtime      string // a problem of the run if done has not come by the end of the duration
	needsInternet bool
}

func (v *verb) usage() string {
	words := []string{v.name}
	for _, a := range v.arguments {
		if a.fallback == "" {
			words = append(words, a.name)
		} else {
			words = append(words, "["+a.name+"]")
		}
	}
	return strings.Join(words, " ")
}

// verbs is the table of steps, in the order of the help.
var verbs = [...]verb{
	{
		name: "up", arguments: []argument{{"TIMEOUT", "120s", parseDuration}},
		help:  "start all subscribers and wait until each is up or has failed",
		begin: (*Crowd).beginUp, done: (*Crowd).settled,
		overtime: "not all subscribers came up or failed in time",
	}, {
		name: "traffic", needsInternet: true, arguments: []argument{{"PPS", "", parseRate}, {"DURATION", "", parseDuration}, {"up|down|both", "both", parseDirections}},
		help:  "send PPS packets per second each way in all, for DURATION, then wait for the last ones",
		begin: (*Crowd).beginTraffic, done: (*Crowd).trafficDone,
	}, {
		name: "spoof", needsInternet: true, arguments: []argument{{"K", "", parseCount}},
		help:  "send K packets upstream with the source address of another subscriber; none may arrive",
		begin: (*Crowd).beginSpoof, done: (*Crowd).elapsed,
	}, {
		name: "silence", arguments: []argument{{"K", "", parseCount}},
		help:  "make K subscribers that are up deaf and mute, echoes included",
		begin: (*Crowd).beginSilence, done: atOnce,
	}, {
		name: "renew", arguments: []argument{{"K", "", parseCount}},
		help:  "let K subscribers that are up ask for a renewal of their leases now",
		begin: (*Crowd).beginRenew, done: atOnce,
	}, {
		name: "release", arguments: []argument{{"K", "", parseCount}, {"TIMEOUT", "30s", parseDuration}},
		help:  "another word for terminate: K subscribers give back what they have",
		begin: (*Crowd).beginTerminate, done: (*Crowd).noneClosing,
		overtime: "not all subscribers could hang up in time",
	}, {
		name: "terminate", arguments: []argument{{"K", "", parseCount}, {"TIMEOUT", "30s", parseDuration}},
		help:  "let K subscribers that are up hang up in good order",
		begin: (*Crowd).beginTerminate, done: (*Crowd).noneClosing,
		overtime: "not all subscribers could hang up in time",
	}, {
		name: "expect-ended", arguments: []argument{{"K", "", parseCount}, {"TIMEOUT", "60s", parseDuration}},
		help:  "wait until the router has ended K more sessions, which then are not faults",
		begin: (*Crowd).beginExpect, done: (*Crowd).expectationMet,
		overtime: "the router did not end as many sessions as expected",
	}, {
		name: "hold", arguments: []argument{{"DURATION|forever", "", parseDuration}},
		help:  "keep the sessions, answering echoes, pings and neighbours",
		begin: begun, done: (*Crowd).elapsed,
	}, {
		name: "report", arguments: []argument{{"FILE", standardOutput, parsePath}},
		help:  "write the summary as it stands, as JSON to FILE",
		begin: (*Crowd).beginReport, done: atOnce,
	}, {
		name: "mark", arguments: []argument{{"FILE", "", parsePath}},
		help:  "create FILE: tells a shell script how far this one has come",
		begin: beginMark, done: atOnce,
	}, {
		name: "wait", arguments: []argument{{"FILE", "", parsePath}, {"TIMEOUT", "60s", parseDuration}},
		help:  "wait until FILE exists",
		begin: begun, done: fileExists,
		overtime: "the file did not appear in time",
	}, {
		name: "down", arguments: []argument{{"TIMEOUT", "30s", parseDuration}},
		help:  "let all subscribers hang up; added at the end if it is missing",
		begin: (*Crowd).beginDown, done: (*Crowd).noneClosing,
		overtime: "not all subscribers could hang up in time",
	},
}

func verbNames() string {
	var names []string
	for i := range verbs {
		names = append(names, verbs[i].name)
	}
	return strings.Join(names, ", ")
}

func begun(*Crowd, *step) error { return nil }

func atOnce(*Crowd, *step) bool { return true }

func (c *Crowd) elapsed(s *step) bool { return c.now >= s.due }

func (c *Crowd) beginUp(*step) error {
	if c.starter == nil {
		c.starter = newStarter(c.now, c.options)
	}
	return nil
}

func (c *Crowd) settled(*step) bool {
	return c.starter.next == len(c.subscribers) && c.starter.outstanding == 0
}

func (c *Crowd) beginSilence(s *step) error {
	chosen, err := c.choose(s.count)
	for _, i := range chosen {
		c.subscribers[i].Silence()
		c.after(i, nil)
	}
	return err
}

func (c *Crowd) beginRenew(s *step) error {
	chosen, err := c.choose(s.count)
	for _, i := range chosen {
		c.after(i, c.subscribers[i].Renewal(c.now))
	}
	return err
}

func (c *Crowd) beginTerminate(s *step) error {
	chosen, err := c.choose(s.count)
	c.leaving = append(c.leaving, chosen...)
	return err
}

// choose returns count subscribers that are up, those with the lowest numbers.
func (c *Crowd) choose(count int) ([]uint32, error) {
	var chosen []uint32
	for i := range c.subscribers {
		if len(chosen) < count && c.subscribers[i].state.Stage == life.Up {
			chosen = append(chosen, uint32(i))
		}
	}
	if len(chosen) < count {
		return chosen, fmt.Errorf("only %d subscribers are up", len(chosen))
	}
	return chosen, nil
}

func (c *Crowd) beginExpect(s *step) error {
	c.expectedEnds += s.count
	return nil
}

func (c *Crowd) expectationMet(*step) bool { return c.routerEnds >= c.expectedEnds }

func (c *Crowd) beginReport(s *step) error { return writeReport(s.path, c.report()) }

func beginMark(_ *Crowd, s *step) error {
	if err := os.WriteFile(s.path, nil, 0o644); err != nil {
		return fmt.Errorf("create mark: %w", err)
	}
	return nil
}

func fileExists(_ *Crowd, s *step) bool {
	_, err := os.Stat(s.path)
	return err == nil
}

func (c *Crowd) beginDown(*step) error {
	c.goingDown = true
	for i := range c.subscribers {
		c.leaving = append(c.leaving, uint32(i))
	}
	return nil
}

func (c *Crowd) noneClosing(*step) bool { return len(c.leaving)+c.stages[life.Closing] == 0 }

// player runs the script's steps in order.
type player struct {
	steps   []step
	running bool // steps[0] has begun
}

// play does what the script has to do now and reports whether it is over.
func (c *Crowd) play() (over bool) {
	for len(c.player.steps) > 0 {
		s := &c.player.steps[0]
		if !c.player.running {
			c.beginStep(s)
		}
		late := s.verb.overtime != "" && c.now >= s.due
		if !s.verb.done(c, s) && !late {
			return false
		}
		if late && !s.verb.done(c, s) {
			c.problem(s, s.verb.overtime)
		}
		c.player.steps, c.player.running = c.player.steps[1:], false
	}
	return true
}

func (c *Crowd) beginStep(s *step) {
	s.due = c.now + s.duration
	c.player.running = true
	c.log("step: %s", s.text)
	if err := s.verb.begin(c, s); err != nil {
		c.problem(s, err.Error())
		s.due = c.now
	}
}

func (c *Crowd) problem(s *step, text string) {
	c.problems = append(c.problems, s.text+": "+text)
	c.log("problem: %s: %s", s.text, text)
}

// Interrupt skips what is left of the script but for the end.
func (c *Crowd) Interrupt() {
	c.player = player{steps: c.player.steps[max(len(c.player.steps)-1, 0):]}
	if c.generator != nil {
		c.generator = nil
		c.endSending()
	}
	if c.starter != nil {
		c.starter.next = len(c.subscribers)
	}
}

const stepTick = 50 * time.Millisecond // how often a step that waits is asked
