package monitor

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	maxFiles     = 16
	maxNameBytes = 64
	extension    = ".pcap"
)

// checkName takes names that are a file's in the folder and nothing else.
func checkName(name string) error {
	if name == "" || len(name) > maxNameBytes || name[0] == '.' || name[0] == '-' {
		return fmt.Errorf("expected a file name of up to %d letters, digits, '.', '-' and '_', found %q", maxNameBytes, name)
	}
	for _, r := range name {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r)) {
			return fmt.Errorf("expected letters, digits, '.', '-' and '_' in a file name, found %q", name)
		}
	}
	return nil
}

// fileName gives a name its extension.
func fileName(name string) string {
	if name == "" || strings.HasSuffix(name, extension) {
		return name
	}
	return name + extension
}

// folder is where files are.
type folder string

func (m *Monitor) folder() folder { return folder(m.options.Folder) }

// stored is a file in the folder.
type stored struct {
	name    string
	bytes   int64
	changed time.Time
}

func (f folder) list() ([]stored, error) {
	entries, err := os.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list captures: %w", err)
	}
	var files []stored
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !strings.HasSuffix(e.Name(), extension) {
			continue // not ours, or just deleted
		}
		files = append(files, stored{e.Name(), info.Size(), info.ModTime()})
	}
	return files, nil
}

func (f folder) names() []string {
	files, _ := f.list() // completion offers what it can
	var names []string
	for _, file := range files {
		names = append(names, file.name)
	}
	return names
}

// create makes a file for so many packets. A capture holds what subscribers said, passwords too, so it is its owner's only.
func (f folder) create(name string, packets int) (*file, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	files, err := f.list()
	if err != nil {
		return nil, err
	}
	if len(files) >= maxFiles {
		return nil, fmt.Errorf("there are %d files already, which is the limit: \"clear captures\" deletes them", len(files))
	}
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return nil, fmt.Errorf("make folder of captures: %w", err)
	}
	path := filepath.Join(string(f), name)
	handle, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("file %s is there already: choose another name, or \"clear captures file %s\"", name, name)
	}
	if err != nil {
		return nil, fmt.Errorf("make capture: %w", err)
	}
	to := &file{path: path, name: name, handle: handle, buffer: bufio.NewWriter(handle), bytes: pcapHeaderBytes, left: packets}
	if err := writeHeader(to.buffer); err != nil {
		to.abandon()
		return nil, fmt.Errorf("make capture: %w", err)
	}
	return to, nil
}

// clear deletes one file, or all that are not busy, and returns how many.
func (f folder) clear(name string, busy map[string]bool) (int, error) {
	files, err := f.list()
	if err != nil {
		return 0, err
	}
	n := 0
	for _, file := range files {
		if name != "" && file.name != fileName(name) {
			continue
		}
		if busy[file.name] {
			if name != "" {
				return 0, fmt.Errorf("file %s is being written", file.name)
			}
			continue
		}
		if err := os.Remove(filepath.Join(string(f), file.name)); err != nil {
			return n, fmt.Errorf("delete capture: %w", err)
		}
		n++
	}
	if name != "" && n == 0 {
		return 0, fmt.Errorf("there is no file %s", fileName(name))
	}
	return n, nil
}
