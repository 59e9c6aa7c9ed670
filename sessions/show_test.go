package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"vbng/aaa"
	"vbng/control/oper"
	"vbng/forwarding/entry"
)

func TestShowAndFilters(t *testing.T) {
	w := newWorld(t, sampleConfig)
	users := []string{"alice", "bob", "bob\x1b[2J"}
	for i, user := range users {
		p := w.peer(i)
		p.user = user
		w.dialled(p)
	}
	third := w.m.index.byUser[users[2]]
	for id := range third {
		w.counters[id] = entry.SessionCounters{InputBytes: 11}
	}
	for _, c := range []struct {
		args string
		want int
	}{
		{"", 3}, {"user bob", 1}, {"user nobody", 0}, {"mac 02:01:00:00:00:01", 1}, {"mac 0201.0000.0001", 1},
		{"ip 100.64.0.0", 1}, {"ip 100.64.0.1", 0}, {"vlan 100", 3}, {"vlan 100.2", 1}, {"vlan 200", 0}, {"session-id 1", 1},
		{"session-id 99", 0}, {"interface access0", 3}, {"interface core0", 0}, {"state up", 3}, {"state network", 0},
		{"user bob vlan 100.2", 1}, {"user bob vlan 100.1", 0},
		{"acct-session-id " + w.last().AcctSessionID, 1},
	} {
		table := w.run("show subscribers", arguments(c.args)).(oper.Table[Subscriber])
		if len(table.Rows) != c.want {
			t.Errorf("%q: %d rows, want %d", c.args, len(table.Rows), c.want)
		}
	}
	rows := w.run("show subscribers", nil).(oper.Table[Subscriber]).Rows
	if r := rows[2]; r.Username != `"bob\x1b[2J"` || r.Address != "100.64.0.3" || r.VLAN != "100.3" || r.InputBytes != 11 {
		t.Errorf("row %+v", r)
	}
	document := w.run("show subscribers", arguments("detail true user alice")).(oper.Document)
	text, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"100.64.0.0", "9.9.9.9", "Opened", "residential", "0x88a8"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("detail lacks %s: %s", want, text)
		}
	}
	summary := fmt.Sprint(w.run("show subscribers summary", nil).(oper.Table[Count]).Rows)
	if summary != "[{interface access0 3} {profile residential 3} {state up 3}]" {
		t.Errorf("summary %s", summary)
	}
	pools := fmt.Sprint(w.run("show pool", nil).(oper.Table[PoolRange]).Rows)
	if pools != "[{residential default 100.64.0.0 100.64.63.254 16383 3 16379 1 0 0}]" {
		t.Errorf("pools %s", pools)
	}
	events := fmt.Sprint(w.run("show pppoe", nil).(oper.Table[Event]).Rows)
	if !strings.Contains(events, "{discovery pado-sent 3}") || !strings.Contains(events, "{sessions established 3}") {
		t.Errorf("events %s", events)
	}
}

// arguments reads "name value name value".
func arguments(text string) map[string]string {
	args := map[string]string{}
	words := strings.Fields(text)
	for i := 0; i+1 < len(words); i += 2 {
		args[words[i]] = words[i+1]
	}
	return args
}

func TestClearCountsAndRefuses(t *testing.T) {
	w := newWorld(t, sampleConfig)
	var peers []*peer
	for i := range 5 {
		peers = append(peers, w.peer(i))
		w.dialled(peers[i])
	}
	answer := w.run("clear subscriber", arguments("vlan 100.3")).(oper.Document)
	if fmt.Sprint(answer.Data) != "map[sessions_cleared:1]" {
		t.Fatalf("answer %+v", answer)
	}
	answer = w.run("clear subscriber", arguments("all true")).(oper.Document)
	if fmt.Sprint(answer.Data) != "map[sessions_cleared:5]" {
		t.Fatalf("answer %+v", answer)
	}
	w.settle(peers...)
	w.clean()
	nobody, cancel := context.WithCancel(t.Context())
	cancel() // what is not refused at once would ask the loop
	for _, args := range []string{"", "all true user alice", "mac nonsense", "ip nonsense", "vlan 9999", "session-id 0"} {
		_, err := w.m.clearSubscriber(nobody, oper.Call{Args: arguments(args)})
		if err == nil || errors.Is(err, context.Canceled) {
			t.Errorf("clear %q is not refused: %v", args, err)
		}
	}
}

func TestHistoryIsARing(t *testing.T) {
	h := newHistory()
	for i := range historySize + 10 {
		h.add(endedRow(&Session{id: entry.SessionID(i)}, aaa.Usage{}))
	}
	rows := h.latest()
	if len(rows) != historySize || rows[0].SessionID != historySize+9 || rows[historySize-1].SessionID != 10 {
		t.Fatalf("%d rows, first %d, last %d", len(rows), rows[0].SessionID, rows[len(rows)-1].SessionID)
	}
}
