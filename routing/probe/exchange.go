package probe

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"time"

	"vbng/control/clock"
)

// Conn is a raw ICMP socket. Messages are from the ICMP header on.
type Conn interface {
	Send(message []byte, to netip.Addr, hops int) error
	// Receive returns os.ErrDeadlineExceeded at the deadline.
	Receive(b []byte, deadline time.Time) (n int, from netip.Addr, err error)
	Close() error
}

// Options is what the commands stand on.
type Options struct {
	Clock clock.Clock
	// Open returns a socket of a VRF for messages to an address; source may be not valid.
	Open func(vrf string, to, source netip.Addr, dontFragment bool) (Conn, error)
	// Identifier chooses an echo identifier, so that commands at one time do not take one another's replies.
	Identifier func() uint16
	// VRFs are the names that may be completed; may be nil.
	VRFs func() []string
}

// exchange is one command's socket.
type exchange struct {
	clock      clock.Clock
	conn       Conn
	to         netip.Addr
	identifier uint16
	sequence   uint16
	buffer     []byte
}

// maxMessageBytes is the longest message that can come.
const maxMessageBytes = 65536

func (o *Options) open(vrf string, to, source netip.Addr, dontFragment bool) (*exchange, error) {
	c, err := o.Open(vrf, to, source, dontFragment)
	if err != nil {
		return nil, err
	}
	return &exchange{clock: o.Clock, conn: c, to: to, identifier: o.Identifier(), buffer: make([]byte, maxMessageBytes)}, nil
}

// heard is what came back for one request.
type heard struct {
	answer
	from  netip.Addr // not valid: nothing came
	after time.Duration
}

// ask sends one request and waits for what comes back, at most for patience.
func (x *exchange) ask(ctx context.Context, hops, dataBytes int, patience time.Duration) (heard, error) {
	x.sequence++
	sent := x.clock.Now()
	if err := x.conn.Send(request(x.to, x.identifier, x.sequence, dataBytes), x.to, hops); err != nil {
		return heard{}, err
	}
	// The kernel's time, not that of the clock: it is the socket that waits.
	deadline := time.Now().Add(patience)
	if bound, ok := ctx.Deadline(); ok && bound.Before(deadline) {
		deadline = bound
	}
	for ctx.Err() == nil {
		n, from, err := x.conn.Receive(x.buffer, deadline)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return heard{}, nil
		}
		if err != nil {
			return heard{}, err
		}
		a, ok := decode(x.buffer[:n], x.to.Is4())
		if ok && a.identifier == x.identifier && a.sequence == x.sequence {
			return heard{a, from, x.clock.Now().Sub(sent)}, nil
		}
	}
	return heard{}, nil
}
