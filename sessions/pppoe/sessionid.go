package pppoe

import (
	"encoding/binary"
	"errors"
	"time"
)

const (
	// restTime is how long an identifier rests after use, so that a late packet or PADT of the old
	// session does not meet a new one.
	restTime = 60 * time.Second
	// maxResting bounds the memory of identifiers at rest, over all lines.
	maxResting = 1 << 20

	firstID = 1
	lastID  = 0xfffe // RFC 2516 section 4: 0xffff is reserved; section 5.4: zero is an error
	numIDs  = lastID - firstID + 1
)

// Errors of session identifiers.
var (
	ErrSessionID = errors.New("pppoe: session id is zero or reserved")
	ErrInUse     = errors.New("pppoe: session id is in use")
	ErrExhausted = errors.New("pppoe: no session id is free on the line")
)

func validID(id uint16) bool { return id >= firstID && id <= lastID }

// SessionIDs gives out session identifiers, a space per access line. It is not safe for concurrent use.
// Memory: one entry per identifier in use or at rest, and one per line that has any.
type SessionIDs struct {
	random  func([]byte)
	lines   map[Line]*lineIDs
	resting []resting // in order of release
	head    int       // resting before it are done with
}

// lineIDs is one line's space.
type lineIDs struct {
	taken map[uint16]idState
	next  uint16 // where the next search begins
}

// idState is when an identifier may be given out again; zero while it is in use.
type idState struct{ restsUntil time.Time }

func (st idState) inUse() bool { return st.restsUntil.IsZero() }

func (l *lineIDs) has(id uint16) bool {
	_, taken := l.taken[id]
	return taken
}

func (l *lineIDs) uses(id uint16) bool {
	state, taken := l.taken[id]
	return taken && state.inUse()
}

type resting struct {
	line  Line
	id    uint16
	until time.Time
}

// NewSessionIDs makes an empty set. The random source fills the slice it is given; it chooses where a
// line's identifiers begin, so that after a restart old and new sessions hardly meet.
func NewSessionIDs(random func([]byte)) *SessionIDs {
	return &SessionIDs{random: random, lines: make(map[Line]*lineIDs)}
}

// Allocate gives out an identifier of the line. It fails with ErrExhausted.
func (s *SessionIDs) Allocate(line Line, now time.Time) (uint16, error) {
	s.wake(now)
	l := s.line(line)
	if len(l.taken) >= numIDs || len(s.resting)-s.head >= maxResting {
		s.drop(line, l)
		return 0, ErrExhausted
	}
	for l.has(l.next) {
		l.next = successor(l.next)
	}
	id := l.next
	l.next = successor(id)
	l.taken[id] = idState{}
	return id, nil
}

// Reserve takes one identifier, for a session that survived a restart. It fails with ErrSessionID or
// ErrInUse.
func (s *SessionIDs) Reserve(line Line, id uint16) error {
	if !validID(id) {
		return ErrSessionID
	}
	l := s.line(line)
	if l.uses(id) {
		return ErrInUse
	}
	l.taken[id] = idState{} // also one at rest: it is the old session that goes on
	return nil
}

// Release puts an identifier to rest. One that is not in use is left alone.
func (s *SessionIDs) Release(line Line, id uint16, now time.Time) {
	s.wake(now)
	l := s.lines[line]
	if l == nil || !l.uses(id) {
		return
	}
	until := now.Add(restTime)
	l.taken[id] = idState{restsUntil: until}
	s.resting = append(s.resting, resting{line: line, id: id, until: until})
}

// InUse returns how many identifiers the line uses, resting ones not counted.
func (s *SessionIDs) InUse(line Line) int {
	n := 0
	if l := s.lines[line]; l != nil {
		for _, state := range l.taken {
			if state.inUse() {
				n++
			}
		}
	}
	return n
}

func (s *SessionIDs) line(line Line) *lineIDs {
	l := s.lines[line]
	if l == nil {
		var b [2]byte
		s.random(b[:])
		l = &lineIDs{taken: make(map[uint16]idState), next: firstID + binary.BigEndian.Uint16(b[:])%numIDs}
		s.lines[line] = l
	}
	return l
}

// wake frees the identifiers that have rested.
func (s *SessionIDs) wake(now time.Time) {
	for s.head < len(s.resting) && !now.Before(s.resting[s.head].until) {
		r := s.resting[s.head]
		s.head++
		l := s.lines[r.line]
		if l != nil && l.taken[r.id].restsUntil.Equal(r.until) { // else it was reserved meanwhile
			delete(l.taken, r.id)
			s.drop(r.line, l)
		}
	}
	if s.head > len(s.resting)/2 { // at most as much waste as use
		s.resting = append(s.resting[:0], s.resting[s.head:]...)
		s.head = 0
	}
}

// drop forgets a line that has nothing in use or at rest.
func (s *SessionIDs) drop(line Line, l *lineIDs) {
	if len(l.taken) == 0 {
		delete(s.lines, line)
	}
}

func successor(id uint16) uint16 {
	if id >= lastID {
		return firstID
	}
	return id + 1
}
