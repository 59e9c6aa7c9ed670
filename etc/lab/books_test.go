//go:build lab

package lab

import "testing"

// books compare a RADIUS server's records with simulators' counts.
type books struct {
	counted map[string]CrowdSubscriber // by user
	lost    uint64                     // packets that did not arrive, which one of both counted and the other did not
	starts  map[string]string          // Acct-Session-Id of each user's first session
	began   map[string]int             // Starts by Acct-Session-Id
	stops   map[string][]AcctRecord    // by Acct-Session-Id
	causes  map[string]int
}

func newBooks(cs crowds, report string, lost uint64) *books {
	b := &books{counted: map[string]CrowdSubscriber{}, lost: lost}
	for _, c := range cs {
		for _, s := range c.Report(report).Subscribers {
			b.counted[s.User] = s
		}
	}
	return b
}

// read takes what the server has now.
func (b *books) read(radius *RADIUS) {
	b.starts, b.began, b.stops, b.causes = map[string]string{}, map[string]int{}, map[string][]AcctRecord{}, map[string]int{}
	for _, record := range radius.Records() {
		id, user := record["Acct-Session-Id"], record["User-Name"]
		switch record["Acct-Status-Type"] {
		case "Start":
			b.began[id]++
			if _, known := b.starts[user]; !known {
				b.starts[user] = id
			}
		case "Stop":
			b.stops[id] = append(b.stops[id], record)
			b.causes[record["Acct-Terminate-Cause"]]++
		}
	}
}

// ended counts the users whose first session has a Stop.
func (b *books) ended(users map[string]string) (n int) {
	for user := range users {
		if len(b.stops[b.starts[user]]) > 0 {
			n++
		}
	}
	return n
}

// checkCauses wants the first session of each of the users to have ended once, by the cause given. A client of IPoE that
// was cleared hears nothing of it and comes back when it renews its lease: that is another session.
func (b *books) checkCauses(t *testing.T, causes map[string]string) {
	t.Helper()
	for user, cause := range causes {
		stops := b.stops[b.starts[user]]
		if len(stops) != 1 || stops[0]["Acct-Terminate-Cause"] != cause {
			t.Errorf("%s: want one Stop with %s, got %v", user, cause, stops)
		}
	}
}

// check wants one Start and one Stop of each session, and each user's first session to have carried what the simulator
// counted, to the octet. A packet that found a ring full on its way was counted on one side of it only.
func (b *books) check(t *testing.T) {
	t.Helper()
	for id, n := range b.began {
		if n != 1 || len(b.stops[id]) != 1 {
			t.Errorf("session %s: %d Starts, %d Stops", id, n, len(b.stops[id]))
		}
	}
	missing, differing := uint64(0), 0
	for user, s := range b.counted {
		stops := b.stops[b.starts[user]]
		if len(stops) != 1 {
			t.Errorf("%s: first session with %d Stops", user, len(stops))
			continue
		}
		input, output := stops[0].Octets()
		in, out := stops[0].number("Acct-Input-Packets"), stops[0].number("Acct-Output-Packets")
		if input == s.InBytes && output == s.OutBytes && in == s.InPackets && out == s.OutPackets {
			continue
		}
		differing++
		if in > s.InPackets || out < s.OutPackets || input > s.InBytes || output < s.OutBytes {
			t.Errorf("%s: %d/%d octets in %d/%d packets in the detail file, %d/%d in %d/%d in the simulator",
				user, input, output, in, out, s.InBytes, s.OutBytes, s.InPackets, s.OutPackets)
		}
		missing += s.InPackets - in + out - s.OutPackets
	}
	if missing > b.lost {
		t.Errorf("records and simulators differ by %d packets, but only %d were lost", missing, b.lost)
	}
	t.Logf("%d subscribers' octets compared, %d differ by %d packets that were lost on the way (%d were); causes %v",
		len(b.counted), differing, missing, b.lost, b.causes)
}
