package remote

import (
	"context"
	"errors"
	"sync"

	"vbng/forwarding/entry"
)

const (
	// maxBatchBytes bounds one batch, mergeBytes what is merged into a message.
	maxBatchBytes = maxFrameBytes / 2
	mergeBytes    = 1 << 20
	// maxOutstanding messages are on their way at once: enough to keep the forwarder busy, few enough for
	// batches to be merged when it is.
	maxOutstanding = 4
)

// ErrStopped is what a request gets that was not answered before the client ended.
var ErrStopped = errors.New("the connection to the forwarder was given up")

// request is one thing asked of the forwarder: a batch, an end of generation or a trace.
type request struct {
	kind    kind
	batch   *entry.Batch   // kindBatches
	encoded []byte         // kindBatches; kindTrace: the text
	refusal *entry.Refused // found before sending; it still waits for its turn
	left    []int          // kindBatches: ops that were not sent, see missing
	done    func(entry.Result)
	text    func(string, error)
}

// queue holds requests in order: those sent and not answered, then those to be sent. Several requests for
// batches travel as one message.
type queue struct {
	mu      sync.Mutex
	waiting []*request
	sent    [][]*request // by message
	stopped bool
	wake    chan struct{} // for the writer
}

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

// put appends a request; false when the client has ended.
func (q *queue) put(r *request) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stopped {
		return false
	}
	q.waiting = append(q.waiting, r)
	q.signal()
	return true
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// next waits for requests that make up a message; nil when ctx ends.
func (q *queue) next(ctx context.Context) []*request {
	for {
		if m := q.take(); m != nil {
			return m
		}
		select {
		case <-ctx.Done():
			return nil
		case <-q.wake:
		}
	}
}

func (q *queue) take() []*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 || len(q.sent) >= maxOutstanding {
		return nil
	}
	n, bytes := 1, len(q.waiting[0].encoded)
	if q.waiting[0].kind == kindBatches {
		for n < len(q.waiting) && q.waiting[n].kind == kindBatches && bytes < mergeBytes {
			bytes += len(q.waiting[n].encoded)
			n++
		}
	}
	m := q.waiting[:n:n]
	q.waiting = q.waiting[n:]
	q.sent = append(q.sent, m)
	return m
}

// answered takes off the message that was sent first, if it asked what the answer is to.
func (q *queue) answered(k kind) []*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.sent) == 0 || answerTo(q.sent[0][0].kind) != k {
		return nil
	}
	m := q.sent[0]
	q.sent = q.sent[1:]
	q.signal()
	return m
}

func answerTo(k kind) kind {
	switch k {
	case kindBatches:
		return kindAnswers
	case kindTrace:
		return kindText
	}
	return kindDone
}

// rewind makes everything unanswered wait again, for the next forwarder. Traces fail, and an end of
// generation comes where the generation's replay does: behind what was under way.
func (q *queue) rewind(synced bool) {
	q.mu.Lock()
	var again, failed []*request
	split := func(r *request) {
		switch r.kind {
		case kindBatches:
			again = append(again, r)
		case kindTrace:
			failed = append(failed, r)
		}
	}
	for _, m := range q.sent {
		for _, r := range m {
			split(r)
		}
	}
	if synced {
		again = append(again, &request{kind: kindEnd})
	}
	for _, r := range q.waiting {
		split(r)
	}
	q.sent, q.waiting = nil, again
	q.mu.Unlock()
	for _, r := range failed {
		r.text("", ErrStopped)
	}
}

// stop fails everything that is left, in order, and refuses what comes.
func (q *queue) stop() {
	q.mu.Lock()
	q.stopped = true
	q.mu.Unlock()
	q.rewind(false) // leaves batches only, and nothing comes behind them any more
	q.mu.Lock()
	left := q.waiting
	q.waiting = nil
	q.mu.Unlock()
	for _, r := range left {
		r.done(entry.Result{Err: ErrStopped})
	}
}

// length returns how many requests are not answered.
func (q *queue) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := len(q.waiting)
	for _, m := range q.sent {
		n += len(m)
	}
	return n
}
