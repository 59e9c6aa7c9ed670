package store

import (
	"fmt"
	"log/slog"

	"go.etcd.io/bbolt"
)

// Store is an open database. All methods may be called from any goroutine.
type Store struct {
	db     *bbolt.DB
	log    *slog.Logger
	writer *writer
}

// Bucket is a named set of keys and values in a store.
type Bucket struct {
	store *Store
	name  string
}

// Bucket returns the bucket of that name; it comes into being with its first Put.
func (s *Store) Bucket(name string) *Bucket { return &Bucket{store: s, name: name} }

// Put sets the value of a key, soon. The store keeps value: the caller must not change it afterwards.
func (b *Bucket) Put(key, value []byte) { b.store.writer.add(b.name, key, change{value: value}) }

// PutThen is Put; written is called on the store's goroutine, in the order of the calls, when the change and all
// before it are on disk, or when that has failed and will be tried again.
func (b *Bucket) PutThen(key, value []byte, written func()) {
	b.store.writer.addThen(b.name, key, change{value: value}, written)
}

// Delete removes a key, soon. It may be absent.
func (b *Bucket) Delete(key []byte) { b.store.writer.add(b.name, key, change{deleted: true}) }

// ForEach calls f for each key in the order of the keys' bytes, after all changes made before it are
// written. The slices are valid only during the call. It stops at the first error and returns it.
func (b *Bucket) ForEach(f func(key, value []byte) error) error {
	if err := b.store.Flush(); err != nil {
		return err
	}
	err := b.store.db.View(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket([]byte(b.name))
		if bucket == nil {
			return nil
		}
		return bucket.ForEach(f)
	})
	if err != nil {
		return fmt.Errorf("read bucket %s of store: %w", b.name, err)
	}
	return nil
}

// Flush waits until all changes made before it are on disk, and tells why if they are not.
func (s *Store) Flush() error { return s.writer.flush() }

// Close writes what is pending and closes the file. Changes made afterwards are lost.
func (s *Store) Close() error {
	err := s.writer.close()
	if closeErr := s.db.Close(); closeErr != nil && err == nil {
		err = fmt.Errorf("close store: %w", closeErr)
	}
	return err
}

// read returns a copy of a stored value, nil when absent. Pending changes are not seen.
func (s *Store) read(bucket, key string) ([]byte, error) {
	var value []byte
	err := s.db.View(func(tx *bbolt.Tx) error {
		if b := tx.Bucket([]byte(bucket)); b != nil {
			value = append(value, b.Get([]byte(key))...)
		}
		return nil
	})
	return value, err
}
