package crowd

import (
	"container/heap"
	"time"
)

// timers holds at most one deadline per subscriber: a heap that knows where each one stands in it.
type timers struct {
	order    []uint32 // subscribers, a heap by deadline
	deadline []time.Duration
	place    []int // in order; -1: no deadline
}

func newTimers(subscribers int) *timers {
	t := &timers{deadline: make([]time.Duration, subscribers), place: make([]int, subscribers)}
	for i := range t.place {
		t.place[i] = -1
	}
	return t
}

// set changes a subscriber's deadline; 0 means none.
func (t *timers) set(subscriber uint32, deadline time.Duration) {
	t.deadline[subscriber] = deadline
	switch place := t.place[subscriber]; {
	case deadline == 0 && place >= 0:
		heap.Remove(t, place)
	case deadline == 0:
	case place >= 0:
		heap.Fix(t, place)
	default:
		heap.Push(t, subscriber)
	}
}

// due takes out one subscriber whose deadline has come.
func (t *timers) due(now time.Duration) (subscriber uint32, ok bool) {
	if len(t.order) == 0 || t.deadline[t.order[0]] > now {
		return 0, false
	}
	return heap.Pop(t).(uint32), true
}

// next returns the earliest deadline, 0 for none.
func (t *timers) next() time.Duration {
	if len(t.order) == 0 {
		return 0
	}
	return t.deadline[t.order[0]]
}

// Len, Less, Swap, Push and Pop implement heap.Interface.

func (t *timers) Len() int { return len(t.order) }

func (t *timers) Less(i, j int) bool { return t.deadline[t.order[i]] < t.deadline[t.order[j]] }

func (t *timers) Swap(i, j int) {
	t.order[i], t.order[j] = t.order[j], t.order[i]
	t.place[t.order[i]], t.place[t.order[j]] = i, j
}

func (t *timers) Push(x any) {
	subscriber := x.(uint32)
	t.place[subscriber] = len(t.order)
	t.order = append(t.order, subscriber)
}

func (t *timers) Pop() any {
	last := t.order[len(t.order)-1]
	t.order = t.order[:len(t.order)-1]
	t.place[last] = -1
	return last
}
