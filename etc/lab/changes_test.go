//go:build lab

package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The subscribers whose configuration is changed under them.
const changesPPPoE, changesIPoE = 200, 100

// TestChangesOfRouter makes every kind of change to the router itself, its ports and routes under traffic, and takes it back:
// no session may end, and no packet may be lost beyond what a run without changes loses.
func TestChangesOfRouter(t *testing.T) {
	long(t)
	testChanges(t, "router", routerChanges())
}

// TestChangesOfSubscribers does the same to pools, profiles and authorization.
func TestChangesOfSubscribers(t *testing.T) {
	long(t)
	testChanges(t, "subscribers", subscriberChanges())
}

// TestChangesThatInterrupt makes the changes that cannot but lose packets: the sessions stay, and what is lost ends with them.
func TestChangesThatInterrupt(t *testing.T) {
	long(t)
	changes := interruptions()
	for i := range changes {
		changes[i].alone, changes[i].lossy = true, true
	}
	testChanges(t, "interruptions", changes)
}

func testChanges(t *testing.T, name string, changes []change) {
	l := New(t)
	l.SpareLink()
	l.FreeRADIUS(false)
	r := l.StartRouter(changesConfig())
	if all := together(changes); all.do != "" {
		changes = append(changes, all)
	}
	changes = append(changes, change{what: "load replace: the same lines in another order", do: "load replace " + reordered(t, l, r)})
	w := l.newWindows(r, len(changes)+2, changeTime)
	w.everybody(changesPPPoE, changesIPoE)
	base, sessions := r.CLI("show running-config"), r.sessions(t)
	if len(sessions) != changesPPPoE+changesIPoE {
		t.Fatalf("%d sessions, want %d", len(sessions), changesPPPoE+changesIPoE)
	}

	var table changeTable
	table.calm("no change, before", w.open(func() {}))
	for _, c := range changes {
		t.Run(strings.ReplaceAll(c.what, "/", " "), func(t *testing.T) {
			row := changeRow{what: c.what, lossy: c.lossy}
			row.outcome = w.open(func() {
				row.does(t, r, c.do)
				time.Sleep(400 * time.Millisecond)
				row.undoes(t, r, c.undo)
			})
			if d := difference(sessions, r.sessions(t)); len(d) > 0 {
				row.wrong = append(row.wrong, fmt.Sprintf("sessions: %d lines differ, as %s", len(d), d[0]))
				sessions = r.sessions(t)
			}
			if after := r.CLI("show running-config"); after != base {
				row.wrong = append(row.wrong, "the configuration is not what it was")
				t.Errorf("after it was taken back:\n%s\nbefore:\n%s", after, base)
				base = after
			}
			table = append(table, row)
		})
	}
	table.calm("no change, after", w.open(func() {}))
	table.judge(t)
	table.write(t, name)
	w.close()
	l.freshSubscribers(t)
}

// freshSubscribers proves that the router still takes subscribers.
func (l *Lab) freshSubscribers(t *testing.T) {
	t.Helper()
	l.Simulator("5", "up; traffic 500 2s; down", "--max-loss", "100", "--mac-base", "02:55:00:00:00:01", "--user", "simfresh%d")
	l.sim.Wait(t, 60*time.Second)
	if l.sim.ExitCode() != 0 {
		t.Errorf("subscribers that come after all changes:\n%s", l.sim.Output())
	}
}

// together is one commit of all changes that can be made at once.
func together(changes []change) change {
	all := change{what: "all of the above at once"}
	var lines []string
	for _, c := range changes {
		if !c.alone {
			lines = append(lines, c.do)
		}
	}
	all.do = strings.Join(lines, "\n")
	return all
}

// reordered writes what runs to a file, its blocks and the lines of single ones in reverse. Secrets are hidden there; the
// router keeps its own.
func reordered(t *testing.T, l *Lab, r *Router) string {
	t.Helper()
	blocks := strings.Split(r.CLI("show running-config"), "!\n")
	slices.Reverse(blocks)
	file := filepath.Join(l.Dir, "reordered.conf")
	if err := os.WriteFile(file, []byte(strings.Join(blocks, "!\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// changeRow is a line of the table.
type changeRow struct {
	what     string
	do, undo time.Duration
	notes    []string
	outcome  outcome
	calm     bool
	lossy    bool
	wrong    []string
}

func (row *changeRow) does(t *testing.T, r *Router, lines string) {
	var err error
	if row.notes, row.do, err = r.commit(lines); err != nil {
		row.wrong = append(row.wrong, "refused")
		t.Error(err)
	}
}

// undoes takes a change back; one that changed nothing has made no revision that one could go back from.
func (row *changeRow) undoes(t *testing.T, r *Router, lines string) {
	if slices.ContainsFunc(row.notes, func(n string) bool { return strings.Contains(n, "no edits to commit") }) || slices.Contains(row.wrong, "refused") {
		return
	}
	if lines == "" {
		lines = "rollback configuration last 1"
	}
	var err error
	if _, row.undo, err = r.commit(lines); err != nil {
		row.wrong = append(row.wrong, "cannot be taken back")
		t.Errorf("taken back: %v", err)
	}
}

type changeTable []changeRow

func (table *changeTable) calm(what string, o outcome) {
	*table = append(*table, changeRow{what: what, outcome: o, calm: true})
}

// judge fails for each row that lost more than the first one, in which nothing was changed.
func (table changeTable) judge(t *testing.T) {
	t.Helper()
	calm := table[0].outcome.unexplained()
	for i := range table {
		row := &table[i]
		if !row.lossy && (row.outcome.unexplained() > calm || !row.calm && len(row.outcome.Drops)+len(row.outcome.Faults) > 0) {
			row.wrong = append(row.wrong, "loss")
		}
		if len(row.wrong) > 0 {
			t.Errorf("%s: %s; %d of %d packets lost, %d of them for want of room; %s", row.what, strings.Join(row.wrong, ", "),
				row.outcome.Lost, row.outcome.Sent, row.outcome.Room, row.outcome.drops())
		}
	}
}

// writeTable puts a table into a file where VBNG_LAB_TABLES names a folder.
func writeTable(t *testing.T, name, text string) {
	if dir := os.Getenv("VBNG_LAB_TABLES"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, "changes-"+name+".md"), []byte(text), 0o644); err != nil {
			t.Error(err)
		}
	}
}

// write puts the table into the log and into its file.
func (table changeTable) write(t *testing.T, name string) {
	var b strings.Builder
	b.WriteString("| Change | Sent | Lost | No room in a device | Dropped by the forwarder | Commit (ms) | Taken back (ms) | Verdict | Notes of the commit |\n")
	b.WriteString("|---|---:|---:|---:|---|---:|---:|---|---|\n")
	for _, row := range table {
		verdict := "as without it"
		if row.calm {
			verdict = "-"
		}
		if len(row.wrong) > 0 {
			verdict = strings.Join(row.wrong, ", ")
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %s | %d | %d | %s | %s |\n", row.what, row.outcome.Sent, row.outcome.Lost, row.outcome.Room,
			row.outcome.drops(), row.do.Milliseconds(), row.undo.Milliseconds(), verdict, strings.ReplaceAll(strings.Join(row.notes, "<br>"), "|", `\|`))
	}
	t.Logf("changes, %s:\n%s", name, b.String())
	writeTable(t, name, b.String())
}
