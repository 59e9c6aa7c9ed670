package punt

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
)

// newPair returns two views of one ring, as two processes have them.
func newPair(dataBytes int) (producer, consumer *Ring, memory []byte) {
	memory = make([]byte, RingSize(dataBytes))
	return NewRing(memory), NewRing(memory), memory
}

func frame(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + n)
	}
	return b
}

func TestRingSize(t *testing.T) {
	for _, n := range []int{0, 1, 8192, 8193, 1 << 20} {
		size := RingSize(n)
		if size < n+dataOffset || !ValidSize(size) || ValidSize(size+8) || ValidSize(size-8) {
			t.Errorf("RingSize(%d) = %d", n, size)
		}
	}
}

func TestFrameComesOutWhole(t *testing.T) {
	producer, consumer, _ := newPair(8192)
	want := entry.Punt{Class: entry.ClassPPPControl, Port: 3, Interface: 9, Session: 1 << 50, OuterTPID: 0x88a8,
		OuterVLAN: 100, InnerVLAN: 7, Payload: 22, Data: frame(61)}
	if !producer.Push(&want) {
		t.Fatal("push refused")
	}
	var got entry.Punt
	if item := consumer.Pop(&got, nil); item != Frame || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v %+v", item, got)
	}
	want = entry.Punt{Class: entry.ClassCapture, Port: 3, Capture: 7, Output: true, OuterTPID: 0x8100, OuterVLAN: 1,
		Lost: 12, Length: 9018, UnixNanos: 1 << 60, Data: frame(128)}
	if item := producer.Push(&want); !item {
		t.Fatal("push refused")
	}
	if item := consumer.Pop(&got, nil); item != Frame || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v %+v", item, got)
	}
	if consumer.Pop(&got, nil) != Nothing {
		t.Error("ring is not empty")
	}
}

// Frames of all sizes pass many times around the ring, in order and unchanged.
func TestWrap(t *testing.T) {
	producer, consumer, _ := newPair(8192)
	var got entry.Punt
	next := 0
	for i := range 5000 {
		for !producer.Push(&entry.Punt{Port: entry.PortID(i), Data: frame(i % (packet.MaxFrame + 1))}) {
			if consumer.Pop(&got, nil) != Frame || got.Port != entry.PortID(next) ||
				!bytes.Equal(got.Data, frame(next%(packet.MaxFrame+1))) {
				t.Fatalf("frame %d: got %d of %d bytes", next, got.Port, len(got.Data))
			}
			next++
		}
	}
	if consumer.Broken() != 0 {
		t.Error("ring reported itself broken")
	}
}

// A ring full of frames still takes events; an event comes out in its place.
func TestEventsPassAFullRing(t *testing.T) {
	producer, consumer, _ := newPair(8192)
	for producer.Push(&entry.Punt{Data: frame(64)}) {
	}
	if producer.Lost() != 1 {
		t.Errorf("lost %d, want 1", producer.Lost())
	}
	if !producer.PushEvent(entry.PeerSilent{Session: 77}) {
		t.Fatal("event refused")
	}
	if producer.PushEvent(entry.ForwarderState{}) {
		t.Error("an event that a ring cannot carry was taken")
	}
	var p entry.Punt
	var e entry.Event
	for {
		switch consumer.Pop(&p, &e) {
		case Event:
			if e != (entry.PeerSilent{Session: 77}) {
				t.Errorf("got %+v", e)
			}
			return
		case Nothing:
			t.Fatal("event is lost")
		}
	}
}

func TestTooLongFrameIsLost(t *testing.T) {
	producer, _, _ := newPair(8192)
	if producer.Push(&entry.Punt{Data: frame(packet.MaxFrame + 1)}) || producer.Lost() != 1 {
		t.Error("frame was taken, or the loss not counted")
	}
}

// A view made later goes on where the earlier one stood: a new control process reads what the dead one
// left.
func TestTakeOver(t *testing.T) {
	producer, first, memory := newPair(8192)
	var got entry.Punt
	producer.Push(&entry.Punt{Port: 1, Data: frame(60)})
	producer.Push(&entry.Punt{Port: 2, Data: frame(60)})
	first.Pop(&got, nil)
	second := NewRing(memory)
	if second.Pop(&got, nil) != Frame || got.Port != 2 {
		t.Errorf("got port %d, want 2", got.Port)
	}
}

func TestSleepSeesWhatArrivedBefore(t *testing.T) {
	producer, consumer, _ := newPair(8192)
	if !consumer.Sleep() {
		t.Error("an empty ring does not let its consumer sleep")
	}
	consumer.Awake()
	producer.Push(&entry.Punt{Data: frame(60)})
	if consumer.Sleep() {
		t.Error("a consumer sleeps over a frame")
	}
}

// Only a sleeping consumer is rung, once.
func TestBell(t *testing.T) {
	descriptor, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(descriptor)
	producer, consumer, _ := newPair(8192)
	producer.SetBell(descriptor)
	var count [8]byte
	producer.Push(&entry.Punt{Data: frame(60)})
	if _, err := unix.Read(descriptor, count[:]); err != unix.EAGAIN {
		t.Errorf("a busy consumer was rung (%v)", err)
	}
	consumer.Pop(&entry.Punt{}, nil)
	consumer.Sleep()
	producer.Push(&entry.Punt{Data: frame(60)})
	producer.Push(&entry.Punt{Data: frame(60)})
	if _, err := unix.Read(descriptor, count[:]); err != nil || binary.LittleEndian.Uint64(count[:]) != 1 {
		t.Errorf("rung %d times (%v), want once", count[0], err)
	}
}

// Producer and consumer run at once, the consumer sleeping whenever it can: nothing is lost or stuck.
func TestNoLostWakeUp(t *testing.T) {
	descriptor, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(descriptor)
	const frames = 20_000
	producer, consumer, _ := newPair(8192)
	producer.SetBell(descriptor)
	var done sync.WaitGroup
	done.Go(func() {
		var p entry.Punt
		var count [8]byte
		for i := 0; i < frames; {
			if consumer.Pop(&p, nil) == Frame {
				if p.Port != entry.PortID(i) {
					t.Errorf("got frame %d, want %d", p.Port, i)
					return
				}
				i++
			} else if consumer.Sleep() {
				_, _ = unix.Read(descriptor, count[:])
				consumer.Awake()
			}
		}
	})
	data := frame(60)
	for i := 0; i < frames; {
		if producer.Push(&entry.Punt{Port: entry.PortID(i), Data: data}) {
			i++
		}
	}
	done.Wait()
}

func TestNoAllocation(t *testing.T) {
	producer, consumer, _ := newPair(8192)
	p, got := &entry.Punt{Data: frame(100)}, &entry.Punt{}
	allocs := testing.AllocsPerRun(100, func() {
		producer.Push(p)
		consumer.Pop(got, nil)
		producer.PushSilent(5)
		consumer.Pop(got, nil)
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

// A word of one side that makes no sense for a moment costs what the ring held, not the ring.
func TestRingHeals(t *testing.T) {
	producer, consumer, memory := newPair(8192)
	var got entry.Punt
	for _, tail := range []uint64{1 << 40, 1<<40 + 3} {
		producer.Push(&entry.Punt{Data: frame(60)})
		binary.LittleEndian.PutUint64(memory[tailOffset:], tail)
		for consumer.Pop(&got, nil) != Nothing {
		}
		if !consumer.Sleep() {
			t.Error("the consumer may not sleep although there is nothing to read")
		}
		producer.Push(&entry.Punt{Data: frame(60)}) // may be lost: the ring looks full
		for consumer.Pop(&got, nil) != Nothing {
		}
		if !producer.Push(&entry.Punt{Port: 5, Data: frame(60)}) || consumer.Pop(&got, nil) != Frame || got.Port != 5 {
			t.Errorf("tail %#x: the ring carries nothing any more", tail)
		}
	}
}

// Whatever the other side writes into the memory, both ends stay bounded and alive, and the consumer can
// be brought back to order.
func FuzzCorruptedRing(f *testing.F) {
	producer, _, memory := newPair(8192)
	producer.Push(&entry.Punt{Data: frame(80)})
	producer.PushSilent(4)
	f.Add(memory[:tailOffset+8], memory[dataOffset:dataOffset+256], uint64(160))
	f.Add([]byte{}, []byte{255, 255, 255, 255, 1}, uint64(1<<63))
	f.Fuzz(func(t *testing.T, words, data []byte, tail uint64) {
		memory := make([]byte, RingSize(8192))
		copy(memory[:dataOffset], words)
		copy(memory[dataOffset:], data)
		binary.LittleEndian.PutUint64(memory[tailOffset:], tail)
		consumer := NewRing(memory)
		var p entry.Punt
		var e entry.Event
		for i := 0; consumer.Pop(&p, &e) != Nothing; i++ {
			if i > len(memory) {
				t.Fatal("pop never ends")
			}
			if p.Payload > len(p.Data) || len(p.Data) > packet.MaxFrame {
				t.Fatalf("got payload %d of %d", p.Payload, len(p.Data))
			}
		}
		producer := NewRing(memory)
		for i := 0; producer.Push(&entry.Punt{Data: frame(100)}); i++ {
			if i > len(memory) {
				t.Fatal("push never ends")
			}
		}
	})
}
