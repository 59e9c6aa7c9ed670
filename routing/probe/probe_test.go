package probe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"vbng/control/clock"
	"vbng/control/oper"
	"vbng/forwarding/wire"
)

// path is a network of routers in a row, the last of which is who is asked. Silent ones say nothing.
type path struct {
	clock   *clock.Fake
	routers []string // "": silent
	mtu     int      // of the first link; 0: any
	waiting [][]byte
	from    []netip.Addr
	closed  bool
}

func (p *path) Send(message []byte, to netip.Addr, hops int) error {
	p.clock.Advance(1500 * time.Microsecond)
	router := p.routers[min(hops, len(p.routers))-1]
	reply := append([]byte{}, message...)
	switch {
	case router == "":
		return nil
	case p.mtu != 0 && len(message)+wire.IPv4Length > p.mtu:
		reply = append([]byte{icmpUnreachable, codeFragmentationNeeded, 0, 0, 0, 0, byte(p.mtu >> 8), byte(p.mtu)}, quote(message, to)...)
		router = p.routers[0]
	case hops < len(p.routers):
		kind := byte(icmpTimeExceeded)
		if to.Is6() {
			kind = wire.ICMPv6TimeExceeded
		}
		reply = append([]byte{kind, 0, 0, 0, 0, 0, 0, 0}, quote(message, to)...)
	case to.Is4():
		reply[0] = wire.ICMPEchoReply
	default:
		reply[0] = wire.ICMPv6EchoReply
	}
	p.waiting = append(p.waiting, []byte{1}, []byte{wire.ICMPEchoReply, 0, 0, 0, 9, 9, 9, 9}, reply)
	p.from = append(p.from, netip.Addr{}, netip.Addr{}, netip.MustParseAddr(router))
	return nil
}

func quote(message []byte, to netip.Addr) []byte {
	if to.Is4() {
		b := make([]byte, wire.IPv4Length)
		wire.PutIPv4(b, [4]byte{192, 0, 2, 1}, to.As4(), wire.IPProtocolICMP, 1, 0, len(message))
		return append(b, message...)
	}
	b := make([]byte, wire.IPv6Length)
	wire.PutIPv6(b, to.As16(), to.As16(), wire.NextICMPv6, 1, len(message))
	return append(b, message...)
}

func (p *path) Receive(b []byte, _ time.Time) (int, netip.Addr, error) {
	if len(p.waiting) == 0 {
		return 0, netip.Addr{}, os.ErrDeadlineExceeded
	}
	n, from := copy(b, p.waiting[0]), p.from[0]
	p.waiting, p.from = p.waiting[1:], p.from[1:]
	return n, from, nil
}

func (p *path) Close() error { p.closed = true; return nil }

func run(t *testing.T, p *path, words string, args map[string]string) any {
	t.Helper()
	p.clock = clock.NewFake(time.Unix(1000, 0))
	for _, c := range Commands(Options{Clock: p.clock, Identifier: func() uint16 { return 77 },
		Open: func(string, netip.Addr, netip.Addr, bool) (Conn, error) { return p, nil }}) {
		if c.Words == words {
			got, err := c.Run(context.Background(), oper.Call{Args: args})
			if err != nil {
				t.Fatal(err)
			}
			if !p.closed {
				t.Error("the socket is still open")
			}
			return got
		}
	}
	t.Fatalf("no command %s", words)
	return nil
}

func TestPing(t *testing.T) {
	for _, c := range []struct {
		path path
		args map[string]string
		want string
	}{
		{path{routers: []string{"192.0.2.9"}}, map[string]string{"address": "192.0.2.9", "count": "2"},
			"1: reply from 192.0.2.9, 1.500 ms\n2: reply from 192.0.2.9, 1.500 ms\n2 sent, 2 received, 0 % lost; least/mean/most 1.500/1.500/1.500 ms"},
		{path{routers: []string{"2001:db8::9"}}, map[string]string{"address": "2001:db8::9", "count": "1"},
			"1: reply from 2001:db8::9, 1.500 ms\n1 sent, 1 received, 0 % lost; least/mean/most 1.500/1.500/1.500 ms"},
		{path{routers: []string{""}}, map[string]string{"address": "192.0.2.9", "count": "1"}, "1: no answer\n1 sent, 0 received, 100 % lost"},
		{path{routers: []string{"192.0.2.9"}, mtu: 1400}, map[string]string{"address": "192.0.2.9", "count": "1", "size": "1472", "df": "true"},
			"1: 192.0.2.9 says: fragmentation needed, MTU 1400\n1 sent, 0 received, 100 % lost"},
	} {
		if got := run(t, &c.path, "ping", c.args).(oper.Document).Sections[0].Text; got != c.want {
			t.Errorf("%v:\n%s\nwant\n%s", c.args, got, c.want)
		}
	}
}

func TestTraceroute(t *testing.T) {
	for _, c := range []struct{ to, routers, want string }{
		{"192.0.2.9", "10.0.0.1 - 192.0.2.9", "[{1 10.0.0.1 [1.500 1.500 1.500] } {2 * [* * *] } {3 192.0.2.9 [1.500 1.500 1.500] }]"},
		{"2001:db8::9", "2001:db8::1 2001:db8::9", "[{1 2001:db8::1 [1.500 1.500 1.500] } {2 2001:db8::9 [1.500 1.500 1.500] }]"},
	} {
		p := &path{routers: strings.Split(strings.ReplaceAll(c.routers, "-", ""), " ")}
		table := run(t, p, "traceroute", map[string]string{"address": c.to}).(oper.Table[Hop])
		if got := fmt.Sprint(table.Rows); got != c.want {
			t.Errorf("%s: %s, want %s", c.to, got, c.want)
		}
	}
}

func TestRefusedArguments(t *testing.T) {
	broken := errors.New("no such device")
	o := Options{Clock: clock.NewFake(time.Unix(0, 0)), Identifier: func() uint16 { return 1 },
		Open: func(string, netip.Addr, netip.Addr, bool) (Conn, error) { return nil, broken }}
	ping := Commands(o)[0]
	if _, err := ping.Run(context.Background(), oper.Call{Args: map[string]string{"address": "192.0.2.1"}}); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	_, err := ping.Run(context.Background(), oper.Call{Args: map[string]string{"address": "192.0.2.1", "source": "2001:db8::1"}})
	if err == nil || !strings.Contains(err.Error(), "another family") {
		t.Errorf("error %v", err)
	}
	for _, word := range []string{"", "example", "fe80::1%eth0", "224.0.0.1", "::"} {
		if checkAddress(word) == nil {
			t.Errorf("address %q is taken", word)
		}
	}
}

func FuzzDecode(f *testing.F) {
	to4, to6 := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	f.Add(request(to4, 1, 2, 8), true)
	f.Add(append([]byte{icmpTimeExceeded, 0, 0, 0, 0, 0, 0, 0}, quote(request(to4, 1, 2, 8), to4)...), true)
	f.Add(append([]byte{wire.ICMPv6PacketTooBig, 0, 0, 0, 0, 0, 5, 0}, quote(request(to6, 1, 2, 8), to6)...), false)
	f.Fuzz(func(t *testing.T, b []byte, four bool) {
		if a, ok := decode(b, four); ok && !a.reply && a.text == "" {
			t.Errorf("an error without words: %+v", a)
		}
	})
}
