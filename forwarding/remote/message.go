package remote

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"vbng/forwarding/counter"
	"vbng/forwarding/entry"
)

// hello is the first message of either side. Its form never changes, whatever the format version says.
type hello struct {
	Magic   string `json:"magic"`
	Version int    `json:"version"` // entry.FormatVersion
	PID     int    `json:"pid"`

	// The forwarder's only. Descriptors: counters, bell of all punt rings, then for each worker punt
	// ring, inject ring, and the inject ring's bell.
	Instance   uint64         `json:"instance,omitempty"`   // random; a new process has another one
	Generation uint64         `json:"generation,omitempty"` // begun last
	Layout     counter.Layout `json:"layout"`
	WordNames  []string       `json:"word_names,omitempty"`
}

const magic = "vbng-forwarder"

// VersionError tells that control and forwarder were built with different entry formats.
type VersionError struct{ Control, Forwarder int }

// Error implements error.
func (e *VersionError) Error() string {
	return fmt.Sprintf("attach to forwarder: it speaks entry format %d, control speaks %d: restart the forwarder", e.Forwarder, e.Control)
}

// goodbye says why a forwarder turns a client away.
type goodbye struct {
	Text     string        `json:"text"`
	Version  *VersionError `json:"version,omitempty"`
	Replaced bool          `json:"replaced,omitempty"`
}

// ErrReplaced tells that another control process took the forwarder over.
var ErrReplaced = errors.New("another control process took the forwarder over")

func (g goodbye) err() error {
	switch {
	case g.Version != nil:
		return g.Version
	case g.Replaced:
		return ErrReplaced
	}
	return fmt.Errorf("forwarder closes the connection: %s", g.Text)
}

// parseGoodbye returns why the forwarder closes the connection.
func parseGoodbye(body []byte) error {
	var g goodbye
	if err := json.Unmarshal(body, &g); err != nil {
		return fmt.Errorf("decode goodbye: %w", err)
	}
	return g.err()
}

func appendJSON(buf []byte, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain structs of our own
	}
	return append(buf, text...)
}

func parseHello(body []byte) (hello, error) {
	var h hello
	if err := json.Unmarshal(body, &h); err != nil {
		return h, fmt.Errorf("decode hello: %w", err)
	}
	if h.Magic != magic {
		return h, fmt.Errorf("decode hello: the peer is no vBNG process (magic %q)", h.Magic)
	}
	return h, nil
}

// errCut is what a decoder below says about bytes that end early or go on too long.
var errCut = errors.New("message has another length than its content")

// nextBatch takes a batch off a list of them: length u32 and the encoded batch, each.
func nextBatch(body []byte) (batch, rest []byte, err error) {
	if len(body) < 4 {
		return nil, nil, errCut
	}
	n := binary.LittleEndian.Uint32(body)
	if int(n) > len(body)-4 {
		return nil, nil, errCut
	}
	return body[4 : 4+n], body[4+n:], nil
}

func appendBatchMessage(buf, encoded []byte) []byte {
	buf = binary.LittleEndian.AppendUint32(buf, uint32(len(encoded)))
	return append(buf, encoded...)
}

// checkLayout refuses what no forwarder has, before sizes are computed from it.
func (h *hello) checkLayout() error {
	l := h.Layout
	const limit = 1 << 26
	if l.Workers < 1 || l.Workers > 64 || l.Sessions < 0 || l.Sessions > limit || l.Ports < 0 || l.Ports > limit ||
		l.Words < 0 || l.Words > limit || len(h.WordNames) > l.Words {
		return fmt.Errorf("decode hello: counter layout %+v makes no sense", l)
	}
	return nil
}

func parseGeneration(body []byte) (uint64, error) {
	if len(body) != 8 {
		return 0, errCut
	}
	return binary.LittleEndian.Uint64(body), nil
}

// Answer is what the engine says to a batch.
type Answer struct {
	Refused  *entry.Refused // nothing was applied; the rest is empty
	Sessions []SessionSlot  // of every session put
	Ports    []PortSlot     // of every port put
	Finals   []entry.Final  // of every session deleted
}

// SessionSlot tells where a session's counters lie.
type SessionSlot struct {
	Session entry.SessionID
	Slot    uint32
}

// PortSlot tells where a port's counters lie.
type PortSlot struct {
	Port entry.PortID
	Slot uint32
}

// appendAnswer appends: refused u8; then op u32, reason length u16, reason, or the three lists, each
// with its length u32.
func appendAnswer(buf []byte, a *Answer) []byte {
	le := binary.LittleEndian
	if a.Refused != nil {
		reason := a.Refused.Reason[:min(len(a.Refused.Reason), 1000)]
		buf = le.AppendUint32(append(buf, 1), uint32(a.Refused.Op))
		buf = le.AppendUint16(buf, uint16(len(reason)))
		return append(buf, reason...)
	}
	buf = le.AppendUint32(append(buf, 0), uint32(len(a.Sessions)))
	for _, s := range a.Sessions {
		buf = le.AppendUint32(le.AppendUint64(buf, uint64(s.Session)), s.Slot)
	}
	buf = le.AppendUint32(buf, uint32(len(a.Ports)))
	for _, p := range a.Ports {
		buf = le.AppendUint32(le.AppendUint32(buf, uint32(p.Port)), p.Slot)
	}
	buf = le.AppendUint32(buf, uint32(len(a.Finals)))
	for _, f := range a.Finals {
		buf = le.AppendUint64(buf, uint64(f.Session))
		buf = le.AppendUint64(buf, f.Counters.InputPackets)
		buf = le.AppendUint64(buf, f.Counters.InputBytes)
		buf = le.AppendUint64(buf, f.Counters.OutputPackets)
		buf = le.AppendUint64(buf, f.Counters.OutputBytes)
	}
	return buf
}

// fields reads a message; reading past the end sets cut and gives zeros.
type fields struct {
	bytes []byte
	cut   bool
}

func (f *fields) take(n int) []byte {
	if n > len(f.bytes) {
		f.cut, f.bytes = true, nil
		return make([]byte, min(n, 64))
	}
	b := f.bytes[:n]
	f.bytes = f.bytes[n:]
	return b
}

func (f *fields) u8() uint8   { return f.take(1)[0] }
func (f *fields) u16() uint16 { return binary.LittleEndian.Uint16(f.take(2)) }
func (f *fields) u32() uint32 { return binary.LittleEndian.Uint32(f.take(4)) }
func (f *fields) u64() uint64 { return binary.LittleEndian.Uint64(f.take(8)) }

func (f *fields) text(n int) string {
	b := f.take(n)
	if f.cut {
		return ""
	}
	return string(b)
}

// count reads a list's length, which the bytes at hand must be able to hold.
func (f *fields) count(elementBytes int) int {
	n := int(f.u32())
	if n > len(f.bytes)/elementBytes {
		f.cut = true
		return 0
	}
	return n
}

// check refuses slots outside of the counters.
func (a *Answer) check(l counter.Layout) error {
	for _, s := range a.Sessions {
		if int(s.Slot) >= l.Sessions {
			return fmt.Errorf("session %d has counter slot %d of %d", s.Session, s.Slot, l.Sessions)
		}
	}
	for _, p := range a.Ports {
		if int(p.Slot) >= l.Ports {
			return fmt.Errorf("port %d has counter slot %d of %d", p.Port, p.Slot, l.Ports)
		}
	}
	return nil
}

// nextAnswer takes an answer off a list of them.
func nextAnswer(body []byte) (a Answer, rest []byte, err error) {
	f := &fields{bytes: body}
	switch f.u8() {
	case 0:
		f.lists(&a)
	case 1:
		a.Refused = &entry.Refused{Op: int(f.u32())}
		a.Refused.Reason = f.text(int(f.u16()))
	default:
		f.cut = true
	}
	if f.cut {
		return Answer{}, nil, errCut
	}
	return a, f.bytes, nil
}

func (f *fields) lists(a *Answer) {
	for range f.count(12) {
		a.Sessions = append(a.Sessions, SessionSlot{entry.SessionID(f.u64()), f.u32()})
	}
	for range f.count(8) {
		a.Ports = append(a.Ports, PortSlot{entry.PortID(f.u32()), f.u32()})
	}
	for range f.count(40) {
		a.Finals = append(a.Finals, entry.Final{Session: entry.SessionID(f.u64()), Counters: entry.SessionCounters{
			InputPackets: f.u64(), InputBytes: f.u64(), OutputPackets: f.u64(), OutputBytes: f.u64(),
		}})
	}
}

func parsePortState(body []byte) (entry.PortState, error) {
	var s entry.PortState
	if err := json.Unmarshal(body, &s); err != nil {
		return s, fmt.Errorf("decode port state: %w", err)
	}
	return s, nil
}
