//go:build lab

package lab

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

// simInternetAddr is the simulator's own address on the Internet side.
const simInternetAddr = "198.51.100.3"

// SimReport is what vbng-sim says in JSON (the fields that the tests judge).
type SimReport struct {
	OK           bool
	Faults       []string
	Sessions, Up int
	UpNow        int                                                    `json:"up_now"`
	FirstPADI    float64                                                `json:"first_padi"`
	SetupSeconds float64                                                `json:"setup_seconds"`
	SetupRate    float64                                                `json:"setup_rate"`
	OwnDrops     struct{ Access, Internet struct{ Send, Receive int } } `json:"own_drops"`
	Traffic      struct{ Up, Down SimFlow }
	Subscribers  []SimSubscriber
}

// ownDrops are the frames that the simulator's own devices had no room for.
func (r SimReport) ownDrops() uint64 {
	a, i := r.OwnDrops.Access, r.OwnDrops.Internet
	return uint64(a.Send + a.Receive + i.Send + i.Receive)
}

// SimFlow counts one direction over all subscribers.
type SimFlow struct {
	Requested, Sent, Received, Lost, Dup, Foreign, Corrupt int
	LongestGapMs                                           float64 `json:"longest_gap_ms"`
}

// SimSubscriber counts the inner IP bytes of one subscriber; In is from it.
type SimSubscriber struct {
	User     string
	Address  string
	InBytes  uint64 `json:"in_bytes"`
	OutBytes uint64 `json:"out_bytes"`
}

// Simulator starts vbng-sim with count subscribers that play a script; %D in the script stands for
// the lab's folder.
func (l *Lab) Simulator(count string, script string, options ...string) *Process {
	l.t.Helper()
	command := append([]string{Bin("vbng-sim"), "pppoe", "--interface", l.NS("A") + ":acc0", "--internet", l.NS("I") + ":net0",
		"--internet-address", simInternetAddr + "/24", "--gateway", CoreAddr, "--count", count, "--user", "sim%d", "--password", "sim",
		"--svlan", "100-103", "--cvlan", "1-4000", "--json", "--details", "--script", script}, options...)
	l.sim = l.Start("A", "vbng-sim", command...)
	return l.sim
}

// Report reads a report that the script wrote.
func (l *Lab) Report(name string) SimReport {
	l.t.Helper()
	text, err := os.ReadFile(filepath.Join(l.Dir, name))
	if err != nil {
		l.t.Fatal(err)
	}
	var r SimReport
	if err := json.Unmarshal(text, &r); err != nil {
		l.t.Fatalf("%s: %v", name, err)
	}
	return r
}

// Marked waits for a mark of the script.
func (l *Lab) Marked(name string, limit time.Duration) {
	l.t.Helper()
	Until(l.t, limit, "mark "+name, func() bool {
		if l.sim.Ended() {
			l.t.Fatalf("the simulator ended before its mark %q", name)
		}
		_, err := os.Stat(filepath.Join(l.Dir, name))
		return err == nil
	})
}

// Mark lets a script that waits for the mark go on.
func (l *Lab) Mark(name string) {
	l.t.Helper()
	if err := os.WriteFile(filepath.Join(l.Dir, name), nil, 0o644); err != nil {
		l.t.Fatal(err)
	}
}
