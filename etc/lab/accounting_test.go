//go:build lab

package lab

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestAccountingOutlivesControl ends sessions while no accounting server answers, and then kills control:
// the Stops must reach the server when it answers again, one each. A control that finds no sessions says
// so by Accounting-On, behind them.
func TestAccountingOutlivesControl(t *testing.T) {
	const count = 50
	l := New(t)
	radius := l.FreeRADIUS(false)
	r := l.StartRouter(strings.Replace(radiusConfig("", ""), " accounting radius\n", " accounting radius\n accounting-on\n", 1))
	l.Simulator(fmt.Sprint(count), fmt.Sprintf("up; mark %[1]s/up; wait %[1]s/done 60s", l.Dir), "--max-loss", "100")
	l.Marked("up", 60*time.Second)
	Until(t, 20*time.Second, "a Start for everybody", func() bool { return len(radius.Of("Start")) == count })

	radius.Kill()
	r.CLI("clear subscriber all")
	Until(t, 30*time.Second, "the sessions' end", func() bool { return strings.TrimSpace(r.CLI("show subscribers")) == "0 sessions" })
	time.Sleep(100 * time.Millisecond) // the store writes every few milliseconds
	r.Control.Kill()
	r.Start()
	l.FreeRADIUS(false) // appends to the same file of records
	Until(t, 60*time.Second, "a Stop for everybody, and two Accounting-On", func() bool {
		return len(radius.Of("Stop")) == count && len(radius.Records()) >= 2*count+2
	})
	l.Mark("done")
	for id, stops := range radius.Of("Stop") {
		if len(stops) != 1 || stops[0]["Acct-Terminate-Cause"] != "Admin-Reset" {
			t.Errorf("session %s: Stops %v", id, stops)
		}
	}
	records := radius.Records()
	if first, last := records[0]["Acct-Status-Type"], records[len(records)-1]["Acct-Status-Type"]; first != "Accounting-On" || last != "Accounting-On" {
		t.Errorf("the first record is %s, the last %s, want Accounting-On", first, last)
	}
	need(t, r.CLI("show aaa"), "Records waiting", "take records")
}
