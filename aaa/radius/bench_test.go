package radius

import (
	"bytes"
	"crypto/hmac"
	"crypto/md5"
	"encoding/binary"
	"log/slog"
	"math/rand"
	"net/netip"
	"strings"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2869"

	"vbng/aaa"
	"vbng/control/clock"
)

// bench is a client on a fake clock and a network of fake sockets.
type bench struct {
	t       *testing.T
	clock   *clock.Fake
	client  *Client
	sockets []*fakeSocket
	sent    []transmission // not yet looked at by next
	log     bytes.Buffer
	answers []aaa.Answer
	records []error
	openErr error
}

type fakeSocket struct {
	bench  *bench
	number int
	local  netip.Addr
	remote netip.AddrPort
	vrf    string
	sink   Sink
	closed bool
}

type transmission struct {
	socket *fakeSocket
	wire   []byte
	at     time.Time
}

func (s *fakeSocket) Send(payload []byte, to netip.AddrPort) error {
	if s.closed || to != s.remote {
		s.bench.t.Errorf("sent to %v on a socket for %v, closed %v", to, s.remote, s.closed)
	}
	s.bench.sent = append(s.bench.sent, transmission{s, bytes.Clone(payload), s.bench.clock.Now()})
	return nil
}

func (s *fakeSocket) Local() netip.Addr { return s.local }
func (s *fakeSocket) Close() error      { s.closed = true; return nil }

var (
	addressA = netip.MustParseAddr("192.0.2.1")
	addressB = netip.MustParseAddr("192.0.2.2")
)

func serverA() Server {
	return Server{Name: "a", Address: addressA, AuthPort: 1812, AcctPort: 1813, Secret: "secret-a",
		Timeout: 3 * time.Second, Retransmit: 2, DeadTime: time.Minute}
}

func serverB() Server {
	b := serverA()
	b.Name, b.Address, b.Secret = "b", addressB, "secret-b"
	return b
}

func newBench(t *testing.T, servers ...Server) *bench {
	b := &bench{t: t, clock: clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))}
	b.client = New(Options{
		Clock:  b.clock,
		Log:    slog.New(slog.NewTextHandler(&b.log, nil)),
		Random: rand.New(rand.NewSource(1)),
		Open: func(vrf string, local netip.Addr, server netip.AddrPort, sink Sink) (Socket, error) {
			if b.openErr != nil {
				return nil, b.openErr
			}
			s := &fakeSocket{bench: b, number: len(b.sockets), local: local, remote: server, vrf: vrf, sink: sink}
			b.sockets = append(b.sockets, s)
			return s, nil
		},
	})
	b.configure(servers...)
	return b
}

func (b *bench) configure(servers ...Server) {
	b.client.Configure(Settings{Servers: servers, NASIdentifier: "bng1", NASAddress: netip.MustParseAddr("198.51.100.1")})
	b.drain()
}

func (b *bench) drain() { b.client.loop.Drain(b.client.handle) }

// pass lets time go by in steps small enough for timers that arm others.
func (b *bench) pass(d time.Duration) {
	for ; d > 0; d -= 100 * time.Millisecond {
		b.clock.Advance(min(d, 100*time.Millisecond))
		b.drain()
	}
}

func request(name string) aaa.Request {
	return aaa.Request{AcctSessionID: "s-" + name, Username: name, Method: aaa.PAP, Password: []byte("sesame"), Line: line()}
}

func line() aaa.Line {
	return aaa.Line{Port: "access0", PortIndex: 3, OuterVLAN: 100, InnerVLAN: 200,
		MAC: [6]byte{2, 0, 0, 0, 0, 0xaa}, OwnMAC: [6]byte{2, 0, 0, 0, 0, 1}, Service: "internet",
		CircuitID: []byte("dslam 1/2/3"), RemoteID: []byte("remote")}
}

func (b *bench) authorize(name string) {
	b.client.Authorize(request(name), func(a aaa.Answer) { b.answers = append(b.answers, a) })
	b.drain()
}

func (b *bench) account(r aaa.Record) {
	b.client.Account(r, func(err error) { b.records = append(b.records, err) })
	b.drain()
}

// next takes the oldest transmission not yet looked at.
func (b *bench) next() transmission {
	b.t.Helper()
	if len(b.sent) == 0 {
		b.t.Fatal("nothing was sent")
	}
	x := b.sent[0]
	b.sent = b.sent[1:]
	return x
}

func (b *bench) quiet() {
	b.t.Helper()
	if len(b.sent) > 0 {
		b.t.Fatalf("%d transmissions too many, the first to %v", len(b.sent), b.sent[0].socket.remote)
	}
}

// deliver hands a datagram to the socket that x was sent from.
func (b *bench) deliver(x transmission, payload []byte) {
	x.socket.sink.Received(x.socket.remote, payload)
	b.drain()
}

// accept answers x as a correct server would.
func (b *bench) accept(x transmission) {
	b.deliver(x, answer(x.wire, radius.CodeAccessAccept, secretOf(x), true))
}

func secretOf(x transmission) string {
	if x.socket.remote.Addr() == addressA {
		return "secret-a"
	}
	return "secret-b"
}

func (b *bench) acknowledge(x transmission) {
	b.deliver(x, answer(x.wire, radius.CodeAccountingResponse, secretOf(x), false))
}

func (b *bench) counters(server string, k kind) Counters {
	for _, e := range b.client.status().Endpoints {
		if e.Server == server && e.Role == k.String() {
			return e.Counters
		}
	}
	b.t.Fatalf("no endpoint %s %v", server, k)
	return Counters{}
}

func (b *bench) state(server string) string {
	for _, e := range b.client.status().Endpoints {
		if e.Server == server && e.Role == "auth" {
			return e.State
		}
	}
	return "none"
}

func (b *bench) logged(text string) {
	b.t.Helper()
	if !strings.Contains(b.log.String(), text) {
		b.t.Errorf("the log does not say %q:\n%s", text, b.log.String())
	}
}

type avp struct {
	number byte
	value  string
}

// answer is an independent RADIUS server's encoder.
func answer(request []byte, code radius.Code, secret string, signed bool, attributes ...avp) []byte {
	wire := append([]byte{byte(code), request[1], 0, 0}, request[4:20]...)
	if signed {
		wire = append(wire, byte(rfc2869.MessageAuthenticator_Type), 18)
		wire = append(wire, make([]byte, 16)...)
	}
	for _, a := range attributes {
		wire = append(wire, a.number, byte(2+len(a.value)))
		wire = append(wire, a.value...)
	}
	binary.BigEndian.PutUint16(wire[2:], uint16(len(wire)))
	if signed {
		mac := hmac.New(md5.New, []byte(secret))
		mac.Write(wire)
		copy(wire[22:], mac.Sum(nil))
	}
	return seal(wire, secret)
}

// seal puts the Response Authenticator in place of the request's (RFC 2865 3).
func seal(wire []byte, secret string) []byte {
	sum := md5.Sum(append(bytes.Clone(wire), secret...))
	copy(wire[4:20], sum[:])
	return wire
}
