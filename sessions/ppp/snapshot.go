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

	RejectedInterfaceID bool `json:"rejected_interface_id,omitempty"` // the peer rejected our option

	LCPID    uint8 `json:"lcp_id"` // last identifier used
	IPCPID   uint8 `json:"ipcp_id"`
	IPV6CPID uint8 `json:"ipv6cp_id,omitempty"`

	// Initial: not wanted. Programs that knew no IPV6CP wrote neither, and IPCP was always Opened.
	IPCP   State `json:"ipcp_state,omitempty"`
	IPV6CP State `json:"ipv6cp_state,omitempty"`

	LocalInterfaceID uint64 `json:"local_interface_id,omitempty"` // as agreed so far
	PeerInterfaceID  uint64 `json:"peer_interface_id,omitempty"`  // as agreed; zero unless IPV6CP is Opened

	Method      AuthMethod `json:"method"`
	Username    string     `json:"username"`
	AuthSerial  uint32     `json:"auth_serial"`
	AuthReplyID uint8      `json:"auth_reply_id"` // a repeated CHAP Response with it is answered again
	AuthNextID  uint8      `json:"auth_next_id"`
	AuthMessage string     `json:"auth_message"`

	Net      NetConfig `json:"net"`
	Counters Counters  `json:"counters"`
}

// Snapshot returns the link as data. It is false unless LCP and a network protocol are Opened. One that is
// in negotiation meanwhile begins anew after Restore.
func (l *Link) Snapshot() (Snapshot, bool) {
	ipcp, ipv6cp := &l.networks[0], &l.networks[1]
	if !ipcp.up && !ipv6cp.up || l.lcpFSM.state != Opened {
		return Snapshot{}, false
	}
	return Snapshot{
		LocalMagic: l.lcp.localMagic(), PeerMagic: l.lcp.peer.magic,
		LocalMRU: l.lcp.localMRU(), PeerMRU: l.lcp.peer.mru,
		RejectedMRU: !l.lcp.askMRU, RejectedMagic: !l.lcp.askMagic, RejectedIP: !l.ipcp.askLocal,
		RejectedInterfaceID: !l.ipv6cp.askOwn,
		LCPID:               l.lcpFSM.nextID, IPCPID: ipcp.fsm.nextID, IPV6CPID: ipv6cp.fsm.nextID,
		IPCP: ipcp.lasting(), IPV6CP: ipv6cp.lasting(),
		LocalInterfaceID: l.ipv6cp.own, PeerInterfaceID: l.ipv6cp.peer,
		Method: l.auth.method, Username: l.auth.username,
		AuthSerial: l.auth.serial, AuthReplyID: l.auth.replyID, AuthNextID: l.auth.nextID,
		AuthMessage: l.auth.message,
		Net:         l.net, Counters: l.shared.counters,
	}, true
}

// lasting is the state that a snapshot keeps.
func (n *network) lasting() State {
	if n.fsm.state == Opened || n.fsm.state == Initial {
		return n.fsm.state
	}
	return Stopped
}

// Restore continues an open link. It puts nothing out: the owner knows from the snapshot what LCPUp and
// NetworkUp said. A network protocol that was not Opened waits for the peer, or for OpenNetwork to ask anew.
// The configuration, all but the MRU, is the present one and counts from the next renegotiation on. It fails with ErrSnapshot if the snapshot is not one of an open link.
func Restore(cfg Config, random func([]byte), s Snapshot) (*Link, error) {
	if s.IPCP == Initial && s.Net.hasIPv4() {
		s.IPCP = Opened
	}
	if !s.open() {
		return nil, ErrSnapshot
	}
	l := NewLink(cfg, random)
	l.shared.counters, l.shared.peerMRU = s.Counters, s.PeerMRU
	l.lcp.restore(s)
	l.take(s.Net)
	l.ipcp.askLocal = !s.RejectedIP
	l.ipv6cp.restore(s)
	l.lcpFSM.state, l.lcpFSM.nextID = Opened, s.LCPID
	l.networks[0].restore(s.IPCP, s.IPCPID)
	l.networks[1].restore(s.IPV6CP, s.IPV6CPID)
	l.auth.step, l.auth.method, l.auth.serial = authAccepted, s.Method, s.AuthSerial
	l.auth.username, l.auth.message = s.Username, s.AuthMessage
	l.auth.replyID, l.auth.nextID = s.AuthReplyID, s.AuthNextID
	l.phase, l.open, l.restored = PhaseNetwork, true, true
	return l, nil
}

// open reports whether the snapshot is one of a link with a network protocol that is Opened.
func (s Snapshot) open() bool {
	ipv4 := s.IPCP == Opened && s.Net.hasIPv4()
	ipv6 := s.IPV6CP == Opened && s.Net.hasIPv6() && s.LocalInterfaceID != 0 && s.PeerInterfaceID != 0
	sane := (ipv4 || s.IPCP != Opened) && (ipv6 || s.IPV6CP != Opened)
	return sane && (ipv4 || ipv6) && s.PeerMRU >= minMRU && s.LocalMRU >= minMRU
}

func (n *network) restore(state State, lastID uint8) {
	if state == Initial {
		return
	}
	n.fsm.state, n.fsm.nextID, n.up = Stopped, lastID, state == Opened
	if n.up {
		n.fsm.state = Opened
	}
}

func (n *ipv6cp) restore(s Snapshot) {
	n.askOwn, n.peer = !s.RejectedInterfaceID, s.PeerInterfaceID
	if s.LocalInterfaceID != 0 {
		n.own = s.LocalInterfaceID
	}
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
