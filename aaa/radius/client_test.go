package radius

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"layeh.com/radius"

	"vbng/aaa"
)

func TestAccept(t *testing.T) {
	b := newBench(t, serverA(), serverB())
	b.authorize("alice")
	b.accept(b.next())
	if len(b.answers) != 1 || b.answers[0].Grant == nil {
		t.Fatalf("answers %+v", b.answers)
	}
	if g := b.answers[0].Grant; g.Source != "a" || g.Authentic != aaa.ByRADIUS {
		t.Errorf("grant %+v", g)
	}
	b.pass(time.Minute)
	b.quiet()
	if n := b.counters("a", access); n.Requests != 1 || n.Accepts != 1 || n.Timeouts != 0 {
		t.Errorf("counters %+v", n)
	}
}

func TestRejectAndChallenge(t *testing.T) {
	for _, code := range []radius.Code{radius.CodeAccessReject, radius.CodeAccessChallenge} {
		b := newBench(t, serverA())
		b.authorize("alice")
		x := b.next()
		b.deliver(x, answer(x.wire, code, "secret-a", true, avp{18, "not paid,"}, avp{18, "please call"}))
		if len(b.answers) != 1 || b.answers[0].Reject == nil {
			t.Fatalf("%v: answers %+v", code, b.answers)
		}
		if r := b.answers[0].Reject; r.Cause != aaa.BadCredentials || r.Message != "not paid, please call" {
			t.Errorf("%v: reject %+v", code, r)
		}
	}
}

func TestRetransmissionIsTheSamePacket(t *testing.T) {
	b := newBench(t, serverA())
	b.authorize("alice")
	begun := b.clock.Now()
	b.pass(25 * time.Second)
	first, second, third := b.next(), b.next(), b.next()
	b.quiet()
	if string(first.wire) != string(second.wire) || string(first.wire) != string(third.wire) || first.socket != third.socket {
		t.Error("a retransmission differs")
	}
	within(t, "first wait", second.at.Sub(begun), 3*time.Second)
	within(t, "second wait", third.at.Sub(second.at), 6*time.Second)
	if len(b.answers) != 1 || b.answers[0].Reject == nil || b.answers[0].Reject.Cause != aaa.NoAnswer {
		t.Fatalf("answers %+v", b.answers)
	}
	if n := b.counters("a", access); n.Requests != 1 || n.Retransmits != 2 || n.Timeouts != 3 {
		t.Errorf("counters %+v", n)
	}
	if p := b.client.status().Endpoints[0].Pending; p != 0 {
		t.Errorf("%d identifiers are still held", p)
	}
}

// within allows the jitter and the step of the bench's clock.
func within(t *testing.T, what string, got, want time.Duration) {
	t.Helper()
	if got < want*9/10-100*time.Millisecond || got > want*11/10+100*time.Millisecond {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func TestFailoverAndDeadTime(t *testing.T) {
	b := newBench(t, serverA(), serverB())
	b.authorize("alice")
	b.pass(17 * time.Second) // 3 + 6 + 6 seconds and jitter
	for range 3 {
		if x := b.next(); x.socket.remote.Addr() != addressA {
			t.Fatalf("sent to %v", x.socket.remote)
		}
	}
	x := b.next()
	if x.socket.remote.Addr() != addressB || b.state("a") != "dead" {
		t.Fatalf("after the last repetition: sent to %v, a is %s", x.socket.remote, b.state("a"))
	}
	b.accept(x)
	if len(b.answers) != 1 || b.answers[0].Grant == nil || b.answers[0].Grant.Source != "b" {
		t.Fatalf("answers %+v", b.answers)
	}

	b.authorize("bob") // goes to b at once
	if x := b.next(); x.socket.remote.Addr() != addressB {
		t.Errorf("while a is dead: sent to %v", x.socket.remote)
	} else {
		b.accept(x)
	}
	b.logged("RADIUS server dead")

	b.pass(time.Minute) // the dead time is over: one request is the probe, the others go to b
	b.authorize("carol")
	b.authorize("dave")
	probe, other := b.next(), b.next()
	if probe.socket.remote.Addr() != addressA || other.socket.remote.Addr() != addressB || b.state("a") != "probing" {
		t.Fatalf("probe to %v, other to %v, a is %s", probe.socket.remote, other.socket.remote, b.state("a"))
	}
	b.accept(other)
	b.pass(4 * time.Second) // one timeout is enough for a probe
	if x := b.next(); x.socket.remote.Addr() != addressB || b.state("a") != "dead" {
		t.Fatalf("after the probe: sent to %v, a is %s", x.socket.remote, b.state("a"))
	} else {
		b.accept(x)
	}

	b.pass(time.Minute)
	b.authorize("erin")
	b.accept(b.next())
	if b.state("a") != "up" || b.answers[4].Grant == nil || b.answers[4].Grant.Source != "a" {
		t.Errorf("a answered its probe and is %s", b.state("a"))
	}
	b.logged("RADIUS server alive")
	b.quiet()
}

func TestManyRequestsLeaveADeadServerTogether(t *testing.T) {
	b := newBench(t, serverA(), serverB())
	for i := range 100 {
		b.authorize(fmt.Sprint("user", i))
	}
	b.pass(3500 * time.Millisecond)
	to := map[netip.Addr]int{}
	for len(b.sent) > 0 {
		to[b.next().socket.remote.Addr()]++
	}
	if to[addressA] > 110 || to[addressB] != 100 {
		t.Errorf("after one timeout: %v", to)
	}
}

func TestOneLostBurstDoesNotKillAServer(t *testing.T) {
	b := newBench(t, serverA(), serverB())
	for i := range 10 {
		b.authorize(fmt.Sprint("lost", i))
	}
	b.sent = nil
	b.pass(2 * time.Second)
	b.authorize("found")
	b.accept(b.next())
	b.pass(1400 * time.Millisecond)
	if b.state("a") != "up" {
		t.Error("the server answered a second ago and is dead")
	}
}

func TestAllDead(t *testing.T) {
	b := newBench(t, serverA(), serverB())
	b.authorize("alice")
	b.pass(35 * time.Second)
	b.sent = nil
	if b.state("a") != "dead" || b.state("b") != "dead" || len(b.answers) != 1 {
		t.Fatalf("a %s, b %s, answers %+v", b.state("a"), b.state("b"), b.answers)
	}
	b.authorize("bob")
	x := b.next()
	if x.socket.remote.Addr() != addressA {
		t.Errorf("with all servers dead %v is asked, not the one dead for longest", x.socket.remote)
	}
	b.accept(x)
	if b.state("a") != "up" {
		t.Error("an answer does not revive")
	}
}

// A single server that is dead is still asked as patiently as any.
func TestProbeWithoutAlternative(t *testing.T) {
	b := newBench(t, serverA())
	b.authorize("alice")
	b.pass(80 * time.Second)
	b.sent = nil
	b.authorize("bob")
	if b.state("a") != "probing" {
		t.Errorf("a is %s", b.state("a"))
	}
	b.pass(4 * time.Second)
	b.next()
	b.accept(b.next())
	if b.state("a") != "up" || len(b.answers) != 2 || b.answers[1].Grant == nil {
		t.Errorf("a is %s, answers %+v", b.state("a"), b.answers)
	}
}

func TestNoServers(t *testing.T) {
	b := newBench(t)
	b.authorize("alice")
	b.account(record(aaa.Start))
	if len(b.answers) != 1 || b.answers[0].Reject == nil || b.answers[0].Reject.Cause != aaa.NoAnswer {
		t.Errorf("answers %+v", b.answers)
	}
	if len(b.records) != 1 || !errors.Is(b.records[0], ErrNoAnswer) {
		t.Errorf("records %v", b.records)
	}
}

func TestIdentifiersAreNotReusedInFlight(t *testing.T) {
	b := newBench(t, serverA())
	const all = flowsPerEndpoint*256 + 10
	for i := range all {
		b.authorize(fmt.Sprint("user", i))
	}
	inFlight := map[string]bool{}
	var sent []transmission
	for len(b.sent) > 0 {
		x := b.next()
		key := fmt.Sprint(x.socket.number, " ", x.wire[1])
		if inFlight[key] {
			t.Fatalf("socket and identifier %s are used twice", key)
		}
		inFlight[key] = true
		sent = append(sent, x)
	}
	s := b.client.status().Endpoints[0]
	if len(sent) != flowsPerEndpoint*256 || s.Waiting != 10 || s.Sockets != flowsPerEndpoint {
		t.Fatalf("%d sent, status %+v", len(sent), s)
	}
	for i := len(sent) - 1; i >= 0; i-- {
		b.accept(sent[i])
	}
	for len(b.sent) > 0 {
		b.accept(b.next())
	}
	if len(b.answers) != all {
		t.Fatalf("%d answers", len(b.answers))
	}
	for _, a := range b.answers {
		if a.Grant == nil {
			t.Fatal("a request was refused")
		}
	}
	if s := b.client.status().Endpoints[0]; s.Pending != 0 || s.Waiting != 0 {
		t.Errorf("left over: %+v", s)
	}
}

func TestIdentifiersRestBeforeReuse(t *testing.T) {
	b := newBench(t, serverA())
	used := map[byte]bool{}
	for i := range 256 {
		b.authorize(fmt.Sprint("user", i))
		x := b.next()
		if used[x.wire[1]] {
			t.Fatalf("identifier %d came back after %d requests", x.wire[1], i)
		}
		used[x.wire[1]] = true
		b.accept(x)
	}
}

func TestWaitingEnds(t *testing.T) {
	server := serverA()
	b := newBench(t, server)
	for i := range flowsPerEndpoint*256 + waitingPerEndpoint + 1 {
		b.client.Authorize(request(fmt.Sprint(i)), func(a aaa.Answer) { b.answers = append(b.answers, a) })
	}
	b.drain()
	if n := b.counters("a", access); n.Overflows != 1 || len(b.answers) != 1 {
		t.Fatalf("overflows %d, answers %d", n.Overflows, len(b.answers))
	}
}

func TestLateAnswers(t *testing.T) {
	b := newBench(t, serverA(), serverB())
	b.authorize("alice")
	b.pass(17 * time.Second)
	toA, toB := b.sent[0], b.sent[3]
	b.accept(toA) // late, but it is an answer
	if len(b.answers) != 1 || b.answers[0].Grant == nil || b.answers[0].Grant.Source != "a" || b.state("a") != "up" {
		t.Fatalf("answers %+v, a %s", b.answers, b.state("a"))
	}
	b.accept(toA)
	b.accept(toB)
	if len(b.answers) != 1 {
		t.Error("answered twice")
	}
	if na, nb := b.counters("a", access), b.counters("b", access); na.Unexpected != 1 || nb.Unexpected != 1 {
		t.Errorf("unexpected: a %d, b %d", na.Unexpected, nb.Unexpected)
	}
}

func TestUntrustworthyAnswers(t *testing.T) {
	tests := []struct {
		name    string
		legacy  bool
		forge   func(x transmission) []byte
		from    netip.AddrPort // invalid: the server's
		counter func(Counters) uint64
	}{
		{"wrong secret", false, func(x transmission) []byte {
			return answer(x.wire, radius.CodeAccessAccept, "guess", true)
		}, netip.AddrPort{}, func(n Counters) uint64 { return n.BadAuthenticator }},
		{"no Message-Authenticator", false, func(x transmission) []byte {
			return answer(x.wire, radius.CodeAccessAccept, "secret-a", false)
		}, netip.AddrPort{}, func(n Counters) uint64 { return n.Unsigned }},
		{"wrong Message-Authenticator", false, forgedSignature, netip.AddrPort{}, func(n Counters) uint64 { return n.BadSignature }},
		{"wrong Message-Authenticator, legacy", true, forgedSignature, netip.AddrPort{}, func(n Counters) uint64 { return n.BadSignature }},
		{"two Message-Authenticators", false, func(x transmission) []byte {
			return answer(x.wire, radius.CodeAccessAccept, "secret-a", true, avp{80, "0123456789abcdef"})
		}, netip.AddrPort{}, func(n Counters) uint64 { return n.BadSignature }},
		{"short Message-Authenticator", true, func(x transmission) []byte {
			return answer(x.wire, radius.CodeAccessAccept, "secret-a", false, avp{80, "0123456789abcde"})
		}, netip.AddrPort{}, func(n Counters) uint64 { return n.BadSignature }},
		{"wrong code", false, func(x transmission) []byte {
			return answer(x.wire, radius.CodeAccountingResponse, "secret-a", true)
		}, netip.AddrPort{}, func(n Counters) uint64 { return n.Malformed }},
		{"broken attribute", false, func(x transmission) []byte {
			good := answer(x.wire, radius.CodeAccessAccept, "secret-a", true, avp{18, "hello"})
			good[39]++
			copy(good[4:20], x.wire[4:20])
			return seal(good, "secret-a")
		}, netip.AddrPort{}, func(n Counters) uint64 { return n.Malformed }},
		{"cut off", false, func(x transmission) []byte {
			return answer(x.wire, radius.CodeAccessAccept, "secret-a", true)[:37]
		}, netip.AddrPort{}, func(n Counters) uint64 { return n.Malformed }},
		{"header only half", false, func(transmission) []byte { return []byte{2, 0, 0} }, netip.AddrPort{},
			func(n Counters) uint64 { return n.Malformed }},
		{"other port", false, func(x transmission) []byte {
			return answer(x.wire, radius.CodeAccessAccept, "secret-a", true)
		}, netip.AddrPortFrom(addressA, 1645), func(n Counters) uint64 { return n.WrongSource }},
		{"other identifier", false, func(x transmission) []byte {
			wire := answer(x.wire, radius.CodeAccessAccept, "secret-a", true)
			wire[1]++
			return wire
		}, netip.AddrPort{}, func(n Counters) uint64 { return n.Unexpected }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := serverA()
			server.Legacy = tt.legacy
			b := newBench(t, server)
			b.authorize("alice")
			x := b.next()
			from := tt.from
			if !from.IsValid() {
				from = x.socket.remote
			}
			x.socket.sink.Received(from, tt.forge(x))
			b.drain()
			if len(b.answers) != 0 {
				t.Fatalf("believed: %+v", b.answers[0])
			}
			if n := b.counters("a", access); tt.counter(n) != 1 || n.Dropped() != 1 {
				t.Errorf("counters %+v", n)
			}
			b.accept(x) // the true answer still counts
			if len(b.answers) != 1 || b.answers[0].Grant == nil {
				t.Errorf("answers %+v", b.answers)
			}
		})
	}
}

func forgedSignature(x transmission) []byte {
	wire := answer(x.wire, radius.CodeAccessAccept, "secret-a", true)
	wire[30] ^= 1
	copy(wire[4:20], x.wire[4:20])
	return seal(wire, "secret-a")
}

func TestLegacyServer(t *testing.T) {
	server := serverA()
	server.Legacy = true
	b := newBench(t, server)
	b.authorize("alice")
	x := b.next()
	b.deliver(x, append(answer(x.wire, radius.CodeAccessAccept, "secret-a", false), "padding"...))
	if len(b.answers) != 1 || b.answers[0].Grant == nil {
		t.Errorf("answers %+v", b.answers)
	}
}

func TestUnhonourableAccept(t *testing.T) {
	b := newBench(t, serverA())
	b.authorize("alice")
	x := b.next()
	b.deliver(x, answer(x.wire, radius.CodeAccessAccept, "secret-a", true, avp{6, "\x00\x00\x00\x06"}))
	if len(b.answers) != 1 || b.answers[0].Reject == nil || b.answers[0].Reject.Cause != aaa.BadReply {
		t.Fatalf("answers %+v", b.answers)
	}
	b.logged("Service-Type is 6, only 2 can be given")
	if n := b.counters("a", access); n.BadAccepts != 1 || n.Accepts != 1 {
		t.Errorf("counters %+v", n)
	}
}

func TestIgnoredAttributesAreNamed(t *testing.T) {
	b := newBench(t, serverA())
	for i := range 3 {
		b.authorize(fmt.Sprint("user", i))
		x := b.next()
		b.deliver(x, answer(x.wire, radius.CodeAccessAccept, "secret-a", true, avp{11, "gold.in"},
			avp{26, "\x00\x00\x00\x09\x01\x06ab=c"}))
	}
	b.logged("Filter-Id")
	b.logged("Cisco-AVPair")
	ignored := b.client.status().Ignored
	if len(ignored) != 2 || ignored[0].Name != "Cisco-AVPair" || ignored[1].Count != 3 || ignored[1].LastSession != "s-user2" {
		t.Errorf("ignored %+v", ignored)
	}
}

func TestSecretChangesInFlight(t *testing.T) {
	b := newBench(t, serverA())
	b.authorize("before")
	before := b.next()
	changed := serverA()
	changed.Secret = "new"
	b.configure(changed)
	b.authorize("after")
	after := b.next()
	b.pass(4 * time.Second)
	again, other := b.next(), b.next()
	if string(again.wire) != string(before.wire) && string(other.wire) != string(before.wire) {
		t.Error("the request in flight changed with the configuration")
	}
	b.accept(before) // with the old secret
	b.accept(after)  // likewise: must not be believed
	if len(b.answers) != 1 || b.counters("a", access).BadAuthenticator != 1 {
		t.Fatalf("answers %+v, counters %+v", b.answers, b.counters("a", access))
	}
	b.deliver(after, answer(after.wire, radius.CodeAccessAccept, "new", true))
	if len(b.answers) != 2 {
		t.Error("the new secret is not in use")
	}
}

func TestServerRemovedInFlight(t *testing.T) {
	b := newBench(t, serverA())
	b.authorize("quick")
	b.authorize("slow")
	quick, slow := b.next(), b.next()
	b.configure(serverB())
	b.accept(quick)
	if len(b.answers) != 1 || b.answers[0].Grant == nil || quick.socket.closed {
		t.Fatalf("answers %+v, socket closed %v", b.answers, quick.socket.closed)
	}
	b.pass(4 * time.Second) // the other one gives the removed server no second chance
	x := b.next()
	if x.socket.remote.Addr() != addressB {
		t.Fatalf("sent to %v", x.socket.remote)
	}
	b.accept(x)
	if len(b.answers) != 2 || !slow.socket.closed {
		t.Errorf("answers %d, the removed server's socket closed %v", len(b.answers), slow.socket.closed)
	}
}

func TestWaitingLeavesARemovedServer(t *testing.T) {
	b := newBench(t, serverA())
	for i := range flowsPerEndpoint*256 + 5 {
		b.authorize(fmt.Sprint(i))
	}
	b.sent = nil
	b.configure(serverB())
	for range 5 {
		if x := b.next(); x.socket.remote.Addr() != addressB {
			t.Fatalf("sent to %v", x.socket.remote)
		}
	}
}

func TestUnusedServerRemoved(t *testing.T) {
	b := newBench(t, serverA())
	b.authorize("alice")
	x := b.next()
	b.accept(x)
	b.configure()
	if !x.socket.closed {
		t.Error("the socket of a removed server stays open")
	}
}

func TestRefusedByICMP(t *testing.T) {
	b := newBench(t, serverA(), serverB())
	b.authorize("alice")
	x := b.next()
	x.socket.sink.Refused()
	b.drain()
	y := b.next()
	if y.socket.remote.Addr() != addressB || b.state("a") != "dead" {
		t.Fatalf("sent to %v, a %s", y.socket.remote, b.state("a"))
	}
	y.socket.sink.Refused() // nobody else to ask: wait, the server may be restarting
	b.drain()
	b.quiet()
	b.pass(4 * time.Second)
	b.accept(b.next())
	if len(b.answers) != 1 || b.answers[0].Grant == nil {
		t.Errorf("answers %+v", b.answers)
	}
}

func TestSocketCannotBeOpened(t *testing.T) {
	b := newBench(t, serverA())
	b.openErr = errors.New("cannot assign requested address")
	b.authorize("alice")
	if len(b.answers) != 1 || b.answers[0].Reject == nil || b.answers[0].Reject.Cause != aaa.NoAnswer {
		t.Fatalf("answers %+v", b.answers)
	}
	b.logged("cannot assign requested address")
	b.openErr = nil
	b.authorize("bob")
	b.accept(b.next())
	if len(b.answers) != 2 || b.answers[1].Grant == nil {
		t.Error("the server stays lost")
	}
}

func TestRunEndsAllExchanges(t *testing.T) {
	b := newBench(t, serverA())
	b.authorize("alice")
	b.account(record(aaa.Start))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b.client.Run(ctx)
	if len(b.answers) != 1 || len(b.records) != 1 || !b.sockets[0].closed || !b.sockets[1].closed {
		t.Errorf("answers %d, records %d", len(b.answers), len(b.records))
	}
}
