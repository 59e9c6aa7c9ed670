package remote

import (
	"vbng/forwarding/entry"
)

// maxToldRefusals bounds the log lines of one replay: a forwarder with less room refuses thousands.
const maxToldRefusals = 20

// missing are entries of the mirror that the forwarder attached now refused at its replay. What control
// wants deleted of them is gone already, and to ask for it would have the whole batch refused.
type missing map[entry.Key]struct{}

// note adds an entry that was refused.
func (m missing) note(e entry.Entry) {
	m[entry.KeyOf(e)] = struct{}{}
}

// sift returns the request's batch in binary form without the deletes that have nothing to delete, and
// notes their places in it. What is put again is no longer missing.
func (m missing) sift(r *request) []byte {
	r.left = nil
	if len(m) == 0 {
		return r.encoded
	}
	var kept []entry.Op
	for i, op := range r.batch.Ops {
		key := entry.KeyOf(op.Entry)
		_, gone := m[key]
		delete(m, key)
		if gone && op.Verb == entry.Delete {
			r.left = append(r.left, i)
			continue
		}
		kept = append(kept, op)
	}
	if len(r.left) == 0 {
		return r.encoded
	}
	return entry.AppendBatch(nil, &entry.Batch{Ops: kept})
}

// place returns where the op that the forwarder refused stands in the caller's batch.
func (r *request) place(op int) int {
	for _, left := range r.left { // in order
		if left <= op {
			op++
		}
	}
	return op
}
