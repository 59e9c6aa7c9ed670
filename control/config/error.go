package config

import "fmt"

// Error is a fault of the configuration at a place in it.
type Error struct {
	Path string // "interface access0 / mtu"
	Line int    // of the text it was read from; 0: typed or unknown
	Text string // what is wrong
}

// Error implements error.
func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("line %d: %s: %s", e.Line, e.Path, e.Text)
	}
	return fmt.Sprintf("%s: %s", e.Path, e.Text)
}
