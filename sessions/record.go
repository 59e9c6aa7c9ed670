package sessions

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"vbng/aaa"
	"vbng/forwarding/entry"
	"vbng/sessions/dhcp6"
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
	PPPoE   uint16          `json:"pppoe_session,omitempty"` // 0: IPoE
	Profile string          `json:"profile"`
	Dialled dialled         `json:"dialled"`

	Username string       `json:"username"`
	Grant    aaa.Grant    `json:"grant"`
	Address  netip.Addr   `json:"address"`
	Pool     string       `json:"pool,omitempty"`
	Link     ppp.Snapshot `json:"link"`

	Held    []heldRecord    `json:"held,omitempty"` // besides Address
	Until   time.Time       `json:"until,omitzero"` // of Address, where it is a lease
	Relayed bool            `json:"relayed,omitempty"`
	DHCPv6  *dhcp6.Bindings `json:"dhcpv6,omitempty"`
	IPv6    bool            `json:"ipv6,omitempty"` // the line has it
	LocalID uint64          `json:"local_id,omitempty"`
	PeerID  uint64          `json:"peer_id,omitempty"`

	Created  time.Time             `json:"created"`
	UpAt     time.Time             `json:"up_at"`
	Saved    moment                `json:"saved,omitzero"`
	Base     entry.SessionCounters `json:"base"`
	Offset   aaa.Usage             `json:"offset"`
	Reported aaa.Usage             `json:"reported"`
}

// heldRecord is an IPv6 prefix or address of a session.
type heldRecord struct {
	Slot   slot         `json:"slot"`
	Prefix netip.Prefix `json:"prefix"`
	Pool   string       `json:"pool,omitempty"`
	Until  time.Time    `json:"until,omitzero"`
}

// access is how the stored session came.
func (r *record) access() aaa.Access {
	if r.PPPoE == 0 {
		return aaa.IPoE
	}
	return aaa.PPPoE
}

// recordKey is the session's key in the store: eight bytes, so that the order is that of set-up.
func recordKey(id entry.SessionID) []byte { return binary.BigEndian.AppendUint64(nil, uint64(id)) }

// save writes a session that is up to the store. During a renegotiation the last state stays there.
func (m *Manager) save(s *Session) {
	if !s.accounted() || s.ending() {
		return
	}
	var link ppp.Snapshot
	if s.link != nil {
		var open bool
		if link, open = s.link.Snapshot(); !open {
			return
		}
	}
	if base, ok := m.needs.Counters.(Base); ok {
		s.base = base.Base(s.id)
	}
	now := m.moment()
	r := record{
		Version: recordVersion, ID: s.id, AcctID: s.acctID, Place: s.client.place, MAC: s.client.mac,
		OwnMAC: s.ownMAC, Port: s.port, PPPoE: s.pppoe, Profile: s.profile.name, Dialled: s.dialled,
		Username: s.username, Grant: *s.grant, Link: link, Relayed: s.relay.bound,
		IPv6: s.advert != nil, LocalID: s.localID, PeerID: s.peerID,
		Created: s.created, UpAt: anew(s.upAt, now.Wall), Saved: now, Base: s.base, Offset: s.offset, Reported: s.reported,
	}
	s.recordBindings(&r, now.Wall)
	value, err := json.Marshal(r)
	if err != nil {
		m.log.warn("save", "session cannot be stored", "session", s.acctID, "error", err)
		return
	}
	m.records.Put(recordKey(s.id), value)
}

// recordBindings keeps what the subscriber may use.
func (s *Session) recordBindings(r *record, now time.Time) {
	for x := range numSlots {
		b := &s.bindings[x]
		switch {
		case !b.bound():
		case x == slotIPv4:
			r.Address, r.Pool, r.Until = b.prefix.Addr(), b.pool, anew(b.until, now)
		default:
			r.Held = append(r.Held, heldRecord{Slot: x, Prefix: b.prefix, Pool: b.pool, Until: anew(b.until, now)})
		}
	}
	if s.lease6 != nil {
		bindings := s.lease6.Bindings()
		r.DHCPv6 = &bindings
	}
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
	case r.ID == 0 || r.AcctID == "" || r.UpAt.IsZero():
		return r, fmt.Errorf("decode stored session %d: identity is missing", r.ID)
	case r.Address.IsValid() && !r.Address.Is4():
		return r, fmt.Errorf("decode stored session %d: address %s is not one of IPv4", r.ID, r.Address)
	}
	for _, h := range r.Held {
		if h.Slot == slotIPv4 || h.Slot >= numSlots || !h.Prefix.IsValid() || h.Prefix.Addr().Is4() || h.Prefix != h.Prefix.Masked() {
			return r, fmt.Errorf("decode stored session %d: prefix %s cannot be held as %s", r.ID, h.Prefix, h.Slot)
		}
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
