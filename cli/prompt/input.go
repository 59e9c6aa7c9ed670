package prompt

import (
	"bytes"
	"errors"
	"syscall"

	goprompt "github.com/c-bata/go-prompt"
	"golang.org/x/term"
)

// input hands go-prompt one key at a time. go-prompt takes whatever one read returns for one key, so
// that pasted lines would become one line with breaks in it.
type input struct {
	*goprompt.PosixParser
	pending []byte
	fd      int         // of the terminal
	found   *term.State // the terminal's state before us
	gone    bool        // the terminal was hung up
	// held is set from Enter until go-prompt begins to read again: what it has read ahead is lost when it is
	// begun anew.
	held bool
}

// hangUp is what is typed for an operator whose terminal has gone: Ctrl-C clears the line, Ctrl-D leaves.
var hangUp = []byte{0x03, 0x04}

// The size of a terminal that does not tell its own.
const (
	usualRows    = 24
	usualColumns = 80
)

// GetWinSize implements goprompt.ConsoleParser. Terminals that programs make (expect, script, containers)
// often have no size, and go-prompt divides by it.
func (i *input) GetWinSize() *goprompt.WinSize {
	size := i.PosixParser.GetWinSize()
	if size.Row == 0 || size.Col == 0 {
		return &goprompt.WinSize{Row: usualRows, Col: usualColumns}
	}
	return size
}

func newInput(fd int, found *term.State) *input {
	return &input{PosixParser: goprompt.NewStandardInputParser(), fd: fd, found: found}
}

// TearDown implements goprompt.ConsoleParser. go-prompt 0.2.6 alters the state that it saved, and so
// restores raw mode: a command that runs could not be interrupted, and the terminal would stay so.
func (i *input) TearDown() error {
	if err := i.PosixParser.TearDown(); err != nil {
		return err
	}
	return term.Restore(i.fd, i.found)
}

// Setup implements goprompt.ConsoleParser.
func (i *input) Setup() error {
	i.held = false
	return i.PosixParser.Setup()
}

// nothing is what go-prompt takes for no key.
var nothing = []byte{0}

// Read implements goprompt.ConsoleParser.
func (i *input) Read() ([]byte, error) {
	if i.held {
		return nothing, nil
	}
	if len(i.pending) == 0 {
		b, err := i.PosixParser.Read()
		if err == nil && len(b) == 0 || errors.Is(err, syscall.EIO) {
			// go-prompt would read for ever.
			i.gone, b, err = true, hangUp, nil
		}
		if err != nil {
			return nil, err
		}
		i.pending = b
	}
	n := keyLength(i.pending)
	key := i.pending[:n]
	i.pending = i.pending[n:]
	i.held = key[0] == '\r' || key[0] == '\n'
	return key, nil
}

// keyLength returns how many bytes the first key of the input has. Plain characters up to the next
// key of another kind go together.
func keyLength(b []byte) int {
	switch {
	case len(b) == 0:
		return 0
	case b[0] == 0x1b:
		return escapeLength(b)
	case special(b[0]):
		return 1
	}
	if n := bytes.IndexFunc(b, func(r rune) bool { return r < 0x80 && special(byte(r)) }); n > 0 {
		return n
	}
	return len(b)
}

func special(c byte) bool { return c < ' ' || c == 0x7f || c == '?' }

// escapeLength is the length of an escape sequence: ESC [ parameters final, ESC O final, ESC key.
func escapeLength(b []byte) int {
	if len(b) < 3 || b[1] != '[' && b[1] != 'O' {
		return min(len(b), 2)
	}
	for n := 2; n < len(b); n++ {
		if b[n] >= 0x40 && b[n] <= 0x7e {
			return n + 1
		}
	}
	return len(b)
}
