package remote

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"vbng/forwarding/entry"
)

// work replays, then lets a writer send and reads answers itself.
func (c *Client) work(ctx context.Context, l *link, lostAt time.Time) error {
	if err := c.replay(l); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	written := make(chan struct{})
	go func() {
		defer close(written)
		c.write(ctx, l.conn)
	}()
	err := c.read(l, lostAt)
	cancel()
	_ = l.conn.socket.Close()
	<-written
	return err
}

// replay begins a generation and programs everything the mirror holds.
func (c *Client) replay(l *link) error {
	conn := l.conn
	if err := conn.send(binary.LittleEndian.AppendUint64(conn.begin(kindBegin), c.generation)); err != nil {
		return fmt.Errorf("begin generation: %w", err)
	}
	if _, err := c.expect(conn, kindDone); err != nil {
		return err
	}
	clear(c.missing)
	err := c.mirror.replay(func(ops []string) error { return c.replayOps(l, ops) })
	if n := len(c.missing); n > maxToldRefusals {
		c.config.Log.Error("forwarder refuses many entries that an earlier one took", "entries", n)
	}
	return err
}

// replayOps programs ops. One that this forwarder refuses is left out, loudly: the rest must not suffer.
func (c *Client) replayOps(l *link, ops []string) error {
	conn := l.conn
	for len(ops) > 0 {
		message := appendBatchMessage(conn.begin(kindBatches), encodeOps(nil, ops))
		if err := conn.send(message); err != nil {
			return fmt.Errorf("replay entries: %w", err)
		}
		body, err := c.expect(conn, kindAnswers)
		if err != nil {
			return err
		}
		a, rest, err := nextAnswer(body)
		if err != nil || len(rest) > 0 {
			return fmt.Errorf("replay entries: %w", errCut)
		}
		if a.Refused == nil {
			if err := a.check(l.hello.Layout); err != nil {
				return fmt.Errorf("replay entries: %w", err)
			}
			c.counters.place(&a)
			return nil
		}
		if a.Refused.Op < 0 || a.Refused.Op >= len(ops) {
			return fmt.Errorf("replay entries: %w", a.Refused)
		}
		c.leaveOut(ops[a.Refused.Op], a.Refused.Reason)
		ops = append(ops[:a.Refused.Op:a.Refused.Op], ops[a.Refused.Op+1:]...)
	}
	return nil
}

func (c *Client) leaveOut(op string, reason string) {
	r, a := entry.NewReader(encodeOps(nil, []string{op})), &entry.Any{}
	if _, err := r.Next(a); err != nil {
		c.config.Log.Error("mirror holds no entry", "bytes", fmt.Sprintf("%x", op), "error", err)
		return
	}
	c.missing.note(a.Entry())
	if len(c.missing) <= maxToldRefusals {
		c.config.Log.Error("forwarder refuses an entry that an earlier one took", "entry", fmt.Sprint(a.Entry()), "reason", reason)
	}
}

// expect reads the answer to what was sent last; events may come before it.
func (c *Client) expect(conn *conn, want kind) ([]byte, error) {
	for {
		k, body, err := conn.receive()
		switch {
		case err != nil:
			return nil, fmt.Errorf("read from forwarder: %w", err)
		case k == want:
			return body, nil
		}
		if err := c.unasked(k, body); err != nil {
			return nil, err
		}
	}
}

// write sends what the queue holds until ctx ends or the connection fails, which the reader sees as well.
func (c *Client) write(ctx context.Context, conn *conn) {
	for {
		requests := c.queue.next(ctx)
		if requests == nil {
			return
		}
		if err := conn.send(c.encode(conn, requests)); err != nil {
			_ = conn.socket.Close()
			return
		}
	}
}

func (c *Client) encode(conn *conn, requests []*request) []byte {
	message := conn.begin(requests[0].kind)
	switch requests[0].kind {
	case kindBatches:
		for _, r := range requests {
			if r.refusal == nil {
				message = appendBatchMessage(message, c.missing.sift(r))
			}
		}
	case kindEnd:
		message = binary.LittleEndian.AppendUint64(message, c.generation)
	case kindTrace:
		message = append(message, requests[0].encoded...)
	}
	return message
}

// read takes answers and events until the connection fails.
func (c *Client) read(l *link, lostAt time.Time) error {
	for {
		k, body, err := l.conn.receive()
		if err != nil {
			return fmt.Errorf("read from forwarder: %w", err)
		}
		requests := c.queue.answered(k)
		switch {
		case requests == nil:
			err = c.unasked(k, body)
		case k == kindAnswers:
			err = c.answers(l, requests, body)
		case k == kindText:
			requests[0].text(string(body), nil)
		case k == kindDone:
			c.programmed(l, lostAt)
		}
		if err != nil {
			return err
		}
	}
}

// unasked takes a message that answers nothing.
func (c *Client) unasked(k kind, body []byte) error {
	switch k {
	case kindEvent:
		state, err := parsePortState(body)
		if err != nil {
			return err
		}
		c.config.Events(state)
		return nil
	case kindGoodbye:
		return parseGoodbye(body)
	}
	return fmt.Errorf("message %d of the forwarder answers nothing", k)
}

func (c *Client) answers(l *link, requests []*request, body []byte) error {
	for _, r := range requests {
		a := Answer{Refused: r.refusal}
		if r.refusal == nil {
			var err error
			if a, body, err = nextAnswer(body); err != nil {
				return fmt.Errorf("decode answers of the forwarder: %w", err)
			}
			if err = a.check(l.hello.Layout); err != nil {
				return fmt.Errorf("decode answers of the forwarder: %w", err)
			}
		}
		c.answer(r, &a)
	}
	if len(body) != 0 {
		return fmt.Errorf("decode answers of the forwarder: %w", errCut)
	}
	return nil
}

func (c *Client) answer(r *request, a *Answer) {
	if a.Refused != nil {
		a.Refused.Op = r.place(a.Refused.Op)
		c.counters.thaw(r.batch)
		r.done(entry.Result{Err: a.Refused})
		return
	}
	c.mirror.apply(r.batch)
	r.done(entry.Result{Finals: c.counters.accept(r.batch, a)})
}

// programmed is called when the generation has ended in the forwarder.
func (c *Client) programmed(l *link, lostAt time.Time) {
	c.setStatus(l, true, true)
	now := c.config.Clock.Now()
	attributes := []any{"pid", l.hello.PID, "entries", c.mirror.size(), "took", now.Sub(l.since)}
	if !lostAt.IsZero() {
		attributes = append(attributes, "away", now.Sub(lostAt))
	}
	c.config.Log.Info("forwarder programmed", attributes...)
	c.config.Events(entry.ForwarderState{Up: true})
}

func (c *Client) setStatus(l *link, attached, programmed bool) {
	c.status.Store(&Status{
		Attached: attached, Programmed: programmed, PID: l.hello.PID, Workers: l.hello.Layout.Workers,
		Generation: c.generation, WordNames: l.hello.WordNames,
	})
}
