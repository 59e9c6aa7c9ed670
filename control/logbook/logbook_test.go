package logbook

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"vbng/control/clock"
)

func TestBookKeepsTheLast(t *testing.T) {
	var out strings.Builder
	b := New(&out, clock.NewFake(time.Unix(0, 0)))
	b.Resize(3)
	log := b.Logger().With("part", "a b")
	log.Debug("not this")
	for _, text := range []string{"one", "two", "three", "four"} {
		log.Info(text, "n", 1)
	}
	log.WithGroup("g").Error("five", "level", 7)
	var texts []string
	for _, r := range b.Last(10, slog.LevelInfo) {
		texts = append(texts, r.Text)
	}
	if got := strings.Join(texts, "|"); got != `msg=three part="a b" n=1|msg=four part="a b" n=1|msg=five part="a b" g.level=7` {
		t.Error(got)
	}
	if got := b.Last(10, slog.LevelWarn); len(got) != 1 || got[0].Level != slog.LevelError {
		t.Errorf("%+v", got)
	}
	if lines := strings.Split(out.String(), "\n"); len(lines) != 6 || !strings.Contains(lines[0], ` level=INFO msg=one part="a b" n=1`) {
		t.Errorf("%q", lines)
	}
	b.Resize(1)
	if got := b.Last(10, slog.LevelInfo); len(got) != 1 || got[0].Level != slog.LevelError {
		t.Errorf("%+v", got)
	}
	b.Resize(0)
	log.Info("six")
	b.SetLevel(slog.LevelError)
	log.Info(strings.Repeat("x", maxTextBytes*2))
	if got := b.Last(10, slog.LevelInfo); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestSyslog(t *testing.T) {
	b := New(io.Discard, clock.Real{})
	b.SetName("bng 1")
	ends := make(chan net.Conn, 1)
	b.SetHosts([]Host{{Address: "192.0.2.1:514", Transport: "tcp", Least: slog.LevelWarn}},
		func(_ context.Context, _, network, address string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			ends <- theirs
			return ours, nil
		})
	b.Logger().Info("not this")
	b.Logger().Warn("watch out", "n", 1)
	r := bufio.NewReader(<-ends)
	length, err := r.ReadString(' ')
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.ReadString('1')
	rest, _ := r.ReadString('=')
	last := make([]byte, len(`"watch out" n=1`))
	if _, err := io.ReadFull(r, last); err != nil {
		t.Fatal(err)
	}
	if err != nil || got != "<28>1" || !strings.Contains(rest, " bng_1 vbng ") || string(last) != `"watch out" n=1` || length == "" {
		t.Errorf("%q %q %q %q", length, got, rest, last)
	}
	b.SetHosts(nil, nil)
	if len(b.Hosts()) != 0 {
		t.Error("a server is left")
	}
}

// A server that does not answer holds nobody up.
func TestDeadServer(t *testing.T) {
	b := New(io.Discard, clock.NewFake(time.Unix(0, 0)))
	refused := make(chan struct{}, 1)
	b.SetHosts([]Host{{Address: "x", Transport: "udp"}}, func(context.Context, string, string, string) (net.Conn, error) {
		refused <- struct{}{}
		return nil, errors.New("refused")
	})
	<-refused
	for range queueLength + 7 {
		b.Logger().Info("x")
	}
	if h := b.Hosts(); len(h) != 1 || h[0].Dropped != 7 {
		t.Errorf("%+v", h)
	}
	b.SetHosts(nil, nil)
}
