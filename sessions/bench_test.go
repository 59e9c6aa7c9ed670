package sessions

import (
	"testing"
	"time"

	"vbng/aaa"
	"vbng/control/clock"
	"vbng/forwarding/entry"
)

// BenchmarkSetup brings sessions up, from PADI to accounting Start, with a client and a world that
// answer at once; their work is in the figure, and so is that of the store.
func BenchmarkSetup(b *testing.B) {
	w := benchWorld(b)
	for i := range b.N {
		w.dialled(w.distinct(i))
		w.batches, w.requests, w.records = nil, nil, nil
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "sessions/s")
}

// BenchmarkTeardown ends them by PADT.
func BenchmarkTeardown(b *testing.B) {
	w := benchWorld(b)
	peers := make([]*peer, b.N)
	for i := range peers {
		peers[i] = w.distinct(i)
		w.dialled(peers[i])
	}
	b.ResetTimer()
	for _, p := range peers {
		p.discover(0xa7, p.session, nil)
		w.settle(p)
		w.batches, w.requests, w.records = nil, nil, nil
	}
}

// BenchmarkRestore restarts control with 10,000 sessions.
func BenchmarkRestore(b *testing.B) {
	const sessions = 10000
	w := benchWorld(b)
	for i := range sessions {
		w.dialled(w.distinct(i))
	}
	w.records = nil
	b.ResetTimer()
	for range b.N {
		begun := time.Now()
		w.start(sampleConfig)
		w.settleAll()
		b.ReportMetric(sessions/time.Since(begun).Seconds(), "sessions/s")
		if len(w.m.index.byID) != sessions {
			b.Fatalf("%d sessions", len(w.m.index.byID))
		}
	}
}

func (w *world) settleAll() {
	for len(w.programming)+len(w.others) > 0 {
		for len(w.programming) > 0 {
			w.answerProgrammer()
		}
		w.drain()
		for len(w.others) > 0 {
			w.answerOther(len(w.others) - 1)
		}
		w.drain()
	}
}

func benchWorld(b *testing.B) *world {
	w := newWorld(b, sampleConfig)
	w.ticker = clock.Real{}
	w.start(sampleConfig)
	w.grant(aaa.Grant{InterimInterval: 10 * time.Minute, SessionTimeout: 24 * time.Hour, Class: [][]byte{make([]byte, 20)}})
	return w
}

// distinct makes up to 2^24 clients, each on a VLAN pair of its own as far as there are such.
func (w *world) distinct(i int) *peer {
	p := w.peer(0)
	p.place.OuterVLAN, p.place.InnerVLAN = uint16(1+i/4000%4000), uint16(1+i%4000)
	p.mac = entry.MAC{2, 2, 0, byte(i >> 16), byte(i >> 8), byte(i)}
	return p
}
