package render

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"vbng/control/oper"
)

type state uint8

func (s state) String() string { return [...]string{"down", "up"}[s] }

type row struct {
	User      string `show:"User"`
	MAC       [6]byte
	Address   netip.Addr    `show:"Address"`
	State     state         `show:"State"`
	Uptime    time.Duration `show:"Uptime"`
	InputByte uint64        `show:"Bytes in"`
	OuterVLAN uint16        `show:"-"`
	hidden    int
}

func rows() oper.Table[row] {
	return oper.Table[row]{Summary: "2 sessions", Rows: []row{
		{User: "alice", MAC: [6]byte{2, 0, 0, 0, 0, 1}, Address: netip.MustParseAddr("100.64.0.2"), State: 1, Uptime: 3723 * time.Second, InputByte: 123456, hidden: 1},
		{User: "\x1b[31mbob", OuterVLAN: 7},
	}}
}

func TestTable(t *testing.T) {
	const want = "" +
		"User         MAC                Address     State  Uptime  Bytes in\n" +
		"alice        02:00:00:00:00:01  100.64.0.2  up      1h02m    123456\n" +
		"\\x1b[31mbob  00:00:00:00:00:00  -           down       0s         0\n" +
		"2 sessions\n"
	if got := Text(rows()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestEmptyTableSaysSo(t *testing.T) {
	if got := Text(oper.Table[row]{}); got != "(none)\n" {
		t.Errorf("got %q", got)
	}
	got, err := JSON(oper.Table[row]{})
	if err != nil || got != "[]\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestJSON(t *testing.T) {
	table := rows()
	table.Rows = table.Rows[:1]
	const want = `[
  {
    "user": "alice",
    "mac": "02:00:00:00:00:01",
    "address": "100.64.0.2",
    "state": "up",
    "uptime_seconds": 3723,
    "input_byte": 123456,
    "outer_vlan": 0
  }
]
`
	got, err := JSON(table)
	if err != nil || got != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, got, want)
	}
}

func TestDocument(t *testing.T) {
	d := oper.Document{Sections: []oper.Section{
		{Title: "Session 7", Lines: []oper.Field{{Name: "User", Value: "alice"}, {Name: "Pool"}}},
		{Text: "free text"},
	}, Data: struct{ SessionID int }{7}}
	const want = "Session 7\n  User  alice\n  Pool  -\n\nfree text\n"
	if got := Text(d); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	got, err := JSON(d)
	if err != nil || got != "{\n  \"session_id\": 7\n}\n" {
		t.Errorf("%v %q", err, got)
	}
}

func TestSnake(t *testing.T) {
	for name, want := range map[string]string{"AcctSessionID": "acct_session_id", "OuterVLAN": "outer_vlan", "MAC": "mac", "IPAddress": "ip_address", "Up2Date": "up2_date"} {
		if got := snake(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestFilters(t *testing.T) {
	const text = "interface a\n mtu 1\n!\nhostname h\n"
	for _, c := range []struct{ name, pattern, want string }{
		{"include", "^i|h$", "interface a\nhostname h\n"},
		{"exclude", "mtu", "interface a\n!\nhostname h\n"},
		{"begin", "!", "!\nhostname h\n"},
		{"section", "^interface", "interface a\n mtu 1\n"},
		{"count", "", "4 lines\n"},
		{"number", "", "   1  interface a\n   2   mtu 1\n   3  !\n   4  hostname h\n"},
	} {
		got, err := filtered(text, Filter{c.name, c.pattern})
		if err != nil || got != c.want {
			t.Errorf("%s: %v, got %q, want %q", c.name, err, got, c.want)
		}
	}
	for _, pattern := range []string{"(", strings.Repeat("x", maxPatternBytes+1)} {
		if _, err := filtered(text, Filter{"include", pattern}); err == nil {
			t.Errorf("pattern %.10s is accepted", pattern)
		}
	}
	if got, err := filtered(text, Filter{"exclude", "mtu"}, Filter{"number", ""}, Filter{"exclude", "!"}, Filter{"count", ""}, Filter{"number", ""}); err != nil || got != "   1  2 lines\n" {
		t.Errorf("%q %v", got, err)
	}
}

// filtered feeds a pipeline in two pieces, as a stream does.
func filtered(text string, filters ...Filter) (string, error) {
	p, err := NewPipeline(filters)
	if err != nil {
		return "", err
	}
	first, rest, _ := strings.Cut(text, "\n")
	return p.Write(first+"\n") + p.Write(rest) + p.Close(), nil
}

// TestNoTextReachesTheTerminalAsACommand has an escape sequence at every place where text of others may stand.
func TestNoTextReachesTheTerminalAsACommand(t *testing.T) {
	const evil = "\x1b]0;x\x07 \u009b31m \u202e \xff \U000e0041"
	for _, answer := range []any{
		evil,
		oper.Document{Sections: []oper.Section{{Title: evil, Text: evil + "\nnext"}, {Lines: []oper.Field{{Name: evil, Value: evil}}}}},
		oper.Table[row]{Rows: []row{{User: evil}}, Summary: evil},
	} {
		text := Text(answer)
		structured, err := JSON(answer)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid([]byte(structured)) {
			t.Errorf("not JSON: %s", structured)
		}
		for _, got := range []string{text, structured} {
			if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
				t.Errorf("%q", got)
			}
		}
	}
}
