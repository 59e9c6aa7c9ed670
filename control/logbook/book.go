package logbook

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"vbng/control/clock"
)

// DefaultSize is how many messages the buffer holds until it is told otherwise.
const DefaultSize = 1000

// Book is the log of a process. Its methods may be called from any goroutine.
type Book struct {
	level slog.LevelVar
	clock clock.Clock

	mu    sync.Mutex // guards what follows; held while a line is written, never while sending
	out   io.Writer
	line  bytes.Buffer // the message that is being made
	ring  ring
	hosts []*host
	name  string // of this router, for the servers
}

// New returns a log that writes to out, of messages from level info on.
func New(out io.Writer, c clock.Clock) *Book {
	return &Book{out: out, clock: c, ring: ring{size: DefaultSize}}
}

// SetLevel sets the least severity that is logged.
func (b *Book) SetLevel(l slog.Level) { b.level.Set(l) }

// SetName sets the name by which the servers know this router.
func (b *Book) SetName(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.name = name
}

// Resize sets how many messages the buffer holds.
func (b *Book) Resize(messages int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if messages != b.ring.size {
		b.ring.resize(messages)
	}
}

// Last returns the newest messages of at least the level, oldest first; at most so many.
func (b *Book) Last(messages int, least slog.Level) []Record {
	b.mu.Lock()
	all := b.ring.all()
	b.mu.Unlock()
	var some []Record
	for _, r := range all {
		if r.Level >= least {
			some = append(some, r)
		}
	}
	return some[max(0, len(some)-messages):]
}

// Logger returns the way into the log.
func (b *Book) Logger() *slog.Logger {
	options := &slog.HandlerOptions{Level: &b.level, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey) {
			return slog.Attr{} // the book writes them itself
		}
		return a
	}}
	return slog.New(handler{b, slog.NewTextHandler(&b.line, options)})
}

// handler makes the text of a message in the book's buffer and hands it round.
type handler struct {
	book *Book
	text slog.Handler
}

// Enabled implements slog.Handler.
func (h handler) Enabled(ctx context.Context, l slog.Level) bool { return h.text.Enabled(ctx, l) }

// WithAttrs implements slog.Handler.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.book, h.text.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h handler) WithGroup(name string) slog.Handler { return handler{h.book, h.text.WithGroup(name)} }

// Handle implements slog.Handler.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	b := h.book
	b.mu.Lock()
	defer b.mu.Unlock()
	b.line.Reset()
	if err := h.text.Handle(ctx, r); err != nil {
		return err
	}
	text := string(bytes.TrimSuffix(b.line.Bytes(), []byte("\n")))
	_, err := io.WriteString(b.out, "time="+r.Time.Format(time.RFC3339Nano)+" level="+r.Level.String()+" "+text+"\n")
	x := Record{Time: r.Time, Level: r.Level, Text: cut(text)}
	b.ring.add(x)
	for _, to := range b.hosts {
		to.offer(message{x, b.name})
	}
	return err
}

// cut bounds a text without breaking a character.
func cut(text string) string {
	if len(text) <= maxTextBytes {
		return text
	}
	n := maxTextBytes
	for n > 0 && text[n]&0xc0 == 0x80 {
		n--
	}
	return text[:n] + "..."
}
