package sessions

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"vbng/aaa"
	"vbng/forwarding/entry"
	"vbng/sessions/ppp"
)

// recordVersion is the version of record. An older one is upgraded when it is read, a newer one refused.
const recordVersion = 1

// record is a session that is up, as the store keeps it: all that a new control needs to go on without
// a word to the client. Passwords are not part of it.
type record struct {
	Version int             `json:"version"`
	ID      entry.SessionID `json:"id"`
	AcctID  string          `json:"acct_session_id"`
	Place   Place           `json:"place"`
	MAC     entry.MAC       `json:"mac"`
	OwnMAC  entry.MAC       `json:"own_mac"`
	Port    string          `json:"port_name"`
	PPPoE   uint16          `json:"pppoe_session"`
	Profile string          `json:"profile"`
	Dialled dialled         `json:"dialled"`

	Username string       `json:"username"`
	Grant    aaa.Grant    `json:"grant"`
	Address  netip.Addr   `json:"address"`
	Pool     string       `json:"pool,omitempty"`
	Link     ppp.Snapshot `json:"link"`

	Created  time.Time             `json:"created"`
	UpAt     time.Time             `json:"up_at"`
	Base     entry.SessionCounters `json:"base"`
	Offset   aaa.Usage             `json:"offset"`
	Reported aaa.Usage             `json:"reported"`
}

// recordKey is the session's key in the store: eight bytes, so that the order is that of set-up.
func recordKey(id entry.SessionID) []byte { return binary.BigEndian.AppendUint64(nil, uint64(id)) }

// save writes a session that is up to the store. During a renegotiation the last state stays there.
func (m *Manager) save(s *Session) {
	link, open := s.link.Snapshot()
	if !open || !s.accounted() || s.ending() {
		return
	}
	if base, ok := m.needs.Counters.(Base); ok {
		s.base = base.Base(s.id)
	}
	value, err := json.Marshal(record{
		Version: recordVersion, ID: s.id, AcctID: s.acctID, Place: s.client.place, MAC: s.client.mac,
		OwnMAC: s.ownMAC, Port: s.port, PPPoE: s.pppoe, Profile: s.profile.name, Dialled: s.dialled,
		Username: s.username, Grant: *s.grant, Address: s.address, Pool: s.pool, Link: link,
		Created: s.created, UpAt: s.upAt, Base: s.base, Offset: s.offset, Reported: s.reported,
	})
	if err != nil {
		m.log.warn("save", "session cannot be stored", "session", s.acctID, "error", err)
		return
	}
	m.records.Put(recordKey(s.id), value)
}

// parseRecord decodes a stored session and checks what the rest relies on.
func parseRecord(value []byte) (record, error) {
	var r record
	if err := json.Unmarshal(value, &r); err != nil {
		return r, fmt.Errorf("decode stored session: %w", err)
	}
	switch {
	case r.Version != recordVersion:
		return r, fmt.Errorf("decode stored session: version %d, this program knows %d", r.Version, recordVersion)
	case r.ID == 0 || r.AcctID == "" || !r.Address.Is4() || r.UpAt.IsZero():
		return r, fmt.Errorf("decode stored session %d: identity or address is missing", r.ID)
	}
	return r, nil
}

// saveChunk is how many sessions one message looks at, so that 32K of them do not stop the loop.
const saveChunk = 128

// saveBases keeps what the forwarder that was lost had counted, now that the next one is at work.
func (m *Manager) saveBases(msg savingBases) {
	base, ok := m.needs.Counters.(Base)
	if !ok {
		return
	}
	now := msg.ids[:min(saveChunk, len(msg.ids))]
	for _, id := range now {
		if s := m.index.byID[id]; s != nil && s.accounted() && base.Base(id) != s.base {
			m.save(s)
		}
	}
	if rest := msg.ids[len(now):]; len(rest) > 0 {
		m.loop.Post(savingBases{ids: rest})
	}
}
