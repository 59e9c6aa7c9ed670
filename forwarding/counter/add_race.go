//go:build race

package counter

import "sync/atomic"

func add(word *uint64, n uint64) { atomic.AddUint64(word, n) }

func set(word *uint64, v uint64) { atomic.StoreUint64(word, v) }
