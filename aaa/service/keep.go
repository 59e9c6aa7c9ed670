package service

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log/slog"

	"vbng/aaa"
	"vbng/aaa/acct"
	"vbng/control/store"
)

// keeper keeps undelivered accounting records in a bucket of the store, so that a restart of control
// between a session's end and the server's answer loses nothing.
type keeper struct {
	bucket *store.Bucket
	log    *slog.Logger
}

// keptVersion is the version of kept.
const keptVersion = 1

// kept is a record as the store has it.
type kept struct {
	Version int        `json:"version"`
	Record  aaa.Record `json:"record"`
}

// keptKey orders records as they were accepted.
func keptKey(key uint64) []byte { return binary.BigEndian.AppendUint64(nil, key) }

// Put implements acct.Store.
func (k keeper) Put(key uint64, record aaa.Record, written func()) {
	value, err := json.Marshal(kept{keptVersion, record})
	if err != nil {
		k.log.Error("accounting record cannot be stored, a restart would lose it", "session", record.AcctSessionID, "error", err)
		written()
		return
	}
	k.bucket.PutThen(keptKey(key), value, written)
}

// Delete implements acct.Store.
func (k keeper) Delete(key uint64) { k.bucket.Delete(keptKey(key)) }

// load returns what the store holds. What cannot be read is dropped, loudly: the rest must not suffer.
func (k keeper) load() []acct.Kept {
	var all []acct.Kept
	err := k.bucket.ForEach(func(key, value []byte) error {
		record, err := parseKept(key, value)
		if err != nil {
			k.log.Error("stored accounting record dropped", "key", fmt.Sprintf("%x", key), "value", string(value), "error", err)
			k.bucket.Delete(append([]byte(nil), key...))
			return nil
		}
		all = append(all, acct.Kept{Key: binary.BigEndian.Uint64(key), Record: record})
		return nil
	})
	if err != nil {
		k.log.Error("undelivered accounting records of before cannot be read", "error", err)
	}
	return all
}

func parseKept(key, value []byte) (aaa.Record, error) {
	var k kept
	if err := json.Unmarshal(value, &k); err != nil {
		return aaa.Record{}, fmt.Errorf("decode stored accounting record: %w", err)
	}
	switch {
	case len(key) != 8:
		return aaa.Record{}, fmt.Errorf("decode stored accounting record: key of %d bytes, want 8", len(key))
	case k.Version != keptVersion:
		return aaa.Record{}, fmt.Errorf("decode stored accounting record: version %d, this program knows %d", k.Version, keptVersion)
	case k.Record.AcctSessionID == "" || k.Record.Type == 0:
		return aaa.Record{}, fmt.Errorf("decode stored accounting record: type or Acct-Session-Id is missing")
	}
	return k.Record, nil
}
