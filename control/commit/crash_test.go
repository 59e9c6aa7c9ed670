package commit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// crashDisk works until a given operation, which it does by half, and then nothing works any more. What was not
// synced is lost as a power cut would lose it.
type crashDisk struct {
	left   int  // operations until the crash
	refuse bool // the operation fails and later ones work: a full disk
	lose   bool // what no syncDir has covered is undone
	torn   map[string]bool
	undo   []func()
}

var errCrash = errors.New("no space left on device")

// step counts an operation; crash is true for the one that is done by half.
func (d *crashDisk) step() (crash bool, err error) {
	d.left--
	switch {
	case d.left > 0 || d.left < 0 && d.refuse:
		return false, nil
	case d.left == 0:
		return true, errCrash
	}
	return false, errCrash
}

// off is the moment of the crash: what the disk had not been told to keep goes.
func (d *crashDisk) off() {
	if d.refuse {
		return
	}
	for i := len(d.undo) - 1; i >= 0 && d.lose; i-- {
		d.undo[i]()
	}
	d.undo = nil
	for path := range d.torn {
		if info, err := os.Stat(path); err == nil {
			_ = os.Truncate(path, info.Size()/2)
		}
	}
}

type crashFile struct {
	file
	disk *crashDisk
}

func (d *crashDisk) create(dir string) (file, error) {
	if crash, err := d.step(); err != nil {
		if crash {
			d.off()
		}
		return nil, err
	}
	f, err := osDisk{}.create(dir)
	if err != nil {
		return nil, err
	}
	if d.torn == nil {
		d.torn = map[string]bool{}
	}
	d.torn[f.Name()] = true
	return crashFile{f, d}, nil
}

func (f crashFile) Write(b []byte) (int, error) {
	crash, err := f.disk.step()
	if err == nil {
		return f.file.Write(b)
	}
	if crash {
		_, _ = f.file.Write(b[:len(b)/3])
		f.disk.off()
	}
	return len(b) / 3, err
}

func (f crashFile) Sync() error {
	if crash, err := f.disk.step(); err != nil {
		if crash {
			f.disk.off()
		}
		return err
	}
	delete(f.disk.torn, f.Name())
	return f.file.Sync()
}

// change does what undo takes back unless a syncDir comes between.
func (d *crashDisk) change(do func() error, paths ...string) error {
	crash, err := d.step()
	if err != nil && !crash {
		return err
	}
	if err != nil && d.refuse {
		return err
	}
	before := map[string][]byte{}
	for _, p := range paths {
		if b, err := os.ReadFile(p); err == nil {
			before[p] = b
		}
	}
	if done := do(); done != nil {
		return done
	}
	d.undo = append(d.undo, func() {
		for _, p := range paths {
			if b, was := before[p]; was {
				_ = os.WriteFile(p, b, 0o600)
			} else {
				_ = os.Remove(p)
			}
		}
	})
	if crash {
		d.off()
	}
	return err
}

func (d *crashDisk) rename(from, to string) error {
	return d.change(func() error { return os.Rename(from, to) }, from, to)
}

func (d *crashDisk) remove(path string) error {
	return d.change(func() error { return os.Remove(path) }, path)
}

func (d *crashDisk) syncDir(string) error {
	if crash, err := d.step(); err != nil {
		if crash {
			d.off()
		}
		return err
	}
	d.undo = nil
	return nil
}

// TestCrashAtEveryMoment ends the router at each file operation of each kind of commit, and starts another on what
// is left: it must run the configuration of before or the new one, without a line missing.
func TestCrashAtEveryMoment(t *testing.T) {
	const before, after = "hostname one\n", "hostname two\n"
	for _, c := range []struct {
		name    string
		prepare func(*router) // with a good disk
		act     func(*router) error
	}{
		{"commit", nil, func(r *router) error { return r.commit(after) }},
		{"commit confirmed", nil, func(r *router) error { return r.hold(after) }},
		{"confirm", func(r *router) { r.must(r.hold(after)) }, func(r *router) error { _, err := r.manager.Confirm("bob"); return err }},
		{"cancel", func(r *router) { r.must(r.hold(after)) }, func(r *router) error { _, err := r.manager.Cancel("bob"); return err }},
		{"commit over a confirmed one", func(r *router) { r.must(r.hold(after)) }, func(r *router) error { return r.commit("hostname three\n") }},
	} {
		for _, lose := range []bool{false, true} {
			for n := 1; ; n++ {
				r := newRouter(t, before)
				r.manager.archive.kept = 1 // every commit prunes
				if c.prepare != nil {
					c.prepare(r)
				}
				d := &crashDisk{left: n, lose: lose}
				r.manager.archive.disk = d
				err := c.act(r)
				at := fmt.Sprintf("%s, operation %d, lose %v, error %v", c.name, n, lose, err)
				r.restart()
				got := r.running()
				u, waits := r.manager.Unconfirmed()
				if got != before && got != after && got != "hostname three\n" {
					t.Errorf("%s: runs %q", at, got)
				}
				if failed := r.manager.Failed(); len(failed) > 0 {
					t.Errorf("%s: failed %v", at, failed)
				}
				if c.name == "commit confirmed" && waits != (got == after) || waits && u.text != before {
					t.Errorf("%s: runs %q, waits %v", at, got, waits)
				}
				if left, _ := filepath.Glob(filepath.Join(r.dir, "state", "*", newMark+"*")); len(left) > 0 {
					t.Errorf("%s: left %v", at, left)
				}
				if err := r.commit("hostname four\n"); err != nil && !strings.Contains(err.Error(), "by carol is not confirmed") {
					t.Errorf("%s: next commit: %v", at, err)
				}
				if d.left > 0 {
					break // all operations were done
				}
			}
		}
	}
}

// TestFullDiskAtEveryMoment lets one operation fail: what runs is what the next start loads.
func TestFullDiskAtEveryMoment(t *testing.T) {
	for n := 1; ; n++ {
		r := newRouter(t, "hostname one\n")
		d := &crashDisk{left: n, refuse: true}
		r.manager.archive.disk = d
		err := r.hold("hostname two\n")
		runs := r.running()
		if (err == nil) != (runs == "hostname two\n") {
			t.Errorf("operation %d: %v, runs %q", n, err, runs)
		}
		if r.restart(); r.running() != runs {
			t.Errorf("operation %d (%v): ran %q, after the start %q", n, err, runs, r.running())
		}
		if d.left > 0 {
			return
		}
	}
}

// hold commits for ten minutes, by carol.
func (r *router) hold(text string) error {
	_, err := r.manager.Commit(r.candidate(text), Order{User: "carol", Confirm: 10 * time.Minute})
	return err
}

func (r *router) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}
