package bgp

import (
	"io"
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"vbng/control/clock"
	"vbng/forwarding/entry"
	"vbng/routing/rib"
)

type noRoutes struct{}

func (noRoutes) UpdateBGP(entry.VRFID, []rib.Path, []netip.Prefix)   {}
func (noRoutes) FlushBGP(entry.VRFID)                                {}
func (noRoutes) Watch(entry.VRFID, func(rib.Announce)) (stop func()) { return func() {} }
func (noRoutes) ID(string) entry.VRFID                               { return 0 }

func needs() *Needs {
	return &Needs{Clock: clock.NewFake(time.Unix(0, 0)), Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Routes: noRoutes{}, VRFs: noRoutes{},
		Device: func(entry.VRFID) string { return "" }}
}

// within fails the test when a channel is not closed in time.
func within(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(10 * time.Second):
		t.Fatal(what)
	}
}

// Whoever waits for BGP to settle is answered when BGP is taken away, whatever was still to be told to the RIB.
func TestRemovedSpeakerAnswersWhoWaits(t *testing.T) {
	for range 50 {
		start := make(chan struct{})
		s := newSpeaker("", needs(), true, start)
		settled := make(chan struct{})
		s.loop.Post(learnt{0, []learned{{prefix: netip.MustParsePrefix("192.0.2.0/24")}}})
		s.loop.Post(settle{func() { close(settled) }})
		s.loop.Post(remove{})
		close(start)
		within(t, settled, "not answered")
		within(t, s.ended, "not ended")
	}
}

func TestWhatTheBoundaryComesToRefuseIsWithdrawn(t *testing.T) {
	kept, gone := netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("192.0.2.1/32")
	s := speaker{installed: map[netip.Prefix]struct{}{kept: {}, gone: {}}, pending: map[netip.Prefix][]nextHop{}}
	s.replaceLearned(map[netip.Prefix][]nextHop{kept: {{addr: netip.MustParseAddr("198.51.100.1")}}})
	if hops, told := s.pending[gone]; !told || len(hops) != 0 || len(s.pending[kept]) != 1 {
		t.Errorf("pending %v", s.pending)
	}
}
