package sessions

import "vbng/aaa"

// historySize is how many ended sessions are remembered.
const historySize = 1000

// history is a ring of the sessions that ended last.
type history struct {
	rows []Ended
	next int
}

// Ended is one session that ended, as show tells it.
type Ended struct {
	Ended         string `show:"Ended" json:"ended"`
	SessionID     uint64 `show:"Session" json:"session_id"`
	Username      string `show:"User" json:"username"`
	MAC           string `show:"MAC" json:"mac"`
	Port          string `show:"Port" json:"port"`
	VLAN          string `show:"VLAN" json:"vlan"`
	Access        string `show:"Access" json:"access"`
	Address       string `show:"Address" json:"address"`
	IPv6          string `show:"IPv6" json:"ipv6"`
	Delegated     string `show:"Delegated" json:"delegated_prefix"`
	Cause         string `show:"Cause" json:"cause"`
	UptimeSeconds int64  `show:"Uptime (s)" json:"uptime_seconds"`
	InputBytes    uint64 `show:"Bytes in" json:"input_bytes"`
	OutputBytes   uint64 `show:"Bytes out" json:"output_bytes"`
	AcctSessionID string `show:"-" json:"acct_session_id"`
}

func newHistory() *history { return &history{} }

func (h *history) add(e Ended) {
	if len(h.rows) < historySize {
		h.rows = append(h.rows, e)
		return
	}
	h.rows[h.next] = e
	h.next = (h.next + 1) % historySize
}

// latest returns the remembered sessions, the last to end first.
func (h *history) latest() []Ended {
	rows := make([]Ended, 0, len(h.rows))
	for i := range h.rows {
		at := (h.next - 1 - i + 2*len(h.rows)) % len(h.rows)
		rows = append(rows, h.rows[at])
	}
	return rows
}

func endedRow(s *Session, usage aaa.Usage) Ended {
	return Ended{
		Ended: s.ended.UTC().Format(timeFormat), SessionID: uint64(s.id), Username: printed(s.username),
		MAC: s.client.mac.String(), Port: s.port, VLAN: s.client.place.VLAN(), Address: addressText(s.ipv4()),
		Access: s.access.String(), IPv6: ipv6Text(s), Delegated: prefixText(s.bindings[slotDelegated].prefix),
		Cause: string(s.because), UptimeSeconds: int64(s.uptime(s.ended).Seconds()),
		InputBytes: usage.InputBytes, OutputBytes: usage.OutputBytes, AcctSessionID: s.acctID,
	}
}
