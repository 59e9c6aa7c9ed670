package prompt

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// Pager shows long output page by page.
type Pager struct {
	out io.Writer
	// size returns the rows and columns of the terminal.
	size func() (rows, columns int)
	// key waits for a key.
	key func() (byte, error)
}

// NewPager returns a pager for the terminal that standard input is.
func NewPager(out io.Writer) Pager {
	return Pager{out: out, size: terminalSize, key: terminalKey}
}

func terminalSize() (rows, columns int) {
	columns, rows, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil || rows <= 0 || columns <= 0 {
		return usualRows, usualColumns
	}
	return rows, columns
}

// terminalKey reads one key. In raw mode Ctrl-C is a key like others.
func terminalKey() (byte, error) {
	fd := int(os.Stdin.Fd())
	found, err := term.MakeRaw(fd)
	if err != nil {
		return 0, err
	}
	defer term.Restore(fd, found)
	b := make([]byte, 16) // an arrow is several bytes
	n, err := os.Stdin.Read(b)
	if err != nil || n == 0 {
		return 'q', err
	}
	return b[0], nil
}

const (
	more    = "--More-- "
	ctrlC   = 0x03
	escape  = 0x1b
	newLine = '\n'
)

// Show writes the text; length is how many rows make a page, 0: as many as the terminal has. Space shows the next
// page, Enter the next line, q (or Ctrl-C) ends.
func (p Pager) Show(text string, length int) error {
	rows, columns := p.size()
	if length == 0 {
		length = rows
	}
	room := max(1, length-1) // the last row is for the question
	left := room
	for line := range strings.Lines(text) {
		if need := rowsOf(line, columns); left < need && left < room {
			var done bool
			var err error
			if left, done, err = p.ask(room); done || err != nil {
				return err
			}
		}
		if _, err := io.WriteString(p.out, line); err != nil {
			return err
		}
		left -= rowsOf(line, columns)
	}
	return nil
}

// rowsOf is how many rows of the screen a line takes.
func rowsOf(line string, columns int) int {
	return 1 + max(0, utf8.RuneCountInString(strings.TrimSuffix(line, "\n"))-1)/columns
}

// ask waits at the end of a page and returns how many rows may follow.
func (p Pager) ask(room int) (left int, done bool, err error) {
	fmt.Fprint(p.out, more)
	defer fmt.Fprint(p.out, "\r"+strings.Repeat(" ", len(more))+"\r")
	for {
		key, err := p.key()
		if err != nil {
			return 0, true, err
		}
		switch key {
		case ' ', 'f':
			return room, false, nil
		case '\r', newLine, 'j', escape:
			return 1, false, nil
		case 'q', 'Q', ctrlC:
			return 0, true, nil
		}
	}
}
