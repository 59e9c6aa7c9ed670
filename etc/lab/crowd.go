//go:build lab

package lab

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Crowd is one of several simulators that play side by side, each with MAC addresses, VLANs and a host in the Internet
// of its own.
type Crowd struct {
	*Process
	Name string
	lab  *Lab
	dir  string // of its marks and reports
}

// CrowdPlan says what a simulator plays.
type CrowdPlan struct {
	Kind    string // pppoe or ipoe
	Number  int    // tells simulators that run at the same time apart: 1, 2, ...
	Name    string // of its folder and log; kind and number if not given
	MACs    int    // tells their MAC addresses apart; the number if not given
	Count   int
	Script  string // @ stands for the folder of marks and reports
	Options []string
}

// dualStack lets subscribers ask for all that there is.
var dualStack = []string{"--ipv6-na", "--ipv6-pd"}

// Crowd starts a simulator with both families in the Internet.
func (l *Lab) Crowd(p CrowdPlan) *Crowd {
	l.t.Helper()
	c := &Crowd{Name: p.Name, lab: l}
	if c.Name == "" {
		c.Name = fmt.Sprint(p.Kind, p.Number)
	}
	c.dir = filepath.Join(l.Dir, c.Name)
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		l.t.Fatal(err)
	}
	if p.MACs == 0 {
		p.MACs = p.Number
	}
	host := p.Number + 2 // behind the kernel's own host
	command := []string{Bin("vbng-sim"), p.Kind, "--interface", l.NS("A") + ":acc0", "--internet", l.NS("I") + ":net0",
		"--internet-address", fmt.Sprintf("198.51.100.%d/24", host), "--gateway", CoreAddr,
		"--internet-address6", fmt.Sprintf("2001:db8:ffff::%d/64", host), "--gateway6", CoreAddr6,
		"--internet-mac", fmt.Sprintf("02:49:00:00:00:%02x", host), "--mac-base", fmt.Sprintf("02:53:%02x:00:00:01", p.MACs),
		"--svlan", fmt.Sprintf("%d-%d", 100*p.Number, 100*p.Number+3), "--cvlan", "1-4000", "--count", fmt.Sprint(p.Count),
		"--json", "--details", "--max-loss", "100", "--script", strings.ReplaceAll(p.Script, "@", c.dir)}
	c.Process = l.Start("A", c.Name, append(command, p.Options...)...)
	return c
}

// CrowdReport is what a simulator says beyond SimReport.
type CrowdReport struct {
	SimReport
	UpNow         int     `json:"up_now"`
	FirstDiscover float64 `json:"first_discover"`
	Strays        int
	Families      map[string]struct{ Up, Down CrowdFlow }
	Subscribers   []CrowdSubscriber
}

// CrowdFlow counts one direction of one kind of flow.
type CrowdFlow struct {
	SimFlow
	DeadFlows int `json:"dead_flows"`
}

// CrowdSubscriber counts one subscriber's IP packets of all flows; In is from it.
type CrowdSubscriber struct {
	SimSubscriber
	InPackets  uint64 `json:"in_packets"`
	OutPackets uint64 `json:"out_packets"`
}

// Report reads a report that the script wrote.
func (c *Crowd) Report(name string) CrowdReport {
	c.lab.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil {
		c.lab.t.Fatal(err)
	}
	var r CrowdReport
	if err := json.Unmarshal(text, &r); err != nil {
		c.lab.t.Fatalf("%s: %v", name, err)
	}
	return r
}

// Marked waits for a mark of the script.
func (c *Crowd) Marked(name string, limit time.Duration) {
	c.lab.t.Helper()
	Until(c.lab.t, limit, c.Name+" marks "+name, func() bool {
		if _, err := os.Stat(filepath.Join(c.dir, name)); err == nil {
			return true
		}
		if c.Ended() {
			c.lab.t.Fatalf("%s ended before its mark %q:\n%s", c.Name, name, c.Output())
		}
		return false
	})
}

// Mark lets a script that waits for the mark go on.
func (c *Crowd) Mark(name string) {
	c.lab.t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), nil, 0o644); err != nil {
		c.lab.t.Fatal(err)
	}
}

// crowds are simulators that go the same way at the same time.
type crowds []*Crowd

func (cs crowds) Marked(name string, limit time.Duration) {
	for _, c := range cs {
		c.lab.t.Helper()
		c.Marked(name, limit)
	}
}

func (cs crowds) Mark(name string) {
	for _, c := range cs {
		c.Mark(name)
	}
}

// checkFlows wants every flow of every family to have arrived whole and nowhere else, and returns how many packets did
// not arrive and how many the simulators' own devices dropped.
func (cs crowds) checkFlows(t *testing.T, report string) (lost, own uint64) {
	t.Helper()
	for _, c := range cs {
		r := c.Report(report)
		own += r.ownDrops()
		for _, family := range []string{"ipv4", "ipv6_slaac", "ipv6_na", "ipv6_pd"} {
			if _, ok := r.Families[family]; !ok {
				t.Errorf("%s: no traffic of %s", c.Name, family)
			}
		}
		for family, f := range r.Families {
			for direction, n := range map[string]CrowdFlow{"up": f.Up, "down": f.Down} {
				if n.Received == 0 || n.Dup+n.Foreign+n.Corrupt+n.DeadFlows > 0 {
					t.Errorf("%s, %s %s: %+v", c.Name, family, direction, n)
				}
			}
		}
		for direction, n := range map[string]SimFlow{"up": r.Traffic.Up, "down": r.Traffic.Down} {
			t.Logf("%s, %s: %+v", c.Name, direction, n)
			lost += uint64(n.Lost)
		}
		if r.Strays > 0 {
			t.Errorf("%s: %d frames on VLANs of others", c.Name, r.Strays)
		}
	}
	return lost, own
}
