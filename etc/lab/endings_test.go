//go:build lab

package lab

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// ending is a change that takes away what some sessions stand on.
type ending struct {
	what, do string
	victims  func(subscriber) bool
	cause    string // in the router's history
	recorded string // in the server's records
}

func vlans(outer ...string) func(subscriber) bool {
	return func(s subscriber) bool {
		for _, o := range outer {
			if s.Port == "access0" && strings.HasPrefix(s.VLAN, o+".") {
				return true
			}
		}
		return false
	}
}

func onPort(port string) func(subscriber) bool {
	return func(s subscriber) bool { return s.Port == port }
}

var endings = []ending{
	{"a range of VLANs is removed", "interface access0\nno subscriber vlans 103.any\n!", vlans("103"), "profile-removed", "NAS-Request"},
	{"PPPoE is switched off in a range", "interface access0\nno subscriber vlans 102.any\nsubscriber vlans 102.any\n!", vlans("102"), "profile-removed", "NAS-Request"},
	{"the range of the IPoE subscribers is removed", "interface access0\nno subscriber vlans 200-201.any\n!", vlans("200", "201"), "profile-removed", "NAS-Request"},
	{"the profile is taken off a port", "interface access2\nno pppoe profile\n!", onPort("access2"), "profile-removed", "NAS-Request"},
	{"a port is shut down", "interface access0\nshutdown\n!", onPort("access0"), "port-shutdown", "Admin-Reset"},
	{"a port is removed", "no interface access3", onPort("access3"), "port-removed", "Port-Error"},
}

// TestChangesThatEndSessions makes the changes that must end sessions: exactly those end, by the cause that is named for it,
// and the others stay and lose nothing.
func TestChangesThatEndSessions(t *testing.T) {
	long(t)
	l := New(t)
	l.SpareLink()
	for i := 1; i <= 3; i++ {
		l.link("R", fmt.Sprintf("access%d", i), "A", fmt.Sprintf("acc%d", i), 1600)
	}
	radius := l.FreeRADIUS(false)
	config := strings.Replace(changesConfig(), ` pppoe profile residential
 ipoe profile home
 subscriber vlans 102-103.any pppoe gold
`, ` subscriber vlans 100-101.any pppoe residential
 subscriber vlans 102.any pppoe gold
 subscriber vlans 103.any pppoe gold
 subscriber vlans 200-201.any ipoe home
`, 1)
	for i := 1; i <= 3; i++ {
		config += fmt.Sprintf("interface access%d\n pppoe profile residential\n!\n", i)
	}
	r := l.StartRouter(config)

	// The subscribers on access1 are the witnesses: what is sent to and from them must arrive.
	w := l.newWindows(r, len(endings)+1, changeTime)
	w.pppoe("witness", "acc1", 40, "--mac-base", "02:56:00:00:00:01")
	victims := l.newWindows(r, 0, 0)
	victims.everybody(40, 20) // on VLANs 100 to 103, and 200 to 201
	victims.pppoe("second", "acc2", 10, "--mac-base", "02:57:00:00:00:01")
	victims.pppoe("third", "acc3", 10, "--mac-base", "02:58:00:00:00:01")
	victims.up()
	w.up()
	if n := len(r.subscribers(t)); n != 120 {
		t.Fatalf("%d sessions, want 120", n)
	}
	calm := w.open(func() {})

	var table strings.Builder
	table.WriteString("| Change | Sessions before | Ended | Cause | Left | Witness packets lost |\n|---|---:|---:|---|---:|---:|\n")
	stops := 0
	for _, e := range endings {
		var staying []string
		before, ended := r.subscribers(t), map[uint64]bool{}
		for _, s := range before {
			if e.victims(s) {
				ended[s.ID] = true
			} else {
				staying = append(staying, s.String())
			}
		}
		if len(ended) == 0 {
			t.Errorf("%s: there is nobody to end", e.what)
		}
		o := w.open(func() {
			if _, _, err := r.commit(e.do); err != nil {
				t.Errorf("%s: %v", e.what, err)
			}
		})
		Until(t, 20*time.Second, e.what, func() bool { return len(r.subscribers(t)) <= len(staying) })
		var left []string
		for _, s := range r.subscribers(t) {
			left = append(left, s.String())
		}
		if d := difference(staying, left); len(d) > 0 {
			t.Errorf("%s: others than the right ones ended:\n%s", e.what, strings.Join(d, "\n"))
		}
		causes := 0
		for _, s := range r.listed(t, "show subscribers history | json") {
			if ended[s.ID] && s.Cause == e.cause {
				causes++
			}
		}
		if causes != len(ended) {
			t.Errorf("%s: %d of %d have the cause %s:\n%s", e.what, causes, len(ended), e.cause, r.CLI("show subscribers history"))
		}
		if o.unexplained() > calm.unexplained() {
			t.Errorf("%s: %d packets of the witnesses are lost; %s", e.what, o.Lost, o.drops())
		}
		stops += len(ended)
		Until(t, 20*time.Second, e.what+": a Stop for each", func() bool { return len(radius.Of("Stop")) == stops })
		fmt.Fprintf(&table, "| %s | %d | %d | %s | %d | %d |\n", e.what, len(before), len(ended), e.cause, len(left), o.unexplained())
	}
	recorded := map[string]int{}
	for _, s := range radius.Of("Stop") {
		recorded[s[0]["Acct-Terminate-Cause"]]++
	}
	want := map[string]int{"NAS-Request": 50, "Admin-Reset": 20, "Port-Error": 10}
	if fmt.Sprint(recorded) != fmt.Sprint(want) {
		t.Errorf("the server's records have the causes %v, want %v", recorded, want)
	}
	t.Logf("changes that end sessions:\n%s", table.String())
	writeTable(t, "endings", table.String())
	w.close()
	victims.close()
}
