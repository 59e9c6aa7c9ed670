package commit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// MaxTextBytes bounds every configuration text that is read: startup, seed, and files that operators load.
const MaxTextBytes = 16 << 20

// disk is every operation by which the archive changes a disk. A test makes each of them the last one before a
// crash.
type disk interface {
	create(dir string) (file, error) // a new file of mode 0600 with a name of newMark
	rename(from, to string) error
	remove(path string) error
	syncDir(dir string) error
}

type file interface {
	io.Writer
	Name() string
	Sync() error
	Close() error
}

// newMark begins the names of files that are being written. What a crash left of them is removed at start.
const newMark = ".new-"

type osDisk struct{}

func (osDisk) create(dir string) (file, error) { return os.CreateTemp(dir, newMark+"*") }
func (osDisk) rename(from, to string) error    { return os.Rename(from, to) }
func (osDisk) remove(path string) error        { return os.Remove(path) }

func (osDisk) syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// replace writes a file so that a crash at any moment leaves the old or the new one, whole.
func replace(d disk, path, text string) error {
	dir := filepath.Dir(path)
	f, err := d.create(dir)
	if err != nil {
		return err
	}
	if err := fill(f, text); err != nil {
		return errors.Join(err, d.remove(f.Name()))
	}
	if err := d.rename(f.Name(), path); err != nil {
		return errors.Join(err, d.remove(f.Name()))
	}
	return d.syncDir(dir)
}

// fill writes and closes a file. It is on the disk before it gets its name.
func fill(f file, text string) error {
	_, err := io.WriteString(f, text)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// drop removes a file for good; one that is not there is none to remove.
func drop(d disk, path string) error {
	if err := d.remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return d.syncDir(filepath.Dir(path))
}

// ReadText reads a configuration text of at most MaxTextBytes from a regular file. permit, if not nil, sees what
// the file is before anything is read.
func ReadText(path string, permit func(fs.FileInfo) error) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0) // a FIFO must not hold us up
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no regular file", path)
	}
	if permit != nil {
		if err := permit(info); err != nil {
			return "", err
		}
	}
	b, err := io.ReadAll(io.LimitReader(f, MaxTextBytes+1))
	if err != nil {
		return "", err
	}
	if len(b) > MaxTextBytes {
		return "", fmt.Errorf("%s has more than %d bytes", path, MaxTextBytes)
	}
	return string(b), nil
}
