package forwarding

import (
	"encoding/binary"

	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
	"vbng/forwarding/table"
	"vbng/forwarding/wire"
)

const (
	tickShift      = 24 // a tick is 16.8 ms
	tickNanos      = 1 << tickShift
	wheelPositions = 4096 // 69 s; later ones stay in their position for further turns
	// echoesPerRound bounds how long a round may take when many are due at once.
	echoesPerRound = 32
	// retryNanos is when an echo or event is tried again that found no room.
	retryNanos = 1e9
)

// wheel is a worker's timer wheel: LCP echoes (RFC 1661 section 5.8), in lists that run through the
// session records.
type wheel struct {
	heads  []uint32 // session slot + 1, 0: empty
	now    uint64   // tick up to which, exclusively, all positions were visited
	armed  int
	random uint64
}

func newWheel(seed uint64) (wheel, error) {
	heads, err := packet.NewSlab[uint32](wheelPositions)
	return wheel{heads: heads, random: seed | 1}, err
}

// next is xorshift64: jitter needs no better.
func (h *wheel) next() uint64 {
	h.random ^= h.random << 13
	h.random ^= h.random >> 7
	h.random ^= h.random << 17
	return h.random
}

// arm puts a session into the position of a time.
func (h *wheel) arm(sessions []table.Session, slot uint32, dueNanos int64) {
	e := &sessions[slot].Echo
	h.disarm(sessions, slot)
	e.DueTick = max(uint64(dueNanos)>>tickShift, h.now)
	position := e.DueTick % wheelPositions
	e.Position, e.Prev, e.Next = uint32(position)+1, 0, h.heads[position]
	if e.Next != 0 {
		sessions[e.Next-1].Echo.Prev = slot + 1
	}
	h.heads[position] = slot + 1
	h.armed++
}

func (h *wheel) disarm(sessions []table.Session, slot uint32) {
	e := &sessions[slot].Echo
	if e.Position == 0 {
		return
	}
	if e.Next != 0 {
		sessions[e.Next-1].Echo.Prev = e.Prev
	}
	if e.Prev != 0 {
		sessions[e.Prev-1].Echo.Next = e.Next
	} else {
		h.heads[e.Position-1] = e.Next
	}
	e.Position, e.Next, e.Prev = 0, 0, 0
	h.armed--
}

// setEcho takes over an entry.Echo. The first request comes at a random time within the interval, so
// that many sessions that came up together do not stay together. Putting it again asks a peer that fell
// silent again: a control that was killed when it had just heard of the silence learns of it once more.
func (h *wheel) setEcho(w *worker, slot uint32, want *table.SessionEcho) {
	e := &w.Tables.Sessions[slot].Echo
	rearm := !e.Active || e.Silent || e.IntervalNanos != want.IntervalNanos
	if e.Misses != want.Misses || rearm {
		e.Outstanding, e.Silent, e.Told = 0, false, false
	}
	e.LocalMagic, e.PeerMagic, e.PeerMRU = want.LocalMagic, want.PeerMagic, want.PeerMRU
	e.Misses, e.IntervalNanos, e.Active = want.Misses, want.IntervalNanos, true
	switch {
	case e.IntervalNanos == 0:
		h.disarm(w.Tables.Sessions, slot)
	case rearm:
		h.arm(w.Tables.Sessions, slot, w.NowNanos+int64(h.next()%uint64(e.IntervalNanos)))
	}
}

func (h *wheel) stopEcho(sessions []table.Session, slot uint32) {
	h.disarm(sessions, slot)
	sessions[slot].Echo = table.SessionEcho{}
}

// advance does what is due. It stays at a position while the round's share is used up.
func (h *wheel) advance(w *worker) {
	tick := uint64(w.NowNanos) >> tickShift
	if h.now > tick {
		return
	}
	if h.armed == 0 {
		h.now = tick + 1
		return
	}
	if tick-h.now >= wheelPositions {
		h.now = tick - wheelPositions + 1 // one turn visits everybody
	}
	for budget := echoesPerRound; h.now <= tick; h.now++ {
		if budget = h.visit(w, h.now%wheelPositions, tick, budget); budget == 0 {
			return
		}
	}
}

// visit does what is due in one position and returns what is left of the budget.
func (h *wheel) visit(w *worker, position, tick uint64, budget int) int {
	sessions := w.Tables.Sessions
	for at := h.heads[position]; at != 0; {
		slot := at - 1
		at = sessions[slot].Echo.Next
		if sessions[slot].Echo.DueTick > tick {
			continue
		}
		w.echoDue(slot)
		if budget--; budget == 0 {
			return 0
		}
	}
	return budget
}

// sleepMillis returns how long nothing will be due, at most longest.
func (h *wheel) sleepMillis(longest int) int {
	if h.armed == 0 {
		return longest
	}
	for ticks := range uint64(longest*1_000_000/tickNanos + 1) {
		if h.heads[(h.now+ticks)%wheelPositions] != 0 {
			return int((ticks+1)*tickNanos/1_000_000) + 1
		}
	}
	return longest
}

// echoDue sends a request to a session's peer, or tells control that the peer is silent.
func (w *worker) echoDue(slot uint32) {
	s := &w.Tables.Sessions[slot]
	e := &s.Echo
	wait := e.IntervalNanos - e.IntervalNanos/10 + int64(w.wheel.next()%uint64(e.IntervalNanos/5+1))
	switch {
	case e.Silent || e.Misses > 0 && e.Outstanding >= e.Misses:
		e.Silent = true
		if w.Ring.PushSilent(entry.SessionID(s.Up.ID)) {
			e.Told = true
			w.Count.Add(w.words.silent, 1)
			w.wheel.disarm(w.Tables.Sessions, slot)
			return
		}
		wait = retryNanos
	case w.sendEcho(s):
		e.Outstanding++
	default:
		wait = min(wait, retryNanos)
	}
	w.wheel.arm(w.Tables.Sessions, slot, w.NowNanos+max(wait, tickNanos))
}

// sendEcho sends an LCP Echo-Request.
func (w *worker) sendEcho(s *table.Session) bool {
	p := w.Ports[s.Down.Port]
	if p == nil {
		w.Count.Add(w.words.echoNoPort, 1)
		return false
	}
	index, ok := w.Pool.Take()
	if !ok {
		w.Count.Add(w.words.echoNoBuffer, 1)
		return false
	}
	s.Echo.Identifier++
	start := packet.Start(index)
	length := putEcho(w.Arena.Memory[start:], s)
	w.Queue(p, index, start, length)
	w.Count.Add(w.words.echoSent, 1)
	return true
}

// putEcho writes the frame: the session's header with another protocol, then the request.
func putEcho(b []byte, s *table.Session) uint32 {
	n := copy(b, s.Down.Encap[table.EncapBytes-s.Down.EncapLength:])
	const controlBytes = wire.ControlLength + wire.MagicLength
	binary.BigEndian.PutUint16(b[n-4:], wire.PPPProtocolLength+controlBytes)
	wire.PutPPP(b[n-wire.PPPProtocolLength:], wire.ProtocolLCP)
	n += wire.PutControl(b[n:], wire.CodeEchoRequest, s.Echo.Identifier, wire.MagicLength)
	binary.BigEndian.PutUint32(b[n:], s.Echo.LocalMagic)
	return uint32(n + wire.MagicLength)
}
