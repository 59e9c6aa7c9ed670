package sessions

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"vbng/control/oper"
	"vbng/forwarding/entry"
)

// selection is which sessions an operator means: those that fit everything said.
type selection struct {
	id      entry.SessionID
	acctID  string
	user    string
	mac     *entry.MAC
	address netip.Addr // theirs, or in a prefix of theirs
	access  string     // "PPPoE", "IPoE"
	vrf     string
	vlan    string // "100", "100.7"
	port    string
	state   string
}

// selectors are the arguments of every command about some sessions.
func selectors() []oper.Arg {
	keyword := func(name, help string, check func(string) error) oper.Arg {
		return oper.Arg{Name: name, Help: help, Keyword: true, Optional: true, Check: check}
	}
	return []oper.Arg{
		keyword("session-id", "session number", checkOf(parseID)),
		keyword("acct-session-id", "Acct-Session-Id", nil),
		keyword("user", "user name", nil),
		keyword("mac", "MAC address of the client", checkOf(parseMAC)),
		keyword("ip", "address of the subscriber", checkOf(netip.ParseAddr)),
		keyword("ipv6", "IPv6 address of the subscriber, or one in a prefix of the subscriber", checkOf(netip.ParseAddr)),
		{Name: "access", Help: "kind of access", Keyword: true, Optional: true, Enum: []string{"pppoe", "ipoe"}},
		keyword("vrf", "VRF of the subscriber", nil),
		keyword("vlan", "VLAN, or OUTER.INNER", checkOf(parseVLAN)),
		keyword("interface", "access interface", nil),
	}
}

func checkOf[T any](parse func(string) (T, error)) func(string) error {
	return func(value string) error {
		_, err := parse(value)
		return err
	}
}

func parseID(text string) (entry.SessionID, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("expected a session number, found %q", text)
	}
	return entry.SessionID(n), nil
}

// parseMAC reads six bytes in hexadecimal, grouped by colons, hyphens or dots.
func parseMAC(text string) (entry.MAC, error) {
	var mac entry.MAC
	digits := strings.NewReplacer(":", "", "-", "", ".", "").Replace(text)
	n, err := strconv.ParseUint(digits, 16, 64)
	if err != nil || len(digits) != 2*len(mac) {
		return mac, fmt.Errorf("expected a MAC address, found %q", text)
	}
	for i := range mac {
		mac[i] = byte(n >> (8 * (len(mac) - 1 - i)))
	}
	return mac, nil
}

// parseVLAN reads "100" or "100.7" into its canonical form; 0 is untagged.
func parseVLAN(text string) (string, error) {
	outer, inner, double := strings.Cut(text, ".")
	a, err := strconv.ParseUint(outer, 10, 12)
	if err != nil {
		return "", fmt.Errorf("expected a VLAN or OUTER.INNER, found %q", text)
	}
	if !double {
		return strconv.FormatUint(a, 10), nil
	}
	b, err := strconv.ParseUint(inner, 10, 12)
	if err != nil {
		return "", fmt.Errorf("expected a VLAN or OUTER.INNER, found %q", text)
	}
	return fmt.Sprintf("%d.%d", a, b), nil
}

// parseSelection reads the arguments; said tells whether there were any.
func parseSelection(call oper.Call) (sel selection, said bool, err error) {
	for name, value := range call.Args {
		selects := true
		switch name {
		case "session-id":
			sel.id, err = parseID(value)
		case "acct-session-id":
			sel.acctID = value
		case "user":
			sel.user = value
		case "mac":
			var mac entry.MAC
			mac, err = parseMAC(value)
			sel.mac = &mac
		case "access":
			sel.access = value
		case "vrf":
			sel.vrf = value
		case "ip", "ipv6":
			sel.address, err = netip.ParseAddr(value)
		case "vlan":
			sel.vlan, err = parseVLAN(value)
		case "interface":
			sel.port = value
		case "state":
			sel.state = value
		default: // a flag of the command's own
			selects = false
		}
		said = said || selects
		if err != nil {
			return sel, said, fmt.Errorf("%s: %w", name, err)
		}
	}
	return sel, said, nil
}

// fits reports whether a session is meant.
func (m *Manager) fits(sel *selection, s *Session) bool {
	place := s.client.place
	switch {
	case sel.access != "" && !strings.EqualFold(sel.access, s.access.String()), sel.vrf != "" && sel.vrf != m.vrfName(s):
		return false
	case sel.id != 0 && s.id != sel.id,
		sel.acctID != "" && s.acctID != sel.acctID,
		sel.user != "" && s.username != sel.user,
		sel.mac != nil && s.client.mac != *sel.mac,
		sel.address.IsValid() && !s.holds(sel.address),
		sel.port != "" && s.port != sel.port,
		sel.state != "" && s.state.String() != sel.state:
		return false
	case sel.vlan != "" && !strings.Contains(sel.vlan, "."):
		return strconv.Itoa(int(place.OuterVLAN)) == sel.vlan
	}
	return sel.vlan == "" || place.VLAN() == sel.vlan
}

// candidates returns the sessions that may fit, by the index that leaves the fewest. Loop only.
func (x *index) candidates(sel selection) []entry.SessionID {
	one := func(s *Session) []entry.SessionID {
		if s == nil {
			return nil
		}
		return []entry.SessionID{s.id}
	}
	switch {
	case sel.id != 0:
		return one(x.byID[sel.id])
	case sel.acctID != "":
		return one(x.byAcctID[sel.acctID])
	case sel.address.IsValid():
		return x.holders(sel.address)
	case sel.mac != nil:
		return keys(x.byMAC[*sel.mac])
	case sel.user != "":
		return keys(x.byUser[sel.user])
	}
	return keys(x.byID)
}

// holders returns whose address it is, or whose prefix it may lie in.
func (x *index) holders(a netip.Addr) []entry.SessionID {
	var ids []entry.SessionID
	for vrf := range x.vrfs {
		if s := x.byPrefix[located{vrf, single(a)}]; s != nil {
			ids = append(ids, s.id)
		}
	}
	if ids != nil || a.Is4() {
		slices.Sort(ids)
		return ids
	}
	return keys(x.byID)
}

// holds reports whether an address is the session's, or lies in one of its prefixes.
func (s *Session) holds(a netip.Addr) bool {
	for x := range numSlots {
		if b := &s.bindings[x]; b.held() && b.prefix.Contains(a) {
			return true
		}
	}
	return false
}

func keys(m map[entry.SessionID]*Session) []entry.SessionID {
	ids := make([]entry.SessionID, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	return ids
}

// ask runs f on the loop and waits for its end, or for that of ctx; f may run still then.
func (m *Manager) ask(ctx context.Context, f func()) error {
	done := make(chan struct{})
	m.loop.Post(question{ask: func() {
		defer close(done)
		f()
	}})
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("ask sessions: %w", ctx.Err())
	}
}

// askChunk is how many sessions are looked at in one turn of the loop.
const askChunk = 512

// collect makes a row of each session that fits, in the order of their numbers. The loop is asked for
// some at a time, so that other messages come in between: rows are not of one moment.
func collect[T any](ctx context.Context, m *Manager, sel selection, row func(*Session) T) ([]T, error) {
	var ids []entry.SessionID
	if err := m.ask(ctx, func() { ids = m.index.candidates(sel) }); err != nil {
		return nil, err
	}
	slices.Sort(ids)
	rows := []T{}
	for chunk := range slices.Chunk(ids, askChunk) {
		var part []T // of its own: after an abandoned question nobody reads it
		err := m.ask(ctx, func() {
			for _, id := range chunk {
				if s := m.index.byID[id]; s != nil && m.fits(&sel, s) {
					part = append(part, row(s))
				}
			}
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, part...)
	}
	return rows, nil
}
