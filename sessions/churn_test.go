package sessions

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"vbng/aaa"
	"vbng/forwarding/entry"
	"vbng/sessions/ppp"
)

const (
	churnPeers = 40
	churnSteps = 50000
	churnSeeds = 3
)

// TestChurn dials and drops thousands of sessions in a world that loses frames, refuses, says no, and
// answers late and in any order. In the end nothing may be left of any of them.
func TestChurn(t *testing.T) {
	for seed := range uint64(churnSeeds) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { churn(t, seed) })
	}
}

func churn(t *testing.T, seed uint64) {
	w := newWorld(t, sampleConfig+"!\nip pool small\n range 10.9.0.1 10.9.0.5\n")
	w.random = rand.New(rand.NewPCG(seed, seed))
	w.refuseProgram, w.refuseRoute = 0.05, 0.15
	w.authorize = w.moodyAuthorizer
	peers := make([]*peer, churnPeers)
	for i := range peers {
		peers[i] = w.peer(i)
		peers[i].loss = 0.03
		peers[i].user = fmt.Sprint("user", i%7)
	}
	for range churnSteps {
		w.stir(peers)
		w.drain()
	}
	if n := w.m.stats.established.Load(); n < 120 {
		t.Fatalf("only %d sessions came up: the test tests nothing", n)
	}
	causes := len(w.m.stats.failures) + len(w.m.stats.ends)
	if causes < 12 {
		t.Errorf("only %d causes occurred: %v %v", causes, w.m.stats.failures, w.m.stats.ends)
	}
	for cause := range w.m.stats.failures {
		if _, known := meanings[cause]; !known {
			t.Errorf("cause %q has no meaning", cause)
		}
	}
	w.run("clear subscriber", map[string]string{"all": "true"})
	for range 200 { // clients do not answer any more: every timer runs out
		w.settle()
		w.clock.Advance(time.Second)
	}
	w.settle()
	w.clean()
	t.Logf("%d up, failed %v, ended %v", w.m.stats.established.Load(), w.m.stats.failures, w.m.stats.ends)
}

// stir lets one thing happen, by chance.
func (w *world) stir(peers []*peer) {
	r := w.random
	p := peers[r.IntN(len(peers))]
	switch n := r.IntN(1000); {
	case n < 450 && len(w.frames) > 0:
		frame := w.frames[0]
		w.frames = w.frames[1:]
		for _, each := range peers {
			each.receive(frame)
		}
	case n < 650 && len(w.programming) > 0:
		w.answerProgrammer()
	case n < 850 && len(w.others) > 0:
		w.answerOther(r.IntN(len(w.others)))
	case n < 880:
		w.clock.Advance(time.Duration(r.IntN(200)) * time.Millisecond)
	case n < 900:
		if p.session == 0 || r.IntN(20) == 0 {
			p.dial()
		}
	case n < 902:
		p.discover(0xa7, p.session|1, nil)
	case n < 904:
		p.ppp(0xc021, 5, 9, nil)
	case n < 906 && p.session != 0:
		p.lcpRequest()
	case n < 908:
		w.m.Event(entry.PeerSilent{Session: w.tuples[p.tuple()]})
	case n < 910:
		w.m.loop.Post(closing{ids: []entry.SessionID{w.tuples[p.tuple()]}, cause: CauseCleared})
	}
	if s := w.m.index.byTuple[p.tuple()]; s != nil {
		w.counters[s.id] = entry.SessionCounters{InputBytes: w.counters[s.id].InputBytes + 1}
	}
}

func (w *world) moodyAuthorizer(aaa.Request) aaa.Answer {
	grant := &aaa.Grant{InterimInterval: 3 * time.Second, Source: "moody"}
	switch w.random.IntN(12) {
	case 0:
		return aaa.Answer{Reject: &aaa.Reject{Cause: aaa.BadCredentials, Message: "no"}}
	case 1:
		return aaa.Answer{Reject: &aaa.Reject{Cause: aaa.NoAnswer}}
	case 2:
		grant.Address = addr("203.0.113.1")
	case 3:
		grant.Pool = "small"
	case 4:
		grant.Pool = "nowhere"
	case 5:
		grant.SessionTimeout = 5 * time.Second
	case 6:
		grant.Username = "renamed"
	}
	return aaa.Answer{Grant: grant}
}

// TestEveryCauseHasAMeaning compares the table with the constants of the packages that name causes.
func TestEveryCauseHasAMeaning(t *testing.T) {
	for _, c := range []ppp.Cause{
		ppp.CausePeerTerminated, ppp.CauseNetworkTerminated, ppp.CauseAdminClose, ppp.CauseLowerDown,
		ppp.CauseConfigureTimeout, ppp.CauseLCPRefused, ppp.CauseLoopDetected, ppp.CauseNoAuthProtocol,
		ppp.CauseAuthTimeout, ppp.CauseAuthFailed, ppp.CauseNoNetwork, ppp.CauseIPCPTimeout, ppp.CauseIPCPRefused,
		ppp.CauseRejected, ppp.CauseInternal,
	} {
		if Cause(c).Text() == string(c) {
			t.Errorf("cause %q has no meaning", c)
		}
	}
	for c := aaa.BadCredentials; c.String() != "unknown"; c++ {
		if Cause(c.String()).Text() == c.String() {
			t.Errorf("cause %q has no meaning", c)
		}
	}
	for cause, m := range meanings {
		if m.text == "" || m.terminate == 0 {
			t.Errorf("cause %q: %+v", cause, m)
		}
	}
}
