package ppp

// Expected values transcribed from RFC 1661 section 4.1, independent of the
// table in the implementation: whoever wrote this file had seen only words.go.
// Lay the RFC's two half tables (states 0-5 and 6-9) beside rfc1661Rows, which
// joins them. If a cell disagrees with Step, the RFC decides which one is wrong.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The illegal transitions ('-') that the RFC prints: Up 8, Down 2, TO+ 5,
// TO- 5, and Initial and Starting in each of the ten rows from RCR+ to RXR.
const rfc1661Illegal = 8 + 2 + 5 + 5 + 10*2

// rfc1661Rows is the state transition table as printed, one event a row and
// one state a column. A cell is action,action/new-state, or new-state alone,
// or '-' where the transition is illegal. A letter after the state is the
// RFC's footnote, and changes nothing that Step is expected to return:
//
//	p  passive option; off here, so TO- gives tlf and goes to Stopped
//	r  restart option; off here, so Open changes no state but Closing
//	x  crossed connection; what the table prints is what is expected
const rfc1661Rows = `
      |    0         1         2         3             4         5         6         7         8         9
Event | Initial   Starting  Closed    Stopped       Closing   Stopping  ReqSent   AckRcvd   AckSent   Opened
------+-----------------------------------------------------------------------------------------------------------
 Up   |    2     irc,scr/6     -         -             -         -         -         -         -         -
 Down |    -         -         0       tls/1           0         1         1         1         1       tld/1
 Open |  tls/1       1     irc,scr/6     3r            5r        5r        6         7         8         9r
 Close|    0       tlf/0       2         2             4         4     irc,str/4 irc,str/4 irc,str/4 tld,irc,str/4
      |
  TO+ |    -         -         -         -           str/4     str/5     scr/6     scr/6     scr/8       -
  TO- |    -         -         -         -           tlf/2     tlf/3     tlf/3p    tlf/3p    tlf/3p      -
      |
 RCR+ |    -         -       sta/2   irc,scr,sca/8     4         5       sca/8   sca,tlu/9   sca/8   tld,scr,sca/8
 RCR- |    -         -       sta/2   irc,scr,scn/6     4         5       scn/6     scn/7     scn/6   tld,scr,scn/6
 RCA  |    -         -       sta/2     sta/3           4         5       irc/7     scr/6x  irc,tlu/9 tld,scr/6x
 RCN  |    -         -       sta/2     sta/3           4         5     irc,scr/6   scr/6x  irc,scr/8 tld,scr/6x
      |
 RTR  |    -         -       sta/2     sta/3         sta/4     sta/5     sta/6     sta/6     sta/6   tld,zrc,sta/5
 RTA  |    -         -         2         3           tlf/2     tlf/3       6         6         8     tld,scr/6
      |
 RUC  |    -         -       scj/2     scj/3         scj/4     scj/5     scj/6     scj/7     scj/8     scj/9
 RXJ+ |    -         -         2         3             4         5         6         6         8         9
 RXJ- |    -         -       tlf/2     tlf/3         tlf/2     tlf/3     tlf/3     tlf/3     tlf/3   tld,irc,str/5
      |
 RXR  |    -         -         2         3             4         5         6         7         8       ser/9
`

// The names are spelled here, not taken from String methods, so that nothing
// but the constants of words.go comes between the RFC's words and Step.
var (
	rfc1661States = []struct {
		name  string
		state State
	}{
		{"Initial", Initial}, {"Starting", Starting}, {"Closed", Closed}, {"Stopped", Stopped}, {"Closing", Closing},
		{"Stopping", Stopping}, {"ReqSent", ReqSent}, {"AckRcvd", AckRcvd}, {"AckSent", AckSent}, {"Opened", Opened},
	}

	rfc1661Events = []struct {
		name  string
		event Event
	}{
		{"Up", EvUp}, {"Down", EvDown}, {"Open", EvOpen}, {"Close", EvClose},
		{"TO+", EvTOPlus}, {"TO-", EvTOMinus},
		{"RCR+", EvRCRPlus}, {"RCR-", EvRCRMinus}, {"RCA", EvRCA}, {"RCN", EvRCN},
		{"RTR", EvRTR}, {"RTA", EvRTA},
		{"RUC", EvRUC}, {"RXJ+", EvRXJPlus}, {"RXJ-", EvRXJMinus},
		{"RXR", EvRXR},
	}

	rfc1661Actions = []struct {
		name   string
		action Action
	}{
		{"tlu", ActTLU}, {"tld", ActTLD}, {"tls", ActTLS}, {"tlf", ActTLF}, {"irc", ActIRC}, {"zrc", ActZRC},
		{"scr", ActSCR}, {"sca", ActSCA}, {"scn", ActSCN}, {"str", ActSTR}, {"sta", ActSTA}, {"scj", ActSCJ}, {"ser", ActSER},
	}
)

// rfc1661Cell is one cell of the table, parsed.
type rfc1661Cell struct {
	name     string // "Up/Initial"
	printed  string // "irc,scr/6"
	state    State
	event    Event
	next     State
	actions  []Action
	legal    bool
	footnote string // "p", "r", "x" or ""
}

// parse reads a cell's printed form into c.
func (c *rfc1661Cell) parse() error {
	if c.printed == "-" {
		c.next = c.state
		return nil
	}
	c.legal = true
	actions, next, found := strings.Cut(c.printed, "/")
	if !found {
		actions, next = "", c.printed
	} else {
		for _, name := range strings.Split(actions, ",") {
			known := false
			for _, a := range rfc1661Actions {
				if a.name == name {
					c.actions, known = append(c.actions, a.action), true
				}
			}
			if !known {
				return fmt.Errorf("cell %s %q: unknown action %q", c.name, c.printed, name)
			}
		}
	}
	digits := strings.TrimRight(next, "prx")
	c.footnote = next[len(digits):]
	number, err := strconv.Atoi(digits)
	if err != nil || number < 0 || number >= len(rfc1661States) || len(c.footnote) > 1 {
		return fmt.Errorf("cell %s %q: bad new state %q", c.name, c.printed, next)
	}
	c.next = rfc1661States[number].state
	return nil
}

// rfc1661Table parses rfc1661Rows, and fails the test unless its rows and
// columns are the RFC's, in the RFC's order.
func rfc1661Table(t *testing.T) []rfc1661Cell {
	t.Helper()
	var cells []rfc1661Cell
	row, numbered, headed := 0, false, false
	for line := range strings.Lines(rfc1661Rows) {
		label, rest, found := strings.Cut(line, "|")
		label = strings.TrimSpace(label)
		columns := strings.Fields(rest)
		if !found || len(columns) == 0 {
			continue // blank line, rule or spacer
		}
		if len(columns) != len(rfc1661States) {
			t.Fatalf("row %q has %d cells, want %d", label, len(columns), len(rfc1661States))
		}
		switch label {
		case "":
			for i, column := range columns {
				if column != strconv.Itoa(i) {
					t.Fatalf("column %d is numbered %q", i, column)
				}
			}
			numbered = true
			continue
		case "Event":
			for i, column := range columns {
				if column != rfc1661States[i].name {
					t.Fatalf("column %d is headed %q, want %q", i, column, rfc1661States[i].name)
				}
			}
			headed = true
			continue
		}
		if row >= len(rfc1661Events) || label != rfc1661Events[row].name {
			t.Fatalf("row %d is %q, not the RFC's event in that place", row, label)
		}
		for i, column := range columns {
			c := rfc1661Cell{
				name:    label + "/" + rfc1661States[i].name,
				printed: column,
				state:   rfc1661States[i].state,
				event:   rfc1661Events[row].event,
			}
			if err := c.parse(); err != nil {
				t.Fatal(err)
			}
			cells = append(cells, c)
		}
		row++
	}
	if row != len(rfc1661Events) || !numbered || !headed {
		t.Fatalf("the table has %d rows (numbered %t, headed %t), want %d with both", row, numbered, headed, len(rfc1661Events))
	}
	return cells
}

func rfc1661StateName(state State) string {
	for _, s := range rfc1661States {
		if s.state == state {
			return s.name
		}
	}
	return fmt.Sprintf("State(%d)", uint8(state))
}

func rfc1661ActionNames(actions []Action) string {
	names := make([]string, 0, len(actions))
	for _, action := range actions {
		name := fmt.Sprintf("Action(%d)", uint8(action))
		for _, a := range rfc1661Actions {
			if a.action == action {
				name = a.name
			}
		}
		names = append(names, name)
	}
	return "[" + strings.Join(names, ",") + "]"
}

// TestRFC1661TableIsWhole checks the transcription itself: 160 different
// cells, as many illegal ones and as many footnotes as the RFC prints, and
// every action used somewhere.
func TestRFC1661TableIsWhole(t *testing.T) {
	if NumStates != 10 || NumEvents != 16 || NumActions != 13 {
		t.Fatalf("words.go has %d states, %d events and %d actions, want 10, 16 and 13",
			uint8(NumStates), uint8(NumEvents), uint8(NumActions))
	}
	type pair struct {
		state State
		event Event
	}
	cells := rfc1661Table(t)
	seen := map[pair]string{}
	used := map[Action]bool{}
	footnotes := map[string]int{}
	illegal := 0
	for _, c := range cells {
		if other, ok := seen[pair{c.state, c.event}]; ok {
			t.Errorf("%s and %s are the same pair", c.name, other)
		}
		seen[pair{c.state, c.event}] = c.name
		for _, action := range c.actions {
			used[action] = true
		}
		footnotes[c.footnote]++
		if !c.legal {
			illegal++
		}
	}
	if len(cells) != 160 || len(seen) != 160 {
		t.Errorf("%d cells, %d of them different, want 160", len(cells), len(seen))
	}
	if illegal != rfc1661Illegal {
		t.Errorf("%d illegal cells in the transcription, the RFC has %d", illegal, rfc1661Illegal)
	}
	if footnotes["p"] != 3 || footnotes["r"] != 4 || footnotes["x"] != 4 {
		t.Errorf("footnotes %v, the RFC has 3 p, 4 r and 4 x", footnotes)
	}
	if len(used) != int(NumActions) {
		t.Errorf("%d actions occur in the table, want all %d", len(used), int(NumActions))
	}
}

// TestRFC1661Table checks Step against every cell: the new state, the actions
// in the printed order, and legality.
func TestRFC1661Table(t *testing.T) {
	illegal, checked := 0, 0
	for _, c := range rfc1661Table(t) {
		next, actions, legal := Step(c.state, c.event)
		checked++
		if !legal {
			illegal++
		}
		t.Run(c.name, func(t *testing.T) {
			if legal != c.legal {
				t.Errorf("legal = %t, want %t (RFC: %s)", legal, c.legal, c.printed)
			}
			if next != c.next {
				t.Errorf("next = %s, want %s (RFC: %s)", rfc1661StateName(next), rfc1661StateName(c.next), c.printed)
			}
			if !slices.Equal(actions, c.actions) {
				t.Errorf("actions = %s, want %s (RFC: %s)", rfc1661ActionNames(actions), rfc1661ActionNames(c.actions), c.printed)
			}
		})
	}
	if checked != 160 {
		t.Errorf("checked %d cells, want 160", checked)
	}
	if illegal != rfc1661Illegal {
		t.Errorf("Step calls %d cells illegal, the RFC %d", illegal, rfc1661Illegal)
	}
}

// What Step returned last, kept where the compiler cannot drop the call.
var (
	rfc1661SinkState   State
	rfc1661SinkActions []Action
	rfc1661SinkLegal   bool
)

// TestStepDoesNotAllocate goes through all 160 pairs, the illegal ones too.
func TestStepDoesNotAllocate(t *testing.T) {
	allocs := testing.AllocsPerRun(100, func() {
		for state := range NumStates {
			for event := range NumEvents {
				rfc1661SinkState, rfc1661SinkActions, rfc1661SinkLegal = Step(state, event)
			}
		}
	})
	if allocs != 0 {
		t.Errorf("Step allocates: %v allocations for the whole table, want 0", allocs)
	}
}
