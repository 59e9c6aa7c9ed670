package forwarding

import (
	"bytes"
	"testing"

	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
)

// copied returns the copies that went up, in their order; what else went up is left out.
func (r *rig) copied() (copies []entry.Punt) {
	for {
		p, ok := r.punted()
		if !ok {
			return copies
		}
		if p.Class == entry.ClassCapture {
			p.Data = bytes.Clone(p.Data)
			copies = append(copies, p)
		}
	}
}

func captureRig(t *testing.T) (*rig, entry.Session, entry.Session) {
	r := newRig(t).base()
	r.e.workers[0].Tapping.UnixNanos = func() int64 { return r.now }
	a, b := subscriber(1, 0x88a8, 100, 7), subscriber(2, 0x88a8, 100, 7)
	b.PeerMAC = a.PeerMAC // two sessions of one client
	return r, r.subscribe(a), r.subscribe(b)
}

func (r *rig) fromCore(s entry.Session) []byte {
	return etherFrame(coreMAC, routerMAC, wire.TypeIPv4, ipPacket(farIP, s.IPv4, 64, 10))
}

func TestCaptureOfASession(t *testing.T) {
	r, a, b := captureRig(t)
	r.put(entry.Capture{ID: 9, Session: a.ID, Packets: 10, SnapBytes: 40})
	up := pppoeFrame(a, wire.ProtocolIPv4, ipPacket(a.IPv4, farIP, 64, 10))
	r.through(accessPort, up, corePort)
	r.through(accessPort, pppoeFrame(b, wire.ProtocolIPv4, ipPacket(b.IPv4, farIP, 64, 10)), corePort)
	down := r.through(corePort, r.fromCore(a), accessPort)
	r.through(corePort, r.fromCore(b), accessPort)
	lcp := pppoeFrame(a, wire.ProtocolLCP, []byte{1, 1, 0, 4}) // punted
	r.through(accessPort, lcp, corePort)
	reply := bytes.Clone(lcp)
	copy(reply[0:6], a.PeerMAC[:])
	copy(reply[6:12], a.OwnMAC[:])
	r.inject.Push(&entry.Punt{Port: accessPort, Data: reply})
	r.round()

	got := r.copied()
	want := []struct {
		frame  []byte
		output bool
	}{{up, false}, {down, true}, {lcp, false}, {reply, true}}
	if len(got) != len(want) {
		t.Fatalf("%d copies, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if !bytes.Equal(g.Data, w.frame[:min(40, len(w.frame))]) || g.Length != len(w.frame) || g.Output != w.output ||
			g.Capture != 9 || g.Port != accessPort || g.Lost != 0 || g.UnixNanos != r.now || g.InnerVLAN != 7 {
			t.Errorf("copy %d: %+v, want %x", i, g, w.frame)
		}
	}
}

func TestCaptureEndsAndWaits(t *testing.T) {
	r, a, _ := captureRig(t)
	up := pppoeFrame(a, wire.ProtocolIPv4, ipPacket(a.IPv4, farIP, 64, 10))
	r.put(entry.Capture{ID: 1, Port: accessPort, Packets: 2, SnapBytes: 2000}, entry.Capture{ID: 2, Session: 77, Packets: 5, SnapBytes: 60})
	for range 4 {
		r.through(accessPort, up, corePort)
	}
	if n := len(r.copied()); n != 2 {
		t.Errorf("%d copies of 2", n)
	}
	r.put(entry.Capture{ID: 1, Port: accessPort, Packets: 2, SnapBytes: 2000}) // equal: has had its copies
	r.through(accessPort, up, corePort)
	if n := len(r.copied()); n != 0 {
		t.Errorf("%d copies after the last", n)
	}
	// A session that comes later is captured from then on, and may go while it is.
	late := subscriber(5, 0, 0, 0)
	late.ID = 77
	r.subscribe(late)
	r.through(accessPort, pppoeFrame(late, wire.ProtocolIPv4, ipPacket(late.IPv4, farIP, 64, 10)), corePort)
	if n := len(r.copied()); n != 1 {
		t.Errorf("%d copies of a late session", n)
	}
	var gone entry.Batch
	gone.Delete(sessionRoute(late), late)
	if a := r.e.Apply(encode(&gone)); a.Refused != nil {
		t.Fatal(a.Refused)
	}
	r.through(accessPort, pppoeFrame(late, wire.ProtocolIPv4, ipPacket(late.IPv4, farIP, 64, 10)), corePort)
	if n := len(r.copied()); n != 0 {
		t.Errorf("%d copies of a session that is gone", n)
	}
}

func TestCaptureOfAnInterface(t *testing.T) {
	r, a, _ := captureRig(t)
	r.put(entry.Capture{ID: 3, Interface: vlanInterface, Packets: 9, SnapBytes: 100},
		entry.Interface{ID: vlanInterface, Port: accessPort, OuterTPID: 0x8100, OuterVLAN: 20, VRF: defaultVRF})
	tagged := make([]byte, 60)
	wire.PutTagged(tagged, accessMAC, routerMAC, 0x8100, 20, 0, wire.TypeARP)
	r.through(accessPort, tagged, corePort)
	r.through(accessPort, pppoeFrame(a, wire.ProtocolIPv4, ipPacket(a.IPv4, farIP, 64, 10)), corePort)
	if got := r.copied(); len(got) != 1 || !bytes.Equal(got[0].Data, tagged) {
		t.Errorf("copies %+v", got)
	}
}

// A capture takes a part of the ring only, and says what it lost.
func TestCaptureLeavesRoomInTheRing(t *testing.T) {
	r, a, _ := captureRig(t)
	r.put(entry.Capture{ID: 1, Port: accessPort, Packets: 10_000, SnapBytes: 1500})
	up := pppoeFrame(a, wire.ProtocolIPv4, ipPacket(a.IPv4, farIP, 64, 1000))
	for range 100 {
		r.through(accessPort, up, corePort)
	}
	lost := r.word("capture/ring-full")
	if lost == 0 || r.punts.Lost() != lost || r.word("capture/frames")+lost != 100 {
		t.Errorf("%d lost to the ring, %d up", lost, r.word("capture/frames"))
	}
	r.dropped(accessPort, pppoeFrame(subscriber(9, 0, 0, 0), wire.ProtocolLCP, []byte{1, 1, 0, 4}), "punt/packets") // has room
	r.copied()
	r.through(accessPort, up, corePort)
	if got := r.copied(); len(got) != 1 || uint64(got[0].Lost) != lost+1 && uint64(got[0].Lost) != lost {
		t.Errorf("told %+v, lost %d", got, lost)
	}
	r.now += 1e9
	r.balanced()
}

func TestCaptureIsSweptAndUndone(t *testing.T) {
	r, a, _ := captureRig(t)
	r.e.Begin(1)
	r.put(entry.Capture{ID: 1, Port: accessPort, Packets: 100, SnapBytes: 60})
	var bad entry.Batch
	bad.Put(entry.Capture{ID: 1, Port: corePort, Packets: 1, SnapBytes: 1}, entry.Capture{ID: 2, Port: corePort, Packets: 1, SnapBytes: 1},
		entry.Capture{ID: 3, Port: tunPort, Packets: 1, SnapBytes: 1})
	if r.e.Apply(encode(&bad)).Refused == nil {
		t.Fatal("a port without Ethernet was taken")
	}
	if d := r.e.directory; len(d.captures) != 1 || d.captures[1].entry.Port != accessPort {
		t.Errorf("captures %v", d.captures)
	}
	for id := range entry.CaptureID(maxCaptures) {
		var b entry.Batch
		b.Put(entry.Capture{ID: id + 1, Port: accessPort, Packets: 100, SnapBytes: 60})
		if refused := r.e.Apply(encode(&b)).Refused; refused != nil {
			t.Fatal(refused)
		}
	}
	var more entry.Batch
	more.Put(entry.Capture{ID: 99, Port: accessPort, Packets: 100, SnapBytes: 60})
	if r.e.Apply(encode(&more)).Refused == nil {
		t.Error("no limit")
	}
	r.e.Begin(2)
	r.e.Sweep(2)
	if n := len(r.e.directory.captures); n != 0 {
		t.Errorf("%d captures left", n)
	}
	r.through(accessPort, pppoeFrame(a, wire.ProtocolIPv4, ipPacket(a.IPv4, farIP, 64, 10)), corePort)
	if n := len(r.copied()); n != 0 {
		t.Errorf("%d copies of a swept capture", n)
	}
}

func TestCaptureAllocatesNothing(t *testing.T) {
	r, a, _ := captureRig(t)
	r.put(entry.Capture{ID: 1, Session: a.ID, Packets: 1 << 30, SnapBytes: 100})
	up := pppoeFrame(a, wire.ProtocolIPv4, ipPacket(a.IPv4, farIP, 64, 10))
	var p entry.Punt
	buffer := make([]byte, 0, 2000)
	if n := testing.AllocsPerRun(100, func() {
		r.ports[accessPort].Send(up)
		r.round()
		r.punts.Pop(&p, nil)
		r.ports[corePort].Take(buffer)
	}); n != 0 {
		t.Errorf("%v allocations a packet", n)
	}
}
