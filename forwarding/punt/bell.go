package punt

import "golang.org/x/sys/unix"

// eventOne is what a write to an event descriptor adds to its count.
var eventOne = [8]byte{1}

// SetBell gives the ring the event descriptor (non-blocking) that wakes its consumer. Several rings may
// share one.
func (r *Ring) SetBell(descriptor int) { r.bell = descriptor }

// Bell returns the descriptor that polls readable after a Push to a sleeping consumer, -1 for none.
func (r *Ring) Bell() int { return r.bell }

// Sleep announces that the consumer is about to sleep on the bell. It returns false when something
// arrived meanwhile: then the consumer must not sleep. The producer publishes before it looks at the
// announcement, the consumer looks at the ring after having made it; so one of them sees the other.
func (r *Ring) Sleep() bool {
	r.asleep.Store(1)
	if !r.Empty() {
		r.Awake()
		return false
	}
	return true
}

// Awake takes the announcement back; the consumer then reads the bell (ReadBell) and pops.
func (r *Ring) Awake() { r.asleep.Store(0) }

// ReadBell resets the bell, which otherwise stays readable.
func (r *Ring) ReadBell() {
	if r.bell < 0 {
		return
	}
	var count [8]byte
	_, _ = unix.Read(r.bell, count[:]) // EAGAIN: nobody rang
}

// ring wakes a sleeping consumer, once.
func (r *Ring) ring() {
	if r.bell >= 0 && r.asleep.Load() != 0 && r.asleep.Swap(0) != 0 {
		_, _ = unix.Write(r.bell, eventOne[:]) // EAGAIN: the count is full, so it is readable
	}
}
