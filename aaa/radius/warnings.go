package radius

import (
	"log/slog"
	"time"

	"vbng/control/clock"
)

// warningInterval is how often one message about one subject is written at most.
const warningInterval = time.Minute

// warnings writes warnings that outsiders can provoke, each message about a subject at most once per
// interval, with the number of those held back.
type warnings struct {
	log   *slog.Logger
	clock clock.Clock
	seen  map[warningKey]*warningEntry
}

type warningKey struct{ message, subject string }

type warningEntry struct {
	written  time.Time
	heldBack int
}

func newWarnings(log *slog.Logger, c clock.Clock) *warnings {
	return &warnings{log: log, clock: c, seen: map[warningKey]*warningEntry{}}
}

func (w *warnings) warn(message, subject string, details ...any) {
	key := warningKey{message, subject}
	now := w.clock.Now()
	entry := w.seen[key]
	if entry == nil {
		entry = &warningEntry{}
		w.seen[key] = entry
	} else if now.Sub(entry.written) < warningInterval {
		entry.heldBack++
		return
	}
	details = append([]any{"server", subject}, details...)
	if entry.heldBack > 0 {
		details = append(details, "held_back", entry.heldBack)
	}
	w.log.Warn(message, details...)
	entry.written, entry.heldBack = now, 0
}
