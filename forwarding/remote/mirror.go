package remote

import "vbng/forwarding/entry"

// mirror is what the forwarder was told and accepted, in binary form: what a new one is told. It is ordered
// by kind, which puts referents before their users.
type mirror struct {
	entries [entry.NumKinds]map[entry.Key]string
}

// replayOps is how many entries a replayed batch holds.
const replayOps = 2048

func newMirror() *mirror {
	m := &mirror{}
	for i := range m.entries {
		m.entries[i] = map[entry.Key]string{}
	}
	return m
}

// apply notes an accepted batch.
func (m *mirror) apply(b *entry.Batch) {
	for _, op := range b.Ops {
		k := entry.KeyOf(op.Entry)
		if op.Verb == entry.Delete {
			delete(m.entries[k.Kind], k)
		} else {
			m.entries[k.Kind][k] = string(entry.AppendOp(nil, op))
		}
	}
}

// size returns the number of entries.
func (m *mirror) size() int {
	n := 0
	for _, kind := range m.entries {
		n += len(kind)
	}
	return n
}

// replay calls send with encoded entries, in order, at most replayOps at once, until send fails.
func (m *mirror) replay(send func(ops []string) error) error {
	ops := make([]string, 0, replayOps)
	for _, kind := range m.entries {
		for _, op := range kind {
			ops = append(ops, op)
			if len(ops) == replayOps {
				if err := send(ops); err != nil {
					return err
				}
				ops = ops[:0]
			}
		}
	}
	if len(ops) == 0 {
		return nil
	}
	return send(ops)
}

// encodeOps makes one batch of encoded ops.
func encodeOps(buf []byte, ops []string) []byte {
	buf = entry.AppendBatchHeader(buf, len(ops))
	for _, op := range ops {
		buf = append(buf, op...)
	}
	return buf
}
