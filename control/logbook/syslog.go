package logbook

import (
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
)

// facility is "daemon" (RFC 5424 6.2.1).
const facility = 3

// timestamp is RFC 5424 6.2.3: six digits of a second at most.
const timestamp = "2006-01-02T15:04:05.000000Z07:00"

// format makes a message for a server.
func (m message) format() string {
	return fmt.Sprintf("<%d>1 %s %s vbng %d - - %s", facility*8+severity(m.Level), m.Time.Format(timestamp),
		header(m.name), os.Getpid(), m.Text)
}

// severity is RFC 5424 6.2.1, table 2.
func severity(l slog.Level) int {
	switch {
	case l >= slog.LevelError:
		return 3
	case l >= slog.LevelWarn:
		return 4
	case l >= slog.LevelInfo:
		return 6
	}
	return 7
}

// header makes a word of the header: printable ASCII without blanks, "-" when there is none.
func header(word string) string {
	word = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '_'
		}
		return r
	}, word)
	if word == "" {
		return "-"
	}
	return word
}

// framed is a message as it goes over a stream: its length before it (RFC 6587 3.4.1).
func framed(text string) string { return strconv.Itoa(len(text)) + " " + text }
