package crowd

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// step is one command of a script with its arguments.
type step struct {
	verb      *verb
	text      string
	count     int
	perSecond float64
	duration  time.Duration
	path      string
	up, down  bool // directions of traffic

	due time.Duration // when the step's time is over; set when it begins
}

// parseScript reads steps separated by semicolons or newlines.
func parseScript(text string) ([]step, error) {
	var steps []step
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == ';' || r == '\n' }) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		s, err := parseStep(words)
		if err != nil {
			return nil, fmt.Errorf("script step %d, %q: %w", len(steps)+1, strings.Join(words, " "), err)
		}
		steps = append(steps, s)
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("the script has no step")
	}
	if steps[len(steps)-1].verb.name != lastVerb {
		end, err := parseStep([]string{lastVerb})
		return append(steps, end), err
	}
	return steps, nil
}

func parseStep(words []string) (step, error) {
	for i := range verbs {
		if v := &verbs[i]; v.name == words[0] {
			s := step{verb: v, text: strings.Join(words, " "), up: true, down: true}
			return s, s.parseArguments(words[1:])
		}
	}
	return step{}, fmt.Errorf("no such step; there are %s", verbNames())
}

// parseArguments fills in the verb's arguments in their order.
func (s *step) parseArguments(words []string) error {
	for _, a := range s.verb.arguments {
		if len(words) == 0 {
			if a.fallback == "" {
				return fmt.Errorf("%s is missing; usage: %s", a.name, s.verb.usage())
			}
			words = []string{a.fallback}
		}
		if err := a.parse(s, words[0]); err != nil {
			return fmt.Errorf("%s %q: %w", a.name, words[0], err)
		}
		words = words[1:]
	}
	if len(words) > 0 {
		return fmt.Errorf("%q is too much; usage: %s", words[0], s.verb.usage())
	}
	return nil
}

// argument is one word behind a verb.
type argument struct {
	name     string
	fallback string // used when it is left out; empty: it must be there
	parse    func(s *step, word string) error
}

func parseCount(s *step, word string) (err error) {
	s.count, err = strconv.Atoi(word)
	if err == nil && s.count < 1 {
		err = fmt.Errorf("want at least 1")
	}
	return err
}

func parseRate(s *step, word string) (err error) {
	s.perSecond, err = strconv.ParseFloat(word, 64)
	if err == nil && !(s.perSecond > 0 && s.perSecond <= maxPacketsPerSecond) {
		err = fmt.Errorf("want more than 0 and at most %d packets per second", int(maxPacketsPerSecond))
	}
	return err
}

func parseDuration(s *step, word string) (err error) {
	if word == forever {
		s.duration = maxDuration
		return nil
	}
	s.duration, err = time.ParseDuration(word)
	if err == nil && s.duration <= 0 {
		err = fmt.Errorf("want a positive duration, as in 30s")
	}
	return err
}

func parsePath(s *step, word string) error {
	s.path = word
	return nil
}

// standardOutput is the path that a report without file goes to.
const standardOutput = "-"

func parseDirections(s *step, word string) error {
	switch word {
	case "both":
	case "up":
		s.down = false
	case "down":
		s.up = false
	default:
		return fmt.Errorf("want up, down or both")
	}
	return nil
}

const (
	lastVerb            = "down" // ends every script
	forever             = "forever"
	maxDuration         = 365 * 24 * time.Hour
	maxPacketsPerSecond = 1e6
)
