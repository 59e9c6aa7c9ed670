package sessions

// family is what a client speaks: access nodes may call one line by different names in DHCP and in DHCPv6.
type family uint8

const (
	family4 family = iota
	family6
	numFamilies
)

// lineNames is what access nodes called a client's line; empty: nothing yet.
type lineNames struct{ circuit, remote string }

// differ reports whether a message comes from another line. One that does not name its line is no witness: many
// access nodes leave unicast renewals alone.
func (l lineNames) differ(said dialled) bool {
	other := func(known string, told []byte) bool { return known != "" && len(told) > 0 && known != string(told) }
	return other(l.circuit, said.CircuitID) || other(l.remote, said.RemoteID)
}

func (l *lineNames) learn(said dialled) {
	if l.circuit == "" {
		l.circuit = string(said.CircuitID)
	}
	if l.remote == "" {
		l.remote = string(said.RemoteID)
	}
}

// heardOn is heard for messages that access nodes put the name of the line into. With one that comes from another
// line the client has moved there, or somebody there has its address: the session ends, and who it is now is asked
// anew. What opens nothing is not heard from there, so that nobody ends a neighbour's lease.
func (m *Manager) heardOn(from came, said dialled, x family, opens bool) *Session {
	s := m.heard(from, said, opens)
	if s == nil || s.link != nil || s.ending() {
		return s
	}
	if !s.told[x].differ(said) {
		s.told[x].learn(said)
		return s
	}
	m.log.warn("line", "an IPoE client's address comes from another line", "session", s.acctID, "mac", s.client.mac,
		"circuit_id", plain(said.CircuitID), "remote_id", plain(said.RemoteID), "ends", opens)
	if !opens {
		m.stats.otherLine.Add(1)
		return nil
	}
	m.end(s, CauseLineChanged)
	return m.heard(from, said, opens)
}
