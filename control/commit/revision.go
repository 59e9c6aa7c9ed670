package commit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"vbng/control/line"
)

// Revision tells of one committed configuration.
type Revision struct {
	Number  int
	Time    time.Time
	User    string
	Comment string
}

// keptRevisions is how many revisions stay on disk.
const keptRevisions = 100

const (
	startupName  = "startup.conf"
	revisionsDir = "revisions"
	headerMark   = "! vbng"
)

// archive is the state directory: the startup configuration and the numbered revisions. Files hold
// secrets in clear and are the owner's only.
type archive struct{ dir string }

// Header returns the line of comment that stands on top of a stored configuration.
func (r Revision) header() string {
	return fmt.Sprintf("%s revision %d time %s user %s comment %s\n", headerMark, r.Number,
		r.Time.UTC().Format(time.RFC3339), line.Quote(r.User), line.Quote(r.Comment))
}

// parseHeader reads the first line of a stored configuration. A file that an operator wrote has none;
// its number is 0.
func parseHeader(text string) Revision {
	first, _, _ := strings.Cut(text, "\n")
	rest, ours := strings.CutPrefix(first, headerMark+" ")
	words, err := line.Split(rest)
	if !ours || err != nil {
		return Revision{}
	}
	var r Revision
	for i := 0; i+1 < len(words); i += 2 {
		switch value := words[i+1].Text; words[i].Text {
		case "revision":
			r.Number, _ = strconv.Atoi(value)
		case "time":
			r.Time, _ = time.Parse(time.RFC3339, value)
		case "user":
			r.User = value
		case "comment":
			r.Comment = value
		}
	}
	return r
}

func (a archive) revisionPath(number int) string {
	return filepath.Join(a.dir, revisionsDir, fmt.Sprintf("%06d.conf", number))
}

func (a archive) startupPath() string { return filepath.Join(a.dir, startupName) }

// create makes the directories.
func (a archive) create() error {
	if err := os.MkdirAll(filepath.Join(a.dir, revisionsDir), 0o700); err != nil {
		return fmt.Errorf("create state directory: %w", err)
	}
	return nil
}

// startup returns the startup configuration; found is false when there is none.
func (a archive) startup() (text string, found bool, err error) {
	b, err := os.ReadFile(a.startupPath())
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("read startup configuration: %w", err)
	}
	return string(b), true, nil
}

// store writes a revision and makes it the startup configuration. The revision comes first: a crash
// between the two leaves one that was never started, which forget takes away at the next start.
func (a archive) store(r Revision, body string) error {
	text := r.header() + body
	if err := writeFile(a.revisionPath(r.Number), text); err != nil {
		return fmt.Errorf("write revision %d: %w", r.Number, err)
	}
	if err := writeFile(a.startupPath(), text); err != nil {
		return errors.Join(fmt.Errorf("write startup configuration: %w", err), a.forget(r.Number-1))
	}
	return nil
}

// numbers returns the numbers of the stored revisions, oldest first.
func (a archive) numbers() ([]int, error) {
	entries, err := os.ReadDir(filepath.Join(a.dir, revisionsDir))
	if err != nil {
		return nil, fmt.Errorf("list revisions: %w", err)
	}
	var numbers []int
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".conf")
		if n, err := strconv.Atoi(name); ok && err == nil {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// read returns a stored revision with its text.
func (a archive) read(number int) (Revision, string, error) {
	b, err := os.ReadFile(a.revisionPath(number))
	if err != nil {
		return Revision{}, "", fmt.Errorf("read revision %d: %w", number, err)
	}
	return parseHeader(string(b)), string(b), nil
}

// forget removes revisions behind number: they were written and never became the startup configuration.
func (a archive) forget(number int) error {
	numbers, err := a.numbers()
	if err != nil {
		return err
	}
	for _, n := range numbers {
		if n > number {
			if err := os.Remove(a.revisionPath(n)); err != nil {
				return fmt.Errorf("remove unfinished revision %d: %w", n, err)
			}
		}
	}
	return nil
}

// prune removes the oldest revisions beyond keptRevisions.
func (a archive) prune() error {
	numbers, err := a.numbers()
	if err != nil {
		return err
	}
	for len(numbers) > keptRevisions {
		if err := os.Remove(a.revisionPath(numbers[0])); err != nil {
			return fmt.Errorf("remove old revision %d: %w", numbers[0], err)
		}
		numbers = numbers[1:]
	}
	return nil
}

// writeFile replaces a file so that a crash at any moment leaves the old or the new one, whole.
func writeFile(path, text string) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // no more there when all went well
	if _, err := f.WriteString(text); err != nil {
		f.Close()
		return err
	}
	if err := f.Sync(); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
