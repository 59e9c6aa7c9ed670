package ppp

import "errors"

// ErrSnapshot says that a snapshot cannot be restored.
var ErrSnapshot = errors.New("ppp: snapshot is not of an open link")

// Snapshot is an open link as plain data: enough for a new control process to go on where the old one
// stopped, without a word to the peer. Secrets are not part of it.
type Snapshot struct {
	LocalMagic uint32 `json:"local_magic"` // zero: not negotiated
	PeerMagic  uint32 `json:"peer_magic"`
	LocalMRU   uint16 `json:"local_mru"` // bytes
	PeerMRU    uint16 `json:"peer_mru"`  // bytes

	RejectedMRU   bool `json:"rejected_mru,omitempty"`   // the peer rejected our option
	RejectedMagic bool `json:"rejected_magic,omitempty"` // the peer rejected our option
	RejectedIP    bool `json:"rejected_ip,omitempty"`    // the peer rejected our option

	LCPID  uint8 `json:"lcp_id"` // last identifier used
	IPCPID uint8 `json:"ipcp_id"`

	Method      AuthMethod `json:"method"`
	Username    string     `json:"username"`
	AuthSerial  uint32     `json:"auth_serial"`
	AuthReplyID uint8      `json:"auth_reply_id"` // a repeated CHAP Response with it is answered again
	AuthNextID  uint8      `json:"auth_next_id"`
	AuthMessage string     `json:"auth_message"`

	Net      NetConfig `json:"net"`
	Counters Counters  `json:"counters"`
}

// Snapshot returns the link as data. It is false unless LCP and IPCP are both Opened: a negotiation
// half done is not worth keeping, since the peer repeats it.
func (l *Link) Snapshot() (Snapshot, bool) {
	if !l.isUp || l.lcpFSM.state != Opened || l.ipcpFSM.state != Opened {
		return Snapshot{}, false
	}
	return Snapshot{
		LocalMagic: l.lcp.localMagic(), PeerMagic: l.lcp.peer.magic,
		LocalMRU: l.lcp.localMRU(), PeerMRU: l.lcp.peer.mru,
		RejectedMRU: !l.lcp.askMRU, RejectedMagic: !l.lcp.askMagic, RejectedIP: !l.ipcp.askLocal,
		LCPID: l.lcpFSM.nextID, IPCPID: l.ipcpFSM.nextID,
		Method: l.auth.method, Username: l.auth.username,
		AuthSerial: l.auth.serial, AuthReplyID: l.auth.replyID, AuthNextID: l.auth.nextID,
		AuthMessage: l.auth.message,
		Net:         l.ipcp.net, Counters: l.shared.counters,
	}, true
}

// Restore continues an open link. It puts nothing out: the owner knows from the snapshot what LCPUp and
// NetworkUp said. The configuration, all but the MRU, is the present one and counts from the next
// renegotiation on. It fails with ErrSnapshot if the snapshot is not one of an open link.
func Restore(cfg Config, random func([]byte), s Snapshot) (*Link, error) {
	if !s.Net.hasIPv4() || s.PeerMRU < minMRU || s.LocalMRU < minMRU {
		return nil, ErrSnapshot
	}
	l := NewLink(cfg, random)
	l.shared.counters, l.shared.peerMRU = s.Counters, s.PeerMRU
	l.lcp.restore(s)
	l.ipcp.net, l.ipcp.askLocal = s.Net, !s.RejectedIP
	l.lcpFSM.state, l.lcpFSM.nextID = Opened, s.LCPID
	l.ipcpFSM.state, l.ipcpFSM.nextID = Opened, s.IPCPID
	l.auth.step, l.auth.method, l.auth.serial = authAccepted, s.Method, s.AuthSerial
	l.auth.username, l.auth.message = s.Username, s.AuthMessage
	l.auth.replyID, l.auth.nextID = s.AuthReplyID, s.AuthNextID
	l.phase, l.open, l.isUp = PhaseNetwork, true, true
	return l, nil
}

func (n *lcp) restore(s Snapshot) {
	n.askMRU, n.askMagic = !s.RejectedMRU, !s.RejectedMagic
	if n.askMRU {
		n.ownMRU = s.LocalMRU
	}
	if n.askMagic {
		n.magic = s.LocalMagic
	}
	n.peer = lcpValues{mru: s.PeerMRU, magic: s.PeerMagic}
}
