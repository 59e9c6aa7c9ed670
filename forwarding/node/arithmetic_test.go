package node

import (
	"math/rand"
	"testing"

	"vbng/forwarding/packet"
	"vbng/forwarding/wire"
)

// TestDecrementTTL compares with package wire for every checksum.
func TestDecrementTTL(t *testing.T) {
	for _, ttl := range []uint8{2, 64, 255} {
		for checksum := range 1 << 16 {
			got := [wire.IPv4Length]byte{0: 0x45, 8: ttl, 9: 17, 10: byte(checksum >> 8), 11: byte(checksum)}
			want := got
			wire.IPv4(want[:]).DecrementTTL()
			if !decrementTTL(&got) || got != want {
				t.Fatalf("TTL %d, checksum %04x: %x, want %x", ttl, checksum, got[8:12], want[8:12])
			}
		}
	}
	for _, ttl := range []uint8{0, 1} {
		b := [wire.IPv4Length]byte{8: ttl}
		if before := b; decrementTTL(&b) || b != before {
			t.Fatalf("TTL %d is not refused", ttl)
		}
	}
}

func TestChecksumOK(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 100_000 {
		var b [wire.IPv4Length]byte
		r.Read(b[:])
		b[0] = 0x45
		if r.Intn(2) == 0 {
			b[10], b[11] = 0, 0
			sum := wire.Checksum(b[:])
			b[10], b[11] = byte(sum>>8), byte(sum)
		}
		if got, want := checksumOK(&b), wire.IPv4(b[:]).ChecksumOK(); got != want {
			t.Fatalf("%x: %v, want %v", b, got, want)
		}
	}
}

// TestGleansAreBounded asks for more neighbours than are remembered, all within a second.
func TestGleansAreBounded(t *testing.T) {
	g := &gleans{}
	asked := 0
	for i := range uint32(100_000) {
		if due(g, uint64(i)+1, 5e9) {
			asked++
		}
		if due(g, uint64(i)+1, 5e9) {
			t.Fatalf("neighbour %d is due twice", i)
		}
	}
	if asked > gleanSets*gleanWays || asked < gleanSets*gleanWays/2 {
		t.Errorf("%d due", asked)
	}
	if !due(g, 1, 7e9) {
		t.Error("not due two seconds later")
	}
}

func TestGraphIsWellFormed(t *testing.T) {
	g, err := Graph([]string{"engine/mine"})
	if err != nil {
		t.Fatal(err)
	}
	if g.Node(EthernetInput) == nil || g.Node(LocalOrigin) == nil || g.Words()[g.Word("engine/mine")] != "engine/mine" {
		t.Error("a node or counter is missing")
	}
}

func due(g *gleans, key uint64, nowNanos int64) bool {
	due, _ := g.ask(key, nowNanos)
	return due
}

// TestSearchInVain asks for a neighbour each half second, stops, and begins again.
func TestSearchInVain(t *testing.T) {
	g := &gleans{}
	for half := range int64(30) {
		_, silent := g.ask(7, 5e9+half*5e8)
		if want := half >= 6; silent != want {
			t.Errorf("after %d halves of a second: silent is %v", half, silent)
		}
	}
	if _, silent := g.ask(7, 5e9+15e9+gleanForgetNanos); silent {
		t.Error("a search that was given up goes on")
	}
}

// TestErrorLimit lets many senders cause errors at once: each gets its burst and then its rate, all together the
// worker's.
func TestErrorLimit(t *testing.T) {
	count := func(e *errorLimit, senders, each int, nowNanos int64) (sent int) {
		for range each {
			for s := range senders {
				if _, ok := e.admit(packet.None, uint64(s), nowNanos); ok {
					sent++
				}
			}
		}
		return sent
	}
	e := &errorLimit{}
	if n := count(e, 1, 1000, 1e9); n != sourceErrorBurst {
		t.Errorf("%d at once to one, want %d", n, sourceErrorBurst)
	}
	sent := 0
	for ms := range int64(2000) {
		sent += count(e, 1, 3, 1e9+ms*1e6)
	}
	if sent < 2*sourceErrorsPerSecond-2 || sent > 2*sourceErrorsPerSecond+2 {
		t.Errorf("%d in two seconds to one, want %d", sent, 2*sourceErrorsPerSecond)
	}
	if n := count(e, 100_000, 2, 100e9); n != errorBurst {
		t.Errorf("%d at once to many, want %d", n, errorBurst)
	}
	if _, ok := e.admit(3, 0, 101e9); !ok {
		t.Error("none a second later")
	}
}
