package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

const (
	// format is the version of the layout that this code reads and writes.
	format = 1

	metaBucket = "meta"
	formatKey  = "format"
	birthKey   = "birth"

	// lockWait is how long a starting process waits for one that is just ending.
	lockWait = 5 * time.Second
	// maxAside bounds the names tried for a file moved aside.
	maxAside = 1000
)

// ErrNewerFormat tells that the file was written by a newer version.
var ErrNewerFormat = errors.New("store has a newer format")

// Open opens or makes the database at path; its directory must exist. A corrupted file is moved aside
// ("PATH.corrupt-N") and reported to log.
func Open(path string, log *slog.Logger) (*Store, error) {
	db, err := openFile(path)
	if err != nil && corrupt(err) {
		aside, moveErr := moveAside(path)
		if moveErr != nil {
			return nil, fmt.Errorf("open store %s: %w; move it aside: %w", path, err, moveErr)
		}
		log.Error("store is corrupted: moved aside, starting with an empty one; sessions before this start are lost",
			"path", path, "moved_to", aside, "error", err)
		db, err = openFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	return &Store{db: db, log: log, writer: newWriter(db, log)}, nil
}

// openFile opens the file and reads all of it once, so that a fault shows now and not in the middle
// of work. bbolt panics on some broken pages, and a page behind the end of a truncated file is a bus
// error: both become an error here.
func openFile(path string) (db *bbolt.DB, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("broken page: %v", fault)
		}
		if err != nil && db != nil {
			_ = db.Close()
			db = nil
		}
	}()
	options := *bbolt.DefaultOptions
	options.Timeout = lockWait
	options.FreelistType = bbolt.FreelistMapType
	if db, err = bbolt.Open(path, 0o600, &options); err != nil {
		return nil, err
	}
	if err = db.View(readAll); err != nil {
		return db, err
	}
	return db, db.Update(stampFormat)
}

func readAll(tx *bbolt.Tx) error {
	return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
		return b.ForEach(func(k, v []byte) error { return nil })
	})
}

// stampFormat checks the format of an old file and marks a new one.
func stampFormat(tx *bbolt.Tx) error {
	meta, err := tx.CreateBucketIfNotExists([]byte(metaBucket))
	if err != nil {
		return err
	}
	if written := meta.Get([]byte(formatKey)); written != nil {
		n, err := strconv.Atoi(string(written))
		if err != nil {
			return fmt.Errorf("format %q is not a number", written)
		}
		if n > format {
			return fmt.Errorf("format %d, this version knows %d: %w", n, format, ErrNewerFormat)
		}
		return nil
	}
	if err := meta.Put([]byte(formatKey), []byte(strconv.Itoa(format))); err != nil {
		return err
	}
	return meta.Put([]byte(birthKey), binary.BigEndian.AppendUint32(nil, uint32(time.Now().Unix())))
}

// corrupt tells a broken file from one that another process holds, that may not be read, or that is
// of a newer format.
func corrupt(err error) bool {
	var path *fs.PathError
	return !errors.Is(err, ErrNewerFormat) && !errors.Is(err, bbolterrors.ErrTimeout) && !errors.As(err, &path)
}

func moveAside(path string) (string, error) {
	for n := 1; n <= maxAside; n++ {
		aside := path + ".corrupt-" + strconv.Itoa(n)
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			return aside, os.Rename(path, aside)
		}
	}
	return "", fmt.Errorf("%d files %s.corrupt-* lie there already", maxAside, filepath.Base(path))
}

// Birth tells when this file was begun, in seconds since 1970. Identifiers that must be unique for
// longer than the file lives (Acct-Session-Id) carry it.
func (s *Store) Birth() (uint32, error) {
	value, err := s.read(metaBucket, birthKey)
	if err != nil {
		return 0, fmt.Errorf("read birth of store: %w", err)
	}
	if len(value) != 4 {
		return 0, fmt.Errorf("read birth of store: %d bytes, want 4", len(value))
	}
	return binary.BigEndian.Uint32(value), nil
}
