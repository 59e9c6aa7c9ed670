package crowd

import (
	"io"
	"strings"
	"testing"
	"time"

	"vbng/cmd/vbng-sim/frame"
)

func TestVLANPlans(t *testing.T) {
	for _, test := range []struct {
		outer, inner string
		shared       bool
		count        int
		want         string // tags of subscribers 0, 1, 2 and the last
	}{
		{"", "", false, 5, "none none none none"},
		{"100", "", false, 5, "100 100 100 100"},
		{"100-101", "", false, 4, "100 101 100 101"},
		{"100-103", "1-4000", false, 16000, "100.1 100.2 100.3 103.4000"},
		{"7", "1-2", true, 4, "7.1 7.2 7.1 7.2"},
	} {
		p, err := newVLANPlan(frame.TypeVLAN, test.outer, test.inner, test.shared, test.count)
		var got []string
		for _, i := range []int{0, 1, 2, test.count - 1} {
			got = append(got, p.tags(i).String())
		}
		if strings.Join(got, " ") != test.want || err != nil {
			t.Errorf("%q and %q: %v, %v", test.outer, test.inner, got, err)
		}
	}
}

func TestVLANPairsAreDistinct(t *testing.T) {
	p, err := newVLANPlan(frame.TypeProvider, "10-12", "5-9", false, 15)
	seen := map[frame.Tags]bool{}
	for i := range 15 {
		seen[p.tags(i)] = true
	}
	if len(seen) != 15 || err != nil {
		t.Errorf("%d pairs, %v", len(seen), err)
	}
}

func TestOptionsThatAreRefused(t *testing.T) {
	inet := "--internet c --internet-address 198.51.100.2/24 --gateway 198.51.100.1 "
	for arguments, want := range map[string]string{
		"--count 1":                                        "--interface is missing",
		"--interface :a":                                   "want DEV or NAMESPACE:DEV",
		"--interface a extra":                              `"extra" is not an option`,
		"--interface a --count 0":                          "--count 0",
		"--interface a --auth eap":                         "want pap, chap or any",
		"--interface a --mac-base 01:00:00:00:00:00":       "unicast",
		"--interface a --svlan 0-5":                        "VLAN range",
		"--interface a --cvlan 5":                          "needs an S-VLAN",
		"--interface a --svlan 1 --outer-tpid 0x1234":      "outer TPID 0x1234",
		"--interface a --svlan 1 --cvlan 1 --count 2":      "1 VLAN pairs for 2 subscribers",
		"--interface a --gateway 1.2.3.4":                  "need --internet",
		"--interface a --internet b":                       "--internet-address",
		"--interface a " + inet + "--gateway 10.0.0.1":     "inside 198.51.100.0/24",
		"--interface a --size 55":                          "want 56 to 9000",
		"--interface a --size 1500":                        "more than --mru 1492",
		"--interface a --mru 9000":                         "want 576 to 8992",
		"--interface a --max-loss 101":                     "0 to 100",
		"--interface a --traffic 5":                        "needs --internet",
		"--interface a --script up;dance":                  "no such step; there are up, traffic",
		"--interface a --script hold":                      "DURATION|forever is missing; usage: hold",
		"--interface a --script silence:0":                 "no such step",
		"--interface a --script ;":                         "no step",
		"--interface a --script up --hold 5s":              "not to --script",
		"--interface a --no-such-option":                   "not defined",
		"--interface a --user " + strings.Repeat("x", 256): "at most 255 bytes",
	} {
		_, err := parseOptions(&pppoeKind, strings.Fields(arguments), io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", arguments, err, want)
		}
	}
}

func TestScript(t *testing.T) {
	steps, err := parseScript("up; traffic 20000 60s down;\n silence 200; hold forever; report /tmp/x")
	if err != nil || len(steps) != 6 || steps[5].verb.name != "down" {
		t.Fatalf("steps %v, %v", steps, err)
	}
	s := steps[1]
	if s.perSecond != 20000 || s.duration != time.Minute || s.up || !s.down {
		t.Errorf("traffic step %+v", s)
	}
	if steps[0].duration != 120*time.Second || steps[2].count != 200 || steps[4].path != "/tmp/x" {
		t.Errorf("steps %+v", steps)
	}
	for _, wrong := range []string{"up 0s", "up soon", "traffic -1 5s", "traffic NaN 5s", "traffic 1 5s sideways", "silence 0", "silence 1 2", "hold -1s"} {
		if _, err := parseScript(wrong); err == nil {
			t.Errorf("%q was accepted", wrong)
		}
	}
}

func TestDeviceNames(t *testing.T) {
	for s, want := range map[string]device{
		"eth0":              {"", "eth0"},
		"acc:access0":       {"/run/netns/acc", "access0"},
		"/proc/7/ns/net:e0": {"/proc/7/ns/net", "e0"},
	} {
		if got, err := parseDevice(s); got != want || err != nil {
			t.Errorf("%q: %+v, %v", s, got, err)
		}
	}
}

func TestTimersComeInOrder(t *testing.T) {
	q := newTimers(5)
	for i, d := range []time.Duration{50, 20, 40, 10, 30} {
		q.set(uint32(i), d)
	}
	q.set(1, 0)
	q.set(2, 5)
	q.set(1, 0)
	var got []uint32
	for {
		i, ok := q.due(45)
		if !ok {
			break
		}
		got = append(got, i)
	}
	if len(got) != 3 || got[0] != 2 || got[1] != 3 || got[2] != 4 || q.next() != 50 {
		t.Errorf("order %v, next %d", got, q.next())
	}
}
