package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"vbng/cli/protocol"
	"vbng/cli/shell"
)

// conversation is one connected shell.
type conversation struct {
	server  *Server
	conn    net.Conn
	encoder *json.Encoder
	session *shell.Session
}

func newConversation(s *Server, c net.Conn) *conversation {
	return &conversation{server: s, conn: c, encoder: json.NewEncoder(c)}
}

// run answers requests until the shell hangs up or ctx ends. Requests are read ahead on a goroutine
// of their own, because a Cancel must reach a line that runs.
func (v *conversation) run(ctx context.Context) {
	defer v.conn.Close()
	ctx, hangUp := context.WithCancel(ctx)
	defer hangUp()
	stop := context.AfterFunc(ctx, func() { v.conn.Close() })
	defer stop()
	requests := make(chan protocol.Request)
	cancels := make(chan struct{}, 1)
	go v.read(ctx, hangUp, requests, cancels)
	for {
		select {
		case <-ctx.Done():
			v.over()
			return
		case r := <-requests:
			if !v.serve(ctx, r, cancels) {
				v.over()
				return
			}
		}
	}
}

func (v *conversation) over() {
	if v.session != nil && v.session.Dirty() {
		v.server.logger.Warn("shell ended with uncommitted edits, they are lost", "user", v.session.User())
	}
}

// read decodes requests, one per line, until the shell hangs up.
func (v *conversation) read(ctx context.Context, hangUp func(), requests chan<- protocol.Request, cancels chan<- struct{}) {
	defer hangUp()
	lines := bufio.NewScanner(v.conn)
	lines.Buffer(nil, protocol.MaxRequestBytes)
	for lines.Scan() {
		r, err := Decode(lines.Bytes())
		if err != nil {
			v.server.logger.Warn("shell speaks nonsense", "error", err)
			return
		}
		if r.Op == protocol.Cancel {
			select {
			case cancels <- struct{}{}:
			default:
			}
			continue
		}
		select {
		case requests <- r:
		case <-ctx.Done():
			return
		}
	}
}

// Decode reads one request.
func Decode(b []byte) (protocol.Request, error) {
	var r protocol.Request
	if err := json.Unmarshal(b, &r); err != nil {
		return r, fmt.Errorf("decode request: %w", err)
	}
	return r, nil
}

// serve answers one request and reports whether to go on.
func (v *conversation) serve(ctx context.Context, r protocol.Request, cancels <-chan struct{}) bool {
	if v.session == nil {
		return v.greet(r)
	}
	a := protocol.Answer{Column: -1}
	switch r.Op {
	case protocol.Line:
		a = v.line(ctx, r.Text, cancels)
	case protocol.Complete:
		c := v.session.Complete(r.Text)
		a.Start, a.Error, a.Column = c.Start, c.Error, c.Column
		for _, choice := range c.Choices {
			a.Choices = append(a.Choices, protocol.Choice(choice))
		}
	case protocol.Help:
		a.Output = v.session.Help(r.Text)
	default:
		a.Error = "unknown request " + strconv.Quote(string(r.Op))
	}
	return v.encoder.Encode(a) == nil && !a.Leave
}

// greet begins the session, or tells why there is none.
func (v *conversation) greet(r protocol.Request) bool {
	a := protocol.Answer{Version: protocol.Version, Column: -1}
	name, root := peerName(v.conn)
	switch {
	case r.Op != protocol.Hello:
		a.Error = "a session begins with hello"
	case r.Version != protocol.Version:
		a.Error = fmt.Sprintf("the shell speaks protocol %d, the router %d: use the vbng of the router's version", r.Version, protocol.Version)
	}
	if a.Error != "" {
		_ = v.encoder.Encode(a) // the conversation ends either way
		return false
	}
	if root && validName(r.User) {
		name = r.User
	}
	v.session = shell.New(v.server.options, name)
	a.Prompt, a.Output = v.session.Prompt(), v.session.Greeting()
	return v.encoder.Encode(a) == nil
}

func validName(name string) bool {
	return name != "" && len(name) <= 64 && !strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) || r == ' ' })
}

// line runs a line; a Cancel that was meant for an earlier one does not touch it.
func (v *conversation) line(ctx context.Context, text string, cancels <-chan struct{}) protocol.Answer {
	select {
	case <-cancels:
	default:
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-cancels:
			cancel()
		case <-ctx.Done():
		}
	}()
	r := v.session.Follow(ctx, text, v.piece)
	return protocol.Answer{
		Output: r.Output, Error: r.Error, Column: r.Column, Leave: r.Leave, Secret: r.Secret,
		Prompt: v.session.Prompt(), Dirty: v.session.Dirty(), Page: page(r.NoMore, v.session.Page()), Text: v.session.Loading(),
	}
}

func page(noMore bool, lines int) int {
	if noMore {
		return -1
	}
	return lines
}

// patience is how long a shell may leave a piece of a stream untaken: one that has stopped must not keep what
// the stream has switched on.
const patience = 30 * time.Second

// piece sends a part of a line's output. It waits while the shell does not read.
func (v *conversation) piece(text string) bool {
	if text == "" {
		return true
	}
	if err := v.conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return false
	}
	if err := v.encoder.Encode(protocol.Answer{More: true, Output: text, Column: -1}); err != nil {
		return false
	}
	return v.conn.SetWriteDeadline(time.Time{}) == nil
}
