package punt

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
)

// The layout of a ring. Each word that one side writes and the other polls has a cache line of its own.
const (
	headOffset   = 0   // consumer: bytes taken, since the ring was made
	tailOffset   = 64  // producer: bytes put
	asleepOffset = 128 // consumer: 1 while it sleeps
	lostOffset   = 192 // producer: records that found no room
	brokenOffset = 200 // consumer: times the producer's words made no sense
	dataOffset   = 256

	minDataBytes = 8192
	// eventReserveBytes is kept free by frames, so that a flood of them cannot lock events out.
	eventReserveBytes = 1024
)

// A record is its header and the frame, padded to recordAlign. It never wraps around the data's end: what
// is left there is filled with a padding record.
//
//	size u32, item u8, class u8, outer TPID u16, outer VLAN u16, inner VLAN u16, port u32, interface u32,
//	payload u16, frame length u16, session u64
const (
	recordHeaderBytes = 32
	recordAlign       = 8
)

// Item is what a record holds.
type Item uint8

// The items; padding is never seen outside.
const (
	Nothing Item = iota
	Frame
	Event
	padding
)

// RingSize returns how many bytes of memory a ring with room for dataBytes of records takes. The room is
// rounded up to a power of two.
func RingSize(dataBytes int) int {
	dataBytes = max(dataBytes, minDataBytes)
	return dataOffset + 1<<bits.Len(uint(dataBytes-1))
}

// Ring is one side's view of a ring: the producer's or the consumer's, or both in one process. Push and
// PushEvent belong to the producer's goroutine, Pop, Sleep and Awake to the consumer's.
type Ring struct {
	head, tail, lost, broken *atomic.Uint64
	asleep                   *atomic.Uint32
	data                     []byte // a power of two

	put     uint64 // producer's own tail: the shared word is never read back
	taken   uint64 // consumer's own head
	scratch [packet.MaxFrame]byte
	bell    int
}

// ValidSize reports whether memory of so many bytes can be a ring.
func ValidSize(memoryBytes int) bool {
	return memoryBytes >= RingSize(0) && RingSize(memoryBytes-dataOffset) == memoryBytes
}

// NewRing lays a ring over memory (zeroed when the ring is made, aligned to 8 bytes), whose size must be
// valid or it panics. A later call for the same memory, in this process or another, takes the ring up
// where it stands.
func NewRing(memory []byte) *Ring {
	if !ValidSize(len(memory)) {
		panic(fmt.Sprintf("punt ring over %d bytes: not a size that RingSize gives", len(memory)))
	}
	word := func(offset int) *atomic.Uint64 { return (*atomic.Uint64)(unsafe.Pointer(&memory[offset])) }
	r := &Ring{
		head: word(headOffset), tail: word(tailOffset), lost: word(lostOffset), broken: word(brokenOffset),
		asleep: (*atomic.Uint32)(unsafe.Pointer(&memory[asleepOffset])),
		data:   memory[dataOffset:],
		bell:   -1,
	}
	r.put, r.taken = r.published(), r.head.Load()&^(recordAlign-1)
	return r
}

// Lost returns how many records found no room since the ring was made.
func (r *Ring) Lost() uint64 { return r.lost.Load() }

// Broken returns how often the consumer threw the ring's content away because it made no sense.
func (r *Ring) Broken() uint64 { return r.broken.Load() }

// Push copies a frame and what is known of it into the ring. A full ring, or a frame longer than
// packet.MaxFrame, is a counted loss.
func (r *Ring) Push(p *entry.Punt) bool {
	if len(p.Data) > packet.MaxFrame {
		r.lost.Add(1)
		return false
	}
	at, spare := recordHeaderBytes, eventReserveBytes
	if p.Class == entry.ClassCapture {
		at, spare = recordHeaderBytes+captureBytes, len(r.data)-len(r.data)/captureShare
	}
	b := r.reserve(at+len(p.Data), spare)
	if b == nil {
		r.lost.Add(1)
		return false
	}
	b[4], b[5] = byte(Frame), byte(p.Class)
	binary.LittleEndian.PutUint16(b[6:], p.OuterTPID)
	binary.LittleEndian.PutUint16(b[8:], p.OuterVLAN)
	binary.LittleEndian.PutUint16(b[10:], p.InnerVLAN)
	binary.LittleEndian.PutUint32(b[12:], uint32(p.Port))
	binary.LittleEndian.PutUint32(b[16:], uint32(p.Interface))
	binary.LittleEndian.PutUint16(b[20:], uint16(p.Payload))
	binary.LittleEndian.PutUint16(b[22:], uint16(len(p.Data)))
	binary.LittleEndian.PutUint64(b[24:], uint64(p.Session))
	if p.Class == entry.ClassCapture {
		putCapture(b[recordHeaderBytes:], p)
	}
	copy(b[at:], p.Data)
	r.publish(len(b))
	return true
}

// PushSilent puts entry.PeerSilent into the ring. An event is told once, so the caller must try again
// later when there was no room; that is not counted as a loss.
func (r *Ring) PushSilent(session entry.SessionID) bool {
	b := r.reserve(recordHeaderBytes, 0)
	if b == nil {
		return false
	}
	clear(b[4:])
	b[4] = byte(Event)
	binary.LittleEndian.PutUint64(b[24:], uint64(session))
	r.publish(len(b))
	return true
}

// PushEvent is PushSilent for an entry.PeerSilent; workers have no other event to tell, and another one is
// not taken.
func (r *Ring) PushEvent(e entry.Event) bool {
	silent, ok := e.(entry.PeerSilent)
	return ok && r.PushSilent(silent.Session)
}

// reserve returns the next bytes of the ring, with their size written, or nil when fewer than size and
// spare bytes are free.
func (r *Ring) reserve(size, spare int) []byte {
	size = (size + recordAlign - 1) &^ (recordAlign - 1)
	used := r.put - r.head.Load()
	if used > uint64(len(r.data)) {
		// The consumer's word makes no sense: as good as full. Perhaps it followed a tail that was not ours.
		r.tail.Store(r.put)
		return nil
	}
	free := len(r.data) - int(used)
	at := int(r.put & uint64(len(r.data)-1))
	if gap := len(r.data) - at; gap < size {
		if gap+size+spare > free {
			return nil
		}
		r.pad(at, gap)
		at = 0
	} else if size+spare > free {
		return nil
	}
	b := r.data[at : at+size]
	binary.LittleEndian.PutUint32(b, uint32(size))
	return b
}

// pad fills the gap at the data's end; a gap is at least recordAlign long, enough for size and item.
func (r *Ring) pad(at, gap int) {
	b := r.data[at : at+recordAlign]
	binary.LittleEndian.PutUint32(b, uint32(gap))
	b[4] = byte(padding)
	r.put += uint64(gap)
}

// publish lets the consumer see what was reserved, and wakes it if it sleeps.
func (r *Ring) publish(size int) {
	r.put += uint64(size)
	r.tail.Store(r.put)
	r.ring()
}

// Pop takes the next record out: a frame into p, whose Data is valid until the next Pop, or an event into
// e (which may be nil where none are expected: they are skipped).
func (r *Ring) Pop(p *entry.Punt, e *entry.Event) Item {
	for {
		record, item := r.next()
		switch item {
		case Frame:
			ok := r.frame(record, p)
			r.release(len(record))
			if ok {
				return Frame
			}
		case Event:
			session := entry.SessionID(binary.LittleEndian.Uint64(record[24:]))
			r.release(len(record))
			if e != nil {
				*e = entry.PeerSilent{Session: session}
				return Event
			}
		case padding:
			r.release(len(record))
		default:
			return Nothing
		}
	}
}

// Empty reports whether Pop would find nothing.
func (r *Ring) Empty() bool { return r.published() == r.taken }

// published returns the producer's tail. All positions are aligned, so what is not is cut off.
func (r *Ring) published() uint64 { return r.tail.Load() &^ (recordAlign - 1) }

// next returns the record at the head without releasing it; Nothing when the ring is empty or its
// content makes no sense, in which case it is thrown away.
func (r *Ring) next() ([]byte, Item) {
	tail := r.published()
	ready := tail - r.taken
	if ready == 0 {
		return nil, Nothing
	}
	at := int(r.taken & uint64(len(r.data)-1))
	reach := len(r.data) - at // a record never wraps
	if ready > uint64(len(r.data)) {
		return r.discard(tail)
	}
	reach = min(reach, int(ready))
	size := int(binary.LittleEndian.Uint32(r.data[at:]))
	item := Item(r.data[at+4])
	switch {
	case size < recordAlign || size%recordAlign != 0 || size > reach:
		return r.discard(tail)
	case item == padding:
		return r.data[at : at+size], padding
	case size < recordHeaderBytes || item != Frame && item != Event:
		return r.discard(tail)
	}
	return r.data[at : at+size], item
}

// frame copies a frame record out; false when its lengths do not fit together.
func (r *Ring) frame(b []byte, p *entry.Punt) bool {
	length := int(binary.LittleEndian.Uint16(b[22:]))
	payload := int(binary.LittleEndian.Uint16(b[20:]))
	at := recordHeaderBytes
	if entry.Class(b[5]) == entry.ClassCapture {
		at += captureBytes
	}
	if length > len(b)-at || length > len(r.scratch) || payload > length {
		r.broken.Add(1)
		return false
	}
	copy(r.scratch[:length], b[at:])
	*p = entry.Punt{
		Class:     entry.Class(b[5]),
		Port:      entry.PortID(binary.LittleEndian.Uint32(b[12:])),
		Interface: entry.InterfaceID(binary.LittleEndian.Uint32(b[16:])),
		Session:   entry.SessionID(binary.LittleEndian.Uint64(b[24:])),
		OuterTPID: binary.LittleEndian.Uint16(b[6:]),
		OuterVLAN: binary.LittleEndian.Uint16(b[8:]),
		InnerVLAN: binary.LittleEndian.Uint16(b[10:]),
		Payload:   payload,
		Data:      r.scratch[:length],
	}
	if at > recordHeaderBytes {
		getCapture(b[recordHeaderBytes:], p)
	}
	return true
}

func (r *Ring) release(size int) {
	r.taken += uint64(size)
	r.head.Store(r.taken)
}

// discard takes the ring up again at the producer's tail.
func (r *Ring) discard(tail uint64) ([]byte, Item) {
	r.broken.Add(1)
	r.taken = tail
	r.head.Store(r.taken)
	return nil, Nothing
}
