package traffic

import (
	"bytes"
	"errors"
	"net/netip"
	"testing"
	"time"

	"vbng/cmd/vbng-sim/frame"
)

const testRun = 0xfeed

// rig sends packets of three sessions and lets a test do what a faulty router might.
type rig struct {
	t     *testing.T
	meter *Meter
	now   time.Duration
}

func newRig(t *testing.T, d Direction) *rig { return &rig{t: t, meter: NewMeter(d, IPv4, 3)} }

func (r *rig) place(session uint32) Arrival {
	a := Arrival{Session: session, Known: true,
		Src: netip.AddrFrom4([4]byte{100, 64, 0, byte(session)}), Dst: netip.AddrFrom4([4]byte{198, 51, 100, 2})}
	if r.meter.direction == Downstream {
		a.Src, a.Dst = a.Dst, a.Src
	}
	return a
}

// send makes a session's next packet, as it would look behind a correct router.
func (r *rig) send(session uint32, size int) []byte {
	at := r.place(session)
	p := Probe{Run: testRun, Session: session, Direction: r.meter.direction, Src: at.Src, Dst: at.Dst, Bytes: size}
	p.Sequence = r.meter.Next(r.now, session)
	return setTTL(p.Append(nil), arrivedTTL)
}

// setTTL writes the TTL and a fresh header checksum.
func setTTL(b []byte, ttl byte) []byte {
	b[8] = ttl
	fixHeader(b)
	return b
}

func fixHeader(b []byte) {
	b[10], b[11] = 0, 0
	var sum uint32
	for i := 0; i < 20; i += 2 {
		sum += uint32(b[i])<<8 | uint32(b[i+1])
	}
	sum = sum>>16 + sum&0xffff
	sum = ^(sum>>16 + sum)
	b[10], b[11] = byte(sum>>8), byte(sum)
}

func (r *rig) arrive(b []byte, at Arrival) Verdict {
	p, err := Parse(b, testRun)
	if errors.Is(err, ErrNotProbe) {
		r.t.Fatalf("a probe was not recognised: %x", b)
	}
	return r.meter.Arrive(r.now, at, p, err)
}

func (r *rig) want(b []byte, at Arrival, want Verdict) {
	r.t.Helper()
	if got := r.arrive(b, at); got != want {
		r.t.Errorf("judged %v, want %v", got, want)
	}
}

func TestGoodPacketsOfEverySizeAndDirection(t *testing.T) {
	for _, d := range []Direction{Upstream, Downstream} {
		r := newRig(t, d)
		for size := MinBytes; size <= MaxBytes; size += 11 {
			r.want(r.send(1, size), r.place(1), Good)
		}
		if c := r.meter.Count(); !c.Faultless() || c.Lost != 0 || c.DeadFlows != 0 || c.Sent != c.Received || c.Sent == 0 {
			t.Errorf("count %+v", c)
		}
	}
}

func TestEachChangedByteIsFound(t *testing.T) {
	r := newRig(t, Upstream)
	good := r.send(1, 100)
	for i := range good {
		b := bytes.Clone(good)
		b[i] ^= 0x01
		p, err := Parse(b, testRun)
		if err == nil {
			if v := r.meter.Arrive(0, r.place(1), p, nil); v == Good {
				t.Errorf("byte %d changed and judged good", i)
			}
		}
	}
}

// A router that damages the payload and repairs the checksums is found by the check word.
func TestARepairedPayloadIsCorrupt(t *testing.T) {
	r := newRig(t, Upstream)
	b := r.send(1, 100)
	b[90], b[92] = b[92], b[90] // same sum
	r.want(b, r.place(1), Corrupt)
}

func TestTTLMustFallByExactlyOne(t *testing.T) {
	r := newRig(t, Upstream)
	for _, ttl := range []byte{sentTTL, sentTTL - 2} {
		r.want(setTTL(r.send(1, 80), ttl), r.place(1), Corrupt)
	}
}

func TestASwappedSessionIsForeign(t *testing.T) {
	for _, d := range []Direction{Upstream, Downstream} {
		r := newRig(t, d)
		r.want(r.send(1, 80), r.place(2), Foreign)
		at := r.place(1)
		at.Known = false
		r.want(r.send(1, 80), at, Foreign)
		if c := r.meter.Count(); c.Foreign != 2 || c.Received != 0 || c.DeadFlows != 1 {
			t.Errorf("count %+v", c)
		}
	}
}

func TestThePacketOfTheOtherDirectionIsForeign(t *testing.T) {
	up, down := newRig(t, Upstream), newRig(t, Downstream)
	down.want(up.send(1, 80), down.place(1), Foreign)
}

func TestLossDuplicatesAndReordering(t *testing.T) {
	r := newRig(t, Downstream)
	var sent [][]byte
	for range 5 {
		sent = append(sent, r.send(0, 80))
	}
	at := r.place(0)
	r.want(sent[0], at, Good)
	r.want(sent[3], at, Good)
	r.want(sent[1], at, Reordered)
	r.want(sent[1], at, Duplicate)
	r.want(sent[3], at, Duplicate)
	c := r.meter.Count()
	if c.Sent != 5 || c.Received != 3 || c.Lost != 2 || c.Duplicates != 2 || c.Reordered != 1 || c.Faultless() {
		t.Errorf("count %+v", c)
	}
}

func TestADuplicateIsFoundThroughoutTheWindow(t *testing.T) {
	r := newRig(t, Upstream)
	first := r.send(0, 80)
	at := r.place(0)
	r.want(first, at, Good)
	for range windowPackets - 1 {
		r.want(r.send(0, 80), at, Good)
	}
	r.want(first, at, Duplicate)
	r.want(r.send(0, 80), at, Good)
	r.want(first, at, Late)
}

func TestAWindowThatWasJumpedHoldsNothing(t *testing.T) {
	r := newRig(t, Upstream)
	var late []byte
	for i := range 3 * windowPackets {
		b := r.send(0, 80)
		switch i {
		case 0:
			r.want(b, r.place(0), Good)
		case 3*windowPackets - 2:
			late = b
		case 3*windowPackets - 1:
			r.want(b, r.place(0), Good)
		}
	}
	r.want(late, r.place(0), Reordered)
}

func TestANumberNeverSentIsCorrupt(t *testing.T) {
	r := newRig(t, Upstream)
	at := r.place(1)
	p := Probe{Run: testRun, Session: 1, Sequence: 9, Src: at.Src, Dst: at.Dst, Bytes: 80}
	r.want(setTTL(p.Append(nil), arrivedTTL), at, Corrupt)
}

func TestPacketsOfOthersAreNotProbes(t *testing.T) {
	ip := frame.IPv4{Src: frame.Addr{1, 1, 1, 1}, Dst: frame.Addr{2, 2, 2, 2}, TTL: 63, Protocol: frame.ICMP}
	if _, err := Parse(append(frame.AppendIPv4(nil, ip, 8), make([]byte, 8)...), testRun); !errors.Is(err, ErrNotProbe) {
		t.Errorf("ICMP: %v", err)
	}
	r := newRig(t, Upstream)
	if _, err := Parse(r.send(1, 80), testRun+1); !errors.Is(err, ErrNotProbe) {
		t.Errorf("another run: %v", err)
	}
}

func TestTheLongestGapIsMeasuredWhileSending(t *testing.T) {
	r := newRig(t, Upstream)
	at := r.place(0)
	for _, ms := range []int{0, 10, 20, 270, 280} {
		r.now = time.Duration(ms) * time.Millisecond
		r.want(r.send(0, 80), at, Good)
	}
	r.meter.EndOfSending(r.now)
	r.now += time.Hour
	r.want(r.send(0, 80), at, Good)
	if got := r.meter.Count().LongestGapMS; got != 250 {
		t.Errorf("longest gap %d ms", got)
	}
}

func TestSilenceUntilTheEndIsAGap(t *testing.T) {
	r := newRig(t, Upstream)
	r.send(0, 80)
	r.meter.EndOfSending(700 * time.Millisecond)
	if got := r.meter.Count().LongestGapMS; got != 700 {
		t.Errorf("longest gap %d ms", got)
	}
}

func TestPacerKeepsTheRateAndBoundsTheBurst(t *testing.T) {
	p, total := NewPacer(0, 20000, 400), 0
	for now := time.Duration(0); now <= time.Second; now += 300 * time.Microsecond {
		total += p.Take(now, 64)
	}
	if total < 19900 || total > 20000 {
		t.Errorf("%d events in a second", total)
	}
	if n := p.Take(time.Minute, 1000); n != 400 {
		t.Errorf("%d events after a pause", n)
	}
	if n := p.Take(time.Minute, 1000); n != 0 {
		t.Errorf("%d events at the same time again", n)
	}
}

func FuzzParse(f *testing.F) {
	p := Probe{Run: testRun, Session: 1, Bytes: 80, Src: netip.IPv4Unspecified(), Dst: netip.IPv4Unspecified()}
	six := Probe{Run: testRun, Session: 1, Flow: SLAAC, Bytes: 80, Src: netip.IPv6LinkLocalAllNodes(), Dst: netip.IPv6LinkLocalAllRouters()}
	f.Add(six.Append(nil))
	f.Add(p.Append(nil))
	f.Add(setTTL(p.Append(nil), arrivedTTL))
	f.Fuzz(func(t *testing.T, b []byte) {
		m := NewMeter(Upstream, IPv4, 2)
		probe, err := Parse(b, testRun)
		if v := m.Arrive(0, Arrival{Known: true}, probe, err); v == Good {
			t.Errorf("judged good without having been sent: %x", b)
		}
	})
}
