package sessions

import (
	"context"
	"log/slog"
	"time"

	"vbng/control/clock"
)

const (
	// sampleTime and sampleBurst bound the log: this many lines of one kind in that time. The next
	// line tells how many were left out.
	sampleTime  = time.Second
	sampleBurst = 20
)

// sampler keeps a storm of one kind of event from becoming a storm in the log. It belongs to the loop.
type sampler struct {
	log   *slog.Logger
	clock clock.Clock
	kinds map[string]*sample
}

type sample struct {
	since      time.Time
	lines      int
	suppressed int
}

func newSampler(log *slog.Logger, c clock.Clock) *sampler {
	return &sampler{log: log, clock: c, kinds: map[string]*sample{}}
}

func (s *sampler) info(kind, text string, args ...any) { s.write(slog.LevelInfo, kind, text, args) }
func (s *sampler) warn(kind, text string, args ...any) { s.write(slog.LevelWarn, kind, text, args) }

func (s *sampler) write(level slog.Level, kind, text string, args []any) {
	if !s.log.Enabled(context.Background(), level) {
		return
	}
	now, k := s.clock.Now(), s.kinds[kind]
	if k == nil {
		k = &sample{since: now}
		s.kinds[kind] = k
	}
	if now.Sub(k.since) >= sampleTime {
		k.since, k.lines = now, 0
	}
	if k.lines++; k.lines > sampleBurst {
		k.suppressed++
		return
	}
	if k.suppressed > 0 {
		args = append(args, "suppressed_lines", k.suppressed)
		k.suppressed = 0
	}
	s.log.Log(context.Background(), level, text, args...)
}
