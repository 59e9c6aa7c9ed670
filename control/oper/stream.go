package oper

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Bound is the end of a stream: after so many pieces or so long, whichever comes first.
type Bound struct {
	Pieces int           // 0: DefaultPieces
	Time   time.Duration // 0: DefaultTime
}

// Farewell is how a Stream says, at its end, what does not depend on the asker still taking pieces: what it has done, and
// why there is nothing more. It is an error in form only.
type Farewell struct{ Text string }

// Error implements error.
func (f *Farewell) Error() string { return f.Text }

// What ends a stream that says nothing else, and the most that an operator may ask for.
const (
	DefaultPieces = 1000
	DefaultTime   = 5 * time.Minute
	MaxPieces     = 100_000
	MaxTime       = time.Hour
)

// The arguments that every streaming command has.
const (
	countArg   = "count"
	secondsArg = "seconds"
)

// Arguments returns the command's arguments, with those of every stream in front if it is one.
func (c *Command) Arguments() []Arg {
	if c.Stream == nil {
		return c.Args
	}
	return slices.Concat([]Arg{
		{Name: countArg, Help: fmt.Sprintf("End after so many pieces, %d at most; %d otherwise", MaxPieces, c.bounded().Pieces),
			Keyword: true, Optional: true, Check: within(MaxPieces)},
		{Name: secondsArg, Help: fmt.Sprintf("End after this time, %d at most; %.0f otherwise", MaxTime/time.Second, c.bounded().Time.Seconds()),
			Keyword: true, Optional: true, Check: within(int(MaxTime / time.Second))},
	}, c.Args)
}

func within(most int) func(string) error {
	return func(word string) error {
		if n, err := strconv.Atoi(word); err != nil || n < 1 || n > most {
			return fmt.Errorf("expected a number from 1 to %d, found %q", most, word)
		}
		return nil
	}
}

// End returns the bound of one call of a streaming command.
func (c *Command) End(call Call) Bound {
	b := c.bounded()
	if n, err := strconv.Atoi(call.Args[countArg]); err == nil {
		b.Pieces = n
	}
	if n, err := strconv.Atoi(call.Args[secondsArg]); err == nil {
		b.Time = time.Duration(n) * time.Second
	}
	return b
}

func (c *Command) bounded() Bound {
	b := c.Bound
	if b.Pieces == 0 {
		b.Pieces = DefaultPieces
	}
	if b.Time == 0 {
		b.Time = DefaultTime
	}
	return b
}

// valid refuses what is a programming error.
func (c *Command) valid() error {
	if (c.Run == nil) == (c.Stream == nil) {
		return errors.New("needs either Run or Stream")
	}
	return nil
}
