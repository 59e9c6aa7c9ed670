package monitor

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"vbng/control/clock"
	"vbng/control/oper"
	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
)

// forwarder is a fake one: it remembers the captures that it was told.
type forwarder struct {
	mu       sync.Mutex
	captures map[entry.CaptureID]entry.Capture
	put      chan entry.Capture
	refuse   error
}

func (f *forwarder) Apply(b *entry.Batch, done func(entry.Result)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, op := range b.Ops {
		c := op.Entry.(entry.Capture)
		if op.Verb == entry.Delete {
			delete(f.captures, c.ID)
			continue
		}
		if f.refuse == nil {
			f.captures[c.ID] = c
		}
		f.put <- c
	}
	done(entry.Result{Err: f.refuse})
}

func (f *forwarder) Inject(entry.PortID, []byte) bool { return true }

func (f *forwarder) left() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.captures)
}

type world struct{ ended func(string) }

func (w *world) CapturePoint(name string) (entry.PortID, entry.InterfaceID, error) {
	switch name {
	case "eth1":
		return 11, 0, nil
	case "eth1.7":
		return 0, 12, nil
	}
	return 0, 0, fmt.Errorf("there is no interface %s", name)
}

func (w *world) InterfaceNames() []string { return []string{"eth1", "eth1.7"} }

func (w *world) Port(entry.PortID) (string, entry.MAC, bool, bool) {
	return "eth1", entry.MAC{}, true, true
}

func (w *world) Selectors() []oper.Arg {
	return []oper.Arg{{Name: "user", Keyword: true, Optional: true}}
}

func (w *world) SelectOne(_ context.Context, call oper.Call, ended func(string)) (entry.SessionID, string, func(), error) {
	if call.Args["user"] != "alice" {
		return 0, "", nil, errors.New("there is no such subscriber")
	}
	w.ended = ended
	return 7, "alice (session 7)", func() {}, nil
}

type rig struct {
	t         *testing.T
	m         *Monitor
	forwarder *forwarder
	world     *world
	clock     *clock.Fake
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, world: &world{}, clock: clock.NewFake(time.Unix(1_700_000_000, 0)),
		forwarder: &forwarder{captures: map[entry.CaptureID]entry.Capture{}, put: make(chan entry.Capture, 100)}}
	r.m = New(Options{Programmer: r.forwarder, Places: r.world, Subscribers: r.world, Folder: filepath.Join(t.TempDir(), "captures"), Clock: r.clock, FirstID: 1000})
	return r
}

// asked is a command that runs.
type asked struct {
	capture entry.Capture
	pieces  chan string
	result  chan error
	cancel  context.CancelFunc
}

func (r *rig) ask(words string, args map[string]string) *asked {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	a := &asked{pieces: make(chan string, 100), result: make(chan error, 1), cancel: cancel}
	r.t.Cleanup(cancel)
	for _, c := range r.m.Commands() {
		if c.Words == words {
			go func() {
				a.result <- c.Stream(ctx, oper.Call{Args: args}, func(piece any) bool {
					a.pieces <- piece.(oper.Document).Sections[0].Text
					return true
				})
			}()
		}
	}
	select {
	case a.capture = <-r.forwarder.put:
	case err := <-a.result:
		a.result <- err
	}
	return a
}

func (a *asked) said() string {
	err := <-a.result
	var f *oper.Farewell
	if errors.As(err, &f) {
		return f.Text
	}
	return fmt.Sprint(err)
}

func lcp() []byte {
	b := make([]byte, 64)
	n := wire.PutTagged(b, entry.MAC{2, 0, 0, 0, 0, 1}, entry.MAC{2, 0, 0, 0, 0, 2}, 0x8100, 7, 0, wire.TypePPPoESession)
	n += wire.PutPPPoE(b[n:], wire.CodeSession, 5, 6)
	n += wire.PutPPP(b[n:], wire.ProtocolLCP)
	copy(b[n:], []byte{5, 9, 0, 4})
	return b
}

func (a *asked) copied(output bool, lost uint32) entry.Punt {
	return entry.Punt{Class: entry.ClassCapture, Port: 11, Capture: a.capture.ID, Output: output, Data: lcp(), Length: 1500, Lost: lost,
		UnixNanos: 1_700_000_000_123_456_789}
}

func TestLines(t *testing.T) {
	r := newRig(t)
	a := r.ask("monitor packets interface", map[string]string{"interface": "eth1", "count": "50", "snap": "128"})
	if a.capture.Port != 11 || a.capture.Packets != 50 || a.capture.SnapBytes != 128 || a.capture.ID != 1001 {
		t.Errorf("asked for %+v", a.capture)
	}
	r.m.Punt(a.copied(false, 0))
	want := "22:13:20.123456 in  eth1 7 02:00:00:00:00:02 > 02:00:00:00:00:01 PPPoE session 0x0005 LCP Terminate-Request id 9 (1500 bytes)"
	if got := <-a.pieces; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	r.m.Event(entry.ForwarderState{Up: true})
	r.m.Punt(a.copied(true, 3))
	if got := <-a.pieces; !strings.HasPrefix(got, "-- 3 packets are missing here\n-- a new forwarder") || !strings.Contains(got, " out eth1 ") {
		t.Errorf("got %s", got)
	}
	table, _ := r.m.showCaptures(context.Background(), oper.Call{})
	if rows := table.(oper.Table[Row]).Rows; len(rows) != 1 || rows[0].Of != "interface eth1" || rows[0].Packets != 2 || rows[0].Lost != 3 {
		t.Errorf("rows %+v", rows)
	}
	a.cancel() // Ctrl-C, or the shell has died
	if got := a.said(); !strings.HasPrefix(got, "3 packets are missing") {
		t.Errorf("said %s", got)
	}
	if r.forwarder.left() != 0 || len(r.m.running) != 0 {
		t.Error("a capture is left")
	}
	r.m.Punt(a.copied(true, 3)) // on its way still
}

func TestSessionEnds(t *testing.T) {
	r := newRig(t)
	a := r.ask("monitor packets subscriber", map[string]string{"user": "alice"})
	if a.capture.Session != 7 || a.capture.Packets != defaultPackets {
		t.Errorf("asked for %+v", a.capture)
	}
	r.world.ended("padt-received")
	r.m.Punt(a.copied(false, 0)) // its last one, by the other road
	<-a.pieces
	for r.forwarder.left() != 0 {
		r.clock.Advance(lingering)
	}
	if got := a.said(); got != "Capture 1 is over: the session ended, padt-received." {
		t.Errorf("said %s", got)
	}
}

func TestFile(t *testing.T) {
	r := newRig(t)
	a := r.ask("monitor packets interface", map[string]string{"interface": "eth1.7", "file": "one", "count": "2"})
	if a.capture.Interface != 12 || a.capture.SnapBytes != maxSnap {
		t.Errorf("asked for %+v", a.capture)
	}
	if n, err := r.m.folder().clear("", map[string]bool{"one.pcap": true}); n != 0 || err != nil {
		t.Errorf("cleared %d %v", n, err)
	}
	r.m.Punt(a.copied(false, 0))
	r.m.Punt(a.copied(true, 0))
	path := filepath.Join(r.m.options.Folder, "one.pcap")
	if got := a.said(); got != fmt.Sprintf("2 packets, 184 bytes, in %s.", path) {
		t.Errorf("said %s", got)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != 184 {
		t.Fatalf("%v %v", info, err)
	}
	b, _ := os.ReadFile(path)
	record := b[pcapHeaderBytes:]
	if binary.LittleEndian.Uint32(b) != pcapMagic || binary.LittleEndian.Uint32(record[4:]) != 123_456_789 ||
		binary.LittleEndian.Uint32(record[8:]) != 64 || binary.LittleEndian.Uint32(record[12:]) != 1500 {
		t.Errorf("file %x", b)
	}
	for name, want := range map[string]string{"one": "is there already", "../x": "expected", ".hidden": "expected", "": "expected"} {
		if _, err := r.m.folder().create(fileName(name), 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("name %q: %v", name, err)
		}
	}
	if again := r.ask("monitor packets interface", map[string]string{"interface": "eth1", "file": "one"}); !strings.Contains(again.said(), "is there already") {
		t.Error("a file was written twice")
	}
	if n, err := r.m.folder().clear("one", nil); n != 1 || err != nil {
		t.Errorf("cleared %d %v", n, err)
	}
	for i := range maxFiles {
		f, err := r.m.folder().create(fmt.Sprintf("f%d.pcap", i), 1)
		if err != nil {
			t.Fatal(err)
		}
		f.capture = &capture{}
		f.bytes = maxFileBytes - 10
		if more, err := f.take(&entry.Punt{Data: lcp()}); more || err != nil || !f.full {
			t.Errorf("a full file took more: %v", err)
		}
		_, _ = f.close()
	}
	if _, err := r.m.folder().create("more.pcap", 1); err == nil {
		t.Error("no bound of files")
	}
}

func TestRefusals(t *testing.T) {
	r := newRig(t)
	if got := r.ask("monitor packets subscriber", map[string]string{"user": "bob"}).said(); got != "there is no such subscriber" {
		t.Error(got)
	}
	if got := r.ask("monitor packets interface", map[string]string{"interface": "eth9"}).said(); got != "there is no interface eth9" {
		t.Error(got)
	}
	for range maxRunning {
		r.ask("monitor packets interface", map[string]string{"interface": "eth1"})
	}
	if got := r.ask("monitor packets interface", map[string]string{"interface": "eth1", "file": "nine"}).said(); !strings.Contains(got, "8 captures run already") {
		t.Error(got)
	}
	if files, _ := r.m.folder().list(); len(files) != 0 {
		t.Error("a capture that did not begin left its file")
	}
	other := newRig(t)
	other.forwarder.refuse = &entry.Refused{Reason: "no"}
	if got := other.ask("monitor packets interface", map[string]string{"interface": "eth1"}).said(); !strings.Contains(got, "the forwarder refused it") {
		t.Error(got)
	}
}

// What nobody reads is counted; the punt path does not wait.
func TestQueueIsBounded(t *testing.T) {
	r := newRig(t)
	c, err := r.m.begin(entry.Capture{Port: 1, Packets: 1 << 30, SnapBytes: 100}, "interface eth1", "")
	if err != nil {
		t.Fatal(err)
	}
	for range queueLimit + 5 {
		r.m.Punt(entry.Punt{Capture: c.entry.ID, Data: lcp(), Lost: 2})
	}
	if got := c.missing(); got != 7 {
		t.Errorf("%d missing", got)
	}
}
