package sessions

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"vbng/aaa"
	"vbng/forwarding/entry"
)

// TestChurnDual is TestChurn for both kinds of access and both families, with restarts of control.
func TestChurnDual(t *testing.T) {
	for seed := range uint64(churnSeeds) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { churnDual(t, seed) })
	}
}

func churnDual(t *testing.T, seed uint64) {
	const stations, steps = 40, 40000
	text := dualConfig + "!\nip pool small\n range 10.9.0.1 10.9.0.5\n!\nipv6 pool few\n prefix 2001:db8:9::/62 length 64\n"
	w := newWorld(t, text)
	w.random = rand.New(rand.NewPCG(seed, seed+1))
	w.refuseProgram, w.refuseRoute = 0.02, 0.05
	w.authorize = w.moodyDual
	all := make([]*station, stations)
	for i := range all {
		if i%2 == 0 {
			all[i] = w.overPPP(i)
			all[i].ppp.loss = 0.02
		} else {
			all[i] = w.station(i)
		}
	}
	for n := range steps {
		w.stirDual(all)
		w.drain()
		if n%10000 == 5000 {
			w.newForwarder() // the one that stays sweeps what the new control does not know; this world has no sweep
			w.crash(text)
		}
	}
	starts := 0
	for _, r := range w.records {
		if r.Type == aaa.Start {
			starts++
		}
	}
	if starts < 100 {
		t.Errorf("only %d sessions came up: the test tests little", starts)
	}
	for cause := range w.m.stats.failures {
		if _, known := meanings[cause]; !known {
			t.Errorf("cause %q has no meaning", cause)
		}
	}
	w.run("clear subscriber", map[string]string{"all": "true"})
	for range 200 {
		w.settleWith()
		w.clock.Advance(time.Second)
	}
	for range 3 { // addresses that were declined rest
		w.clock.Advance(declineTime)
		w.settleWith()
	}
	w.clean()
	t.Logf("%d up, failed %v, ended %v, not given %v", w.m.stats.established.Load(), w.m.stats.failures, w.m.stats.ends,
		w.m.stats.withheldSlots)
}

// stirDual lets one thing happen, by chance.
func (w *world) stirDual(all []*station) {
	r := w.random
	s := all[r.IntN(len(all))]
	switch n := r.IntN(1000); {
	case n < 400 && len(w.frames) > 0:
		frame := w.frames[0]
		w.frames = w.frames[1:]
		for _, each := range all {
			each.receive(frame)
		}
	case n < 600 && len(w.programming) > 0:
		w.answerProgrammer()
	case n < 800 && len(w.others) > 0:
		w.answerOther(r.IntN(len(w.others)))
	case n < 840:
		w.clock.Advance(time.Duration(r.IntN(400)) * time.Millisecond)
	case n < 841:
		w.clock.Advance(time.Duration(r.IntN(400)) * time.Second)
	case s.ppp != nil && n < 900:
		if s.ppp.session == 0 || r.IntN(20) == 0 {
			s.ppp.dial()
		}
	case s.ppp == nil && n < 880:
		s.discover()
	case s.ppp == nil && n < 900 && s.address.IsValid() && s.server.IsValid():
		s.request()
	case n < 920:
		s.solicit()
	case n < 950 && s.server6 != nil:
		s.request6([]byte{3, 3, 3, 5, 8, 9}[r.IntN(6)])
	case n < 960:
		s.solicitRouter()
	case s.ppp == nil && n < 964 && s.address.IsValid() && s.server.IsValid():
		s.say4(cRELEASE, s.address, s.server, option(54, s.server.AsSlice()))
	case s.ppp == nil && n < 966 && s.address.IsValid() && s.server.IsValid():
		s.say4(cDECLINE, netip.Addr{}, everybody, option(50, s.address.AsSlice()), option(54, s.server.AsSlice()))
	case s.ppp != nil && n < 966:
		s.ppp.discover(0xa7, s.ppp.session|1, nil)
	case n < 970:
		if session := s.session(); session != nil {
			w.m.loop.Post(closing{ids: []entry.SessionID{session.id}, cause: CauseCleared})
		}
	}
	if session := s.session(); session != nil {
		w.counters[session.id] = entry.SessionCounters{InputBytes: w.counters[session.id].InputBytes + 1}
	}
}

func (w *world) moodyDual(aaa.Request) aaa.Answer {
	grant := &aaa.Grant{Source: "moody"}
	switch w.random.IntN(16) {
	case 0:
		return aaa.Answer{Reject: &aaa.Reject{Cause: aaa.BadCredentials, Message: "no"}}
	case 1:
		grant.Address = addr("203.0.113.1")
	case 2:
		grant.Pool = "small"
	case 3:
		grant.Pool = "nowhere"
	case 4:
		grant.Address6 = addr("2001:db8:ffff::1")
	case 5:
		grant.Delegated = netip.MustParsePrefix("2001:db8:7000::/52")
	case 6:
		grant.Prefix = netip.MustParsePrefix("2001:db8:7000:7::/64")
	case 7:
		grant.PrefixPool = "few"
	case 8:
		grant.DelegatedPool, grant.Pool6 = "nowhere", "nowhere"
	case 9:
		grant.SessionTimeout = 20 * time.Second
	}
	return aaa.Answer{Grant: grant}
}
