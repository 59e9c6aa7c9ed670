package logbook

import (
	"log/slog"
	"time"
)

// Record is one message of the log.
type Record struct {
	Time  time.Time  `show:"Time"`
	Level slog.Level `show:"Level"`
	Text  string     `show:"Message"` // the message and its attributes, as in the text log
}

// maxTextBytes bounds what the buffer and the servers get of one message.
const maxTextBytes = 2048

// ring is the last messages.
type ring struct {
	records []Record
	next    int // where the oldest stands once the ring is full
	size    int
}

func (r *ring) add(x Record) {
	switch {
	case r.size == 0:
	case len(r.records) < r.size:
		r.records = append(r.records, x)
	default:
		r.records[r.next] = x
		r.next = (r.next + 1) % r.size
	}
}

// all returns the messages, oldest first.
func (r *ring) all() []Record {
	return append(append([]Record{}, r.records[r.next:]...), r.records[:r.next]...)
}

// resize keeps the newest.
func (r *ring) resize(size int) {
	all := r.all()
	*r = ring{records: all[max(0, len(all)-size):], size: size}
}
