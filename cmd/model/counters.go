package model

import (
	"fmt"
	"strings"

	"vbng/aaa"
	"vbng/sessions"
	"vbng/sessions/pppoe"
)

func countersPage() (string, error) {
	p := newPage("counters", "Counters and causes",
		"No packet disappears without a named counter, and no session ends without a named cause. These are the names.")
	p.heading("Counters of the forwarder")
	p.printf("In `show engine`, per node in packet order. Each node also has `packets`, those that it worked on, and `vectors`, the groups in\n" +
		"which they came. Counters begin anew with each forwarder; `show engine all` lists those that stand at zero, too.\n" +
		"`forwarding/node/doc.go` tells where each kind of frame goes.\n\n")
	var rows [][]string
	for _, m := range meanings {
		rows = append(rows, []string{code(m.name), m.text})
	}
	p.table([]string{"Counter", "Meaning"}, rows)

	p.heading("Why a session ended, or did not come up")
	p.printf("In `show pppoe` (`session-ended`, `setup-failed`), `show subscribers history` and the log. The last column is what accounting says.\n\n")
	p.causes()

	p.heading("Why a discovery packet was refused")
	p.printf("In `show pppoe` as `discovery-refused`.\n\n")
	err := p.refusals()
	return p.text.String(), err
}

func (p *page) causes() {
	var rows [][]string
	for _, c := range sessions.Causes() {
		rows = append(rows, []string{code(string(c)), sentence(c.Text()), terminate(c.Terminate())})
	}
	p.table([]string{"Cause", "Meaning", "Acct-Terminate-Cause"}, rows)
}

// terminate names an Acct-Terminate-Cause as RFC 2866 section 5.10 does.
func terminate(c aaa.TerminateCause) string {
	names := map[aaa.TerminateCause]string{
		aaa.UserRequest: "User Request", aaa.LostCarrier: "Lost Carrier", aaa.IdleTimeout: "Idle Timeout",
		aaa.SessionTimeout: "Session Timeout", aaa.AdminReset: "Admin Reset", aaa.PortError: "Port Error",
		aaa.NASError: "NAS Error", aaa.NASRequest: "NAS Request", aaa.NASReboot: "NAS Reboot",
		aaa.ServiceUnavail: "Service Unavailable", aaa.UserError: "User Error",
	}
	return strings.TrimSpace(fmt.Sprintf("%s (%d)", names[c], c))
}

// refusals is the table of package pppoe's reasons. One without an explanation is an error.
func (p *page) refusals() error {
	var rows [][]string
	for r := pppoe.ReasonNone + 1; r < pppoe.NumReasons; r++ {
		text, ok := refusals[r.String()]
		if !ok {
			return fmt.Errorf("reason %v of a refused discovery packet is not explained", r)
		}
		rows = append(rows, []string{code(r.String()), text})
	}
	p.table([]string{"Reason", "Meaning"}, rows)
	return nil
}
