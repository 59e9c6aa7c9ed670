package store

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.etcd.io/bbolt"
)

const (
	// gather is how long the writer lets changes pile up before a transaction: one fsync costs more
	// than a thousand changes.
	gather = 3 * time.Millisecond
	// retryAfter is the pause after a transaction that failed (a full disk, mostly).
	retryAfter = time.Second
)

// errClosed tells that a flush came after Close.
var errClosed = errors.New("store is closed")

// change is the last thing that happened to a key.
type change struct {
	value   []byte
	deleted bool
}

// changes holds pending changes by bucket and key. All of one set enter the same transaction, so
// their order among one another does not count.
type changes map[string]map[string]change

// writer owns the write side of the database: one goroutine, one transaction at a time.
type writer struct {
	db  *bbolt.DB
	log *slog.Logger

	mu      sync.Mutex
	pending changes
	waiters []chan error // flushes that wait for what is pending now
	told    []func()     // to be called when it is written
	closed  bool

	wake chan struct{}
	done chan struct{}
}

func newWriter(db *bbolt.DB, log *slog.Logger) *writer {
	w := &writer{db: db, log: log, pending: changes{}, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go w.run()
	return w
}

func (w *writer) add(bucket string, key []byte, c change) { w.addThen(bucket, key, c, nil) }

func (w *writer) addThen(bucket string, key []byte, c change, written func()) {
	w.mu.Lock()
	if written != nil {
		w.told = append(w.told, written)
	}
	set := w.pending[bucket]
	if set == nil {
		set = map[string]change{}
		w.pending[bucket] = set
	}
	set[string(key)] = c
	w.mu.Unlock()
	w.signal()
}

func (w *writer) flush() error {
	answer := make(chan error, 1)
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return errClosed
	}
	w.waiters = append(w.waiters, answer)
	w.mu.Unlock()
	w.signal()
	return <-answer
}

func (w *writer) close() error {
	err := w.flush()
	if errors.Is(err, errClosed) {
		return nil
	}
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.signal()
	<-w.done
	return err
}

func (w *writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *writer) run() {
	defer close(w.done)
	for range w.wake {
		if !w.hurried() {
			time.Sleep(gather)
		}
		if !w.write() {
			return
		}
	}
}

// hurried reports whether somebody waits.
func (w *writer) hurried() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed || len(w.waiters) > 0
}

// write commits what is pending and reports whether to go on. Changes of a failed transaction stay
// pending under newer ones of the same keys.
func (w *writer) write() bool {
	w.mu.Lock()
	set, waiters, told, closed := w.pending, w.waiters, w.told, w.closed
	w.pending, w.waiters, w.told = changes{}, nil, nil
	w.mu.Unlock()

	err := w.commit(set)
	if err != nil && !closed {
		w.log.Error("store not written, will be tried again", "error", err, "retry_after", retryAfter)
		w.putBack(set)
		time.AfterFunc(retryAfter, w.signal)
	}
	for _, written := range told {
		written()
	}
	for _, waiter := range waiters {
		waiter <- err
	}
	return !closed
}

func (w *writer) commit(set changes) error {
	if len(set) == 0 {
		return nil
	}
	err := w.db.Update(func(tx *bbolt.Tx) error {
		for name, keys := range set {
			bucket, err := tx.CreateBucketIfNotExists([]byte(name))
			if err != nil {
				return err
			}
			if err := applyTo(bucket, keys); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write store: %w", err)
	}
	return nil
}

func applyTo(bucket *bbolt.Bucket, keys map[string]change) error {
	for key, c := range keys {
		var err error
		if c.deleted {
			err = bucket.Delete([]byte(key))
		} else {
			err = bucket.Put([]byte(key), c.value)
		}
		if err != nil {
			return fmt.Errorf("key %q: %w", key, err)
		}
	}
	return nil
}

func (w *writer) putBack(old changes) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, keys := range old {
		set := w.pending[name]
		if set == nil {
			w.pending[name] = keys
			continue
		}
		for key, c := range keys {
			if _, newer := set[key]; !newer {
				set[key] = c
			}
		}
	}
}
