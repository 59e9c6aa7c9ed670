package remote

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"vbng/forwarding/entry"
)

// Engine is what the server drives. All calls come from one goroutine: the engine's one writer.
type Engine interface {
	// Apply validates an encoded batch whole and applies it. The bytes are the caller's again afterwards.
	Apply(encoded []byte) Answer
	// Begin starts a generation: what is put from here on belongs to it.
	Begin(generation uint64)
	// End sweeps what belongs to older generations.
	End(generation uint64)
	// Trace answers a packet trace request with text.
	Trace(request string) string
	// PortChanged tells that a port's device has another state than when the port was put.
	PortChanged(state entry.PortState)
	// WordNames names the counter words.
	WordNames() []string
}

const (
	watchInterval = time.Second
	helloTimeout  = 5 * time.Second
)

// server is the forwarder's side: one client at a time, and the watch over the ports.
type server struct {
	engine   Engine
	memory   *sharedMemory
	ports    *ports
	log      *slog.Logger
	instance uint64

	generation uint64 // begun last

	attached chan *peer
	messages chan message
	client   *peer // of the moment, nil: none
}

// peer is a connected control process.
type peer struct {
	conn   *conn
	pid    int
	resume chan struct{} // the server is done with the message
	gone   chan struct{} // closed by the server: it listens no longer
}

type message struct {
	from *peer
	kind kind
	body []byte
	err  error
}

func newServer(engine Engine, memory *sharedMemory, ports *ports, log *slog.Logger, instance uint64) *server {
	return &server{
		engine: engine, memory: memory, ports: ports, log: log, instance: instance,
		attached: make(chan *peer), messages: make(chan message),
	}
}

// run serves the connections that come out of accepted until ctx ends.
func (s *server) run(ctx context.Context, accepted <-chan *net.UnixConn) {
	watch := time.NewTicker(watchInterval)
	defer watch.Stop()
	defer func() { s.detach() }()
	for {
		select {
		case <-ctx.Done():
			return
		case socket := <-accepted:
			go s.greet(ctx, newConn(socket))
		case p := <-s.attached:
			s.attach(p)
		case m := <-s.messages:
			s.take(m)
		case <-watch.C:
			s.tellPorts()
		}
	}
}

// greet exchanges hellos with a new connection, on a goroutine of its own: a silent one holds up nobody.
func (s *server) greet(ctx context.Context, c *conn) {
	_ = c.socket.SetReadDeadline(time.Now().Add(helloTimeout))
	k, body, err := c.receive()
	if err == nil && k != kindHello {
		err = fmt.Errorf("message %d comes before hello", k)
	}
	var h hello
	if err == nil {
		h, err = parseHello(body)
	}
	if hungUp(err) { // somebody only looked whether we live
		_ = c.socket.Close()
		return
	}
	if err != nil {
		s.turnAway(c, goodbye{Text: err.Error()})
		return
	}
	if h.Version != entry.FormatVersion {
		v := &VersionError{Control: h.Version, Forwarder: entry.FormatVersion}
		s.turnAway(c, goodbye{Text: v.Error(), Version: v})
		return
	}
	_ = c.socket.SetReadDeadline(time.Time{})
	p := &peer{conn: c, pid: h.PID, resume: make(chan struct{}), gone: make(chan struct{})}
	select {
	case s.attached <- p:
		s.read(p)
	case <-ctx.Done():
		_ = c.socket.Close()
	}
}

func (s *server) turnAway(c *conn, g goodbye) {
	s.log.Error("control turned away", "reason", g.Text)
	_ = c.send(appendJSON(c.begin(kindGoodbye), g))
	_ = c.socket.Close()
}

// read hands the peer's messages to the server, one at a time.
func (s *server) read(p *peer) {
	for {
		k, body, err := p.conn.receive()
		select {
		case s.messages <- message{p, k, body, err}:
		case <-p.gone:
			return
		}
		select {
		case <-p.resume:
		case <-p.gone:
			return
		}
	}
}

// attach makes p the client, in place of an older one.
func (s *server) attach(p *peer) {
	if s.client != nil {
		s.log.Warn("control replaced by another one", "pid", s.client.pid, "new_pid", p.pid)
		_ = s.client.conn.send(appendJSON(s.client.conn.begin(kindGoodbye), goodbye{Text: "replaced", Replaced: true}))
		s.detach()
	}
	s.client = p
	h := hello{
		Magic: magic, Version: entry.FormatVersion, PID: os.Getpid(), Instance: s.instance,
		Generation: s.generation, WordNames: s.engine.WordNames(), Layout: s.memory.layout,
	}
	if err := p.conn.send(appendJSON(p.conn.begin(kindHello), h), s.memory.descriptors()...); err != nil {
		s.lose(err)
		return
	}
	s.log.Info("control attached", "pid", p.pid)
	s.ports.forget()
}

func (s *server) detach() {
	if s.client != nil {
		close(s.client.gone)
		_ = s.client.conn.socket.Close()
		s.client = nil
	}
}

// hungUp reports whether an error only says that the peer has closed the connection, as it does when its
// process ends.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET)
}

// lose lets the client go because of err; forwarding goes on.
func (s *server) lose(err error) {
	if hungUp(err) {
		s.log.Warn("control is gone; forwarding goes on", "pid", s.client.pid)
	} else {
		s.log.Error("connection to control closed; forwarding goes on", "pid", s.client.pid, "error", err)
		_ = s.client.conn.send(appendJSON(s.client.conn.begin(kindGoodbye), goodbye{Text: err.Error()}))
	}
	s.detach()
}

func (s *server) take(m message) {
	if m.from != s.client {
		return // of a client that was replaced meanwhile
	}
	err := m.err
	if err == nil {
		err = s.answer(m)
	}
	if err != nil {
		s.lose(err)
		return
	}
	select {
	case m.from.resume <- struct{}{}:
	case <-m.from.gone: // telling it of ports failed
	}
}

func (s *server) answer(m message) error {
	c := m.from.conn
	switch m.kind {
	case kindBatches:
		return s.apply(c, m.body)
	case kindBegin, kindEnd:
		generation, err := parseGeneration(m.body)
		if err != nil {
			return err
		}
		if m.kind == kindBegin {
			s.generation = generation
			s.engine.Begin(generation)
		} else {
			s.engine.End(generation)
		}
		return c.send(binary.LittleEndian.AppendUint64(c.begin(kindDone), generation))
	case kindTrace:
		text := s.engine.Trace(string(m.body))
		return c.send(append(c.begin(kindText), text[:min(len(text), maxFrameBytes)]...))
	}
	return fmt.Errorf("message %d is not for a forwarder", m.kind)
}

func (s *server) apply(c *conn, body []byte) error {
	out := c.begin(kindAnswers)
	portsPut := false
	for len(body) > 0 {
		batch, rest, err := nextBatch(body)
		if err != nil {
			return err
		}
		a := s.engine.Apply(batch)
		portsPut = portsPut || len(a.Ports) > 0
		out = appendAnswer(out, &a)
		body = rest
	}
	if err := c.send(out); err != nil {
		return err
	}
	if portsPut {
		s.tellPorts()
	}
	return nil
}

// tellPorts looks after the ports and tells engine and control what changed.
func (s *server) tellPorts() {
	for _, state := range s.ports.watch() {
		s.engine.PortChanged(state)
	}
	if s.client == nil {
		return
	}
	for _, state := range s.ports.news() {
		c := s.client.conn
		if err := c.send(appendJSON(c.begin(kindEvent), state)); err != nil {
			s.lose(err)
			return
		}
	}
}
