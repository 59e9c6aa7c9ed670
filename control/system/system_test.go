package system

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"vbng/control/clock"
	"vbng/control/config"
	"vbng/control/logbook"
	"vbng/control/oper"
	"vbng/control/schema"
)

func parse(t *testing.T, s *System, text string) *config.Tree {
	t.Helper()
	root, err := schema.Merge(s.Schema())
	if err != nil {
		t.Fatal(err)
	}
	tree, faults := config.Parse(root, text)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return tree
}

func TestLogging(t *testing.T) {
	dialled := make(chan string, 4)
	book := logbook.New(io.Discard, clock.NewFake(time.Unix(0, 0)))
	s := New(Options{Book: book, Version: "v", Clock: clock.NewFake(time.Unix(0, 0)), Dial: func(_ context.Context, vrf, network, address string) (net.Conn, error) {
		dialled <- vrf + " " + network + " " + address
		ours, _ := net.Pipe()
		return ours, nil
	}})
	tree := parse(t, s, "hostname h\nlogging level warning\nlogging buffered 2\nlogging host 192.0.2.1 vrf management transport tcp port 1514 level error\n")
	if faults := s.Check(nil, tree); len(faults) > 0 {
		t.Error(faults)
	}
	s.Apply(nil, tree)
	if got := <-dialled; got != "management tcp 192.0.2.1:1514" || s.Hostname() != "h" {
		t.Errorf("dialled %q", got)
	}
	for _, text := range []string{"a", "b", "c"} {
		book.Logger().Info("not this")
		book.Logger().Warn(text)
	}
	answer, err := s.showLogging(context.Background(), oper.Call{Args: map[string]string{"last": "1", "level": "warning"}})
	if rows := answer.(oper.Table[logbook.Record]).Rows; err != nil || len(rows) != 1 || rows[0].Text != "msg=c" {
		t.Errorf("%+v %v", answer, err)
	}
	if got := book.Hosts(); len(got) != 1 || got[0].Dropped+got[0].Sent > 0 {
		t.Errorf("%+v", got)
	}
	s.Apply(tree, parse(t, s, ""))
	if got := book.Hosts(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	faults := s.Check(nil, parse(t, s, "logging host 192.0.2.1 vrf nowhere\n"))
	if len(faults) != 1 || !strings.Contains(faults[0].Error(), "line 1: logging host 192.0.2.1 / vrf: vrf \"nowhere\" is not defined") {
		t.Error(faults)
	}
}
