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
)

// keptRevisions is how many revisions stay on disk.
const keptRevisions = 100

const (
	startupName     = "startup.conf"
	unconfirmedName = "unconfirmed.conf"
	revisionsDir    = "revisions"
)

// archive is the state directory: the startup configuration and the numbered revisions. Files hold
// secrets in clear and are the owner's only.
type archive struct {
	dir  string
	disk disk
	kept int // how many revisions stay
}

func (a archive) revisionPath(number int) string {
	return filepath.Join(a.dir, revisionsDir, fmt.Sprintf("%06d.conf", number))
}

func (a archive) startupPath() string     { return filepath.Join(a.dir, startupName) }
func (a archive) unconfirmedPath() string { return filepath.Join(a.dir, unconfirmedName) }

// create makes the directories.
func (a archive) create() error {
	if err := os.MkdirAll(filepath.Join(a.dir, revisionsDir), 0o700); err != nil {
		return fmt.Errorf("create state directory: %w", err)
	}
	return nil
}

// sweep removes what a crash left half written.
func (a archive) sweep() error {
	var all []error
	for _, dir := range []string{a.dir, filepath.Join(a.dir, revisionsDir)} {
		left, err := filepath.Glob(filepath.Join(dir, newMark+"*"))
		all = append(all, err)
		for _, path := range left {
			all = append(all, a.disk.remove(path))
		}
	}
	return errors.Join(all...)
}

// startup returns the startup configuration; found is false when there is none.
func (a archive) startup() (text string, found bool, err error) {
	text, err = ReadText(a.startupPath(), nil)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", true, fmt.Errorf("read startup configuration: %w", err)
	}
	return text, true, nil
}

// store writes a revision and makes it the startup configuration. The revision comes first: a crash
// between the two leaves one that was never started, which forget takes away at the next start.
func (a archive) store(r Revision, body string) error {
	text := r.header() + body
	if err := replace(a.disk, a.revisionPath(r.Number), text); err != nil {
		return errors.Join(fmt.Errorf("write revision %d: %w", r.Number, err), a.forget(r.Number-1))
	}
	before, found, _ := a.startup() // unreadable: there is nothing to keep
	if err := replace(a.disk, a.startupPath(), text); err != nil {
		return errors.Join(fmt.Errorf("write startup configuration: %w", err), a.restore(before, found), a.forget(r.Number-1))
	}
	return nil
}

// restore puts the startup configuration back that a failed write may have replaced already.
func (a archive) restore(before string, found bool) error {
	if now, there, err := a.startup(); err == nil && there == found && now == before {
		return nil
	}
	var err error
	if found {
		err = replace(a.disk, a.startupPath(), before)
	} else {
		err = drop(a.disk, a.startupPath())
	}
	if err != nil {
		return fmt.Errorf("the next start may load the refused configuration, put the old one back: %w", err)
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

// newest returns the highest number of a stored revision, 0 when there is none.
func (a archive) newest() (int, error) {
	numbers, err := a.numbers()
	if err != nil || len(numbers) == 0 {
		return 0, err
	}
	return numbers[len(numbers)-1], nil
}

// read returns a stored revision with its text.
func (a archive) read(number int) (Revision, string, error) {
	text, err := ReadText(a.revisionPath(number), nil)
	if errors.Is(err, fs.ErrNotExist) {
		return Revision{}, "", fmt.Errorf("there is no revision %d", number)
	}
	if err != nil {
		return Revision{}, "", fmt.Errorf("read revision %d: %w", number, err)
	}
	return parseHeader(text), text, nil
}

// forget removes the revision behind number if it is the newest: it was written and never became the startup
// configuration. More than one means that the startup file is older than the revisions (an operator brought an
// old one back); then all of them stay.
func (a archive) forget(number int) error {
	newest, err := a.newest()
	if err != nil || newest != number+1 {
		return err
	}
	if err := drop(a.disk, a.revisionPath(newest)); err != nil {
		return fmt.Errorf("remove unfinished revision %d: %w", newest, err)
	}
	return nil
}

// prune removes the oldest revisions beyond those that are kept.
func (a archive) prune() error {
	numbers, err := a.numbers()
	if err != nil {
		return err
	}
	for len(numbers) > a.kept {
		if err := a.disk.remove(a.revisionPath(numbers[0])); err != nil {
			return fmt.Errorf("remove old revision %d: %w", numbers[0], err)
		}
		numbers = numbers[1:]
	}
	return nil
}
