package store

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func open(t *testing.T, path string) (*Store, *bytes.Buffer) {
	t.Helper()
	var logged bytes.Buffer
	s, err := Open(path, slog.New(slog.NewTextHandler(&logged, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, &logged
}

func contents(t *testing.T, b *Bucket) string {
	t.Helper()
	var all []string
	err := b.ForEach(func(k, v []byte) error {
		all = append(all, fmt.Sprintf("%s=%s", k, v))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

func TestChangesAreOrderedAndSurviveAReopen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s, _ := open(t, path)
	b := s.Bucket("things")
	b.Put([]byte("a"), []byte("1"))
	b.Put([]byte("b"), []byte("2"))
	b.Put([]byte("a"), []byte("3"))
	b.Put([]byte("c"), []byte("4"))
	b.Delete([]byte("c"))
	b.Delete([]byte("never-there"))
	if got := contents(t, b); got != "a=3 b=2" {
		t.Fatalf("contents %q", got)
	}
	b.Delete([]byte("b"))
	b.Put([]byte("b"), []byte("5"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, logged := open(t, path)
	if got := contents(t, s.Bucket("things")); got != "a=3 b=5" {
		t.Fatalf("after a reopen %q", got)
	}
	if got := contents(t, s.Bucket("nothing")); got != "" {
		t.Fatalf("absent bucket holds %q", got)
	}
	if logged.Len() != 0 {
		t.Fatalf("logged %s", logged)
	}
}

func TestCorruptedFileIsMovedAside(t *testing.T) {
	garble := map[string]func(content []byte) []byte{
		"zeroed":    func(c []byte) []byte { return make([]byte, len(c)) },
		"text":      func(c []byte) []byte { return []byte(strings.Repeat("not a database\n", 2000)) },
		"truncated": func(c []byte) []byte { return c[:len(c)/2] },
		"short":     func(c []byte) []byte { return c[:100] },
		"data pages overwritten": func(c []byte) []byte {
			for i := 2 * os.Getpagesize(); i < len(c); i++ {
				c[i] = 0xa5
			}
			return c
		},
	}
	for name, damage := range garble {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store")
			s, _ := open(t, path)
			for i := range 2000 {
				s.Bucket("things").Put(fmt.Appendf(nil, "%06d", i), bytes.Repeat([]byte{1}, 100))
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, damage(content), 0o600); err != nil {
				t.Fatal(err)
			}
			s, logged := open(t, path)
			if !strings.Contains(logged.String(), "corrupted") {
				t.Errorf("logged %q", logged)
			}
			if _, err := os.Stat(path + ".corrupt-1"); err != nil {
				t.Error(err)
			}
			s.Bucket("things").Put([]byte("k"), []byte("v"))
			if got := contents(t, s.Bucket("things")); got != "k=v" {
				t.Errorf("fresh file holds %q", got)
			}
		})
	}
}

func TestNewerFormatIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s, _ := open(t, path)
	s.Bucket(metaBucket).Put([]byte(formatKey), []byte("99"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := Open(path, slog.New(slog.DiscardHandler))
	if !errors.Is(err, ErrNewerFormat) {
		t.Fatalf("error %v", err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("the file is gone: %v", err)
	}
}

func TestDirectoryMissingIsAnError(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "no", "store"), slog.New(slog.DiscardHandler)); err == nil {
		t.Fatal("no error")
	}
}

func TestFailedWriteIsKept(t *testing.T) {
	s, logged := open(t, filepath.Join(t.TempDir(), "store"))
	b := s.Bucket("things")
	b.Put([]byte("good"), []byte("1"))
	b.Put(nil, []byte("an empty key is refused by the database"))
	if err := s.Flush(); err == nil {
		t.Fatal("flush tells no error")
	}
	if !strings.Contains(logged.String(), "not written") {
		t.Fatalf("logged %q", logged)
	}
	s.writer.mu.Lock()
	delete(s.writer.pending["things"], "")
	s.writer.mu.Unlock()
	if got := contents(t, b); got != "good=1" {
		t.Fatalf("contents %q", got)
	}
}

func TestPutThenTellsInOrderWhenItIsWritten(t *testing.T) {
	s, _ := open(t, filepath.Join(t.TempDir(), "store"))
	b := s.Bucket("things")
	var told []string
	for _, key := range []string{"c", "a", "b"} {
		b.PutThen([]byte(key), []byte("1"), func() {
			if value, err := s.read("things", key); string(value) != "1" || err != nil {
				t.Errorf("told of %s, which is %q on disk, error %v", key, value, err)
			}
			told = append(told, key)
		})
	}
	if err := s.Flush(); err != nil || strings.Join(told, "") != "cab" {
		t.Fatalf("told %v, error %v", told, err)
	}
	b.PutThen(nil, []byte("refused by the database"), func() { told = append(told, "failed") })
	if err := s.Flush(); err == nil || len(told) != 4 {
		t.Fatalf("told %v, error %v", told, err)
	}
}

func TestIndexesAreStableAndNeverReused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s, _ := open(t, path)
	x, err := s.Indexes("interface", 10)
	if err != nil {
		t.Fatal(err)
	}
	if a, b, again := x.Index("a"), x.Index("b"), x.Index("a"); a != 10 || b != 11 || again != 10 {
		t.Fatalf("indexes %d %d %d", a, b, again)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, _ = open(t, path)
	if x, err = s.Indexes("interface", 10); err != nil {
		t.Fatal(err)
	}
	if _, ok := x.Lookup("c"); ok {
		t.Fatal("c has an index")
	}
	if c, b := x.Index("c"), x.Index("b"); c != 12 || b != 11 {
		t.Fatalf("after a reopen: c %d, b %d", c, b)
	}
}

func TestCounterNeverRepeats(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	var last uint64
	for range 3 {
		s, _ := open(t, path)
		c, err := s.Counter("session")
		if err != nil {
			t.Fatal(err)
		}
		for range 2*block + 17 {
			n := c.Next()
			if n <= last {
				t.Fatalf("%d after %d", n, last)
			}
			if n >= c.limit {
				t.Fatalf("%d handed out, %d is reserved", n, c.limit)
			}
			last = n
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBirthStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s, _ := open(t, path)
	born, err := s.Birth()
	if err != nil || born == 0 {
		t.Fatalf("birth %d, %v", born, err)
	}
	_ = s.Close()
	s, _ = open(t, path)
	if again, err := s.Birth(); err != nil || again != born {
		t.Fatalf("birth %d, was %d, %v", again, born, err)
	}
}

func BenchmarkPut(b *testing.B) {
	s, err := Open(filepath.Join(b.TempDir(), "store"), slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	bucket, value := s.Bucket("things"), bytes.Repeat([]byte{1}, 500)
	for i := range b.N {
		bucket.Put(fmt.Appendf(nil, "%08d", i%32768), value)
	}
	if err := s.Flush(); err != nil {
		b.Fatal(err)
	}
}
