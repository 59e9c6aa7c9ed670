package node

import (
	"math/rand"
	"testing"

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
	due := 0
	for i := range uint32(100_000) {
		if g.due(uint64(i)+1, 5e9) {
			due++
		}
		if g.due(uint64(i)+1, 5e9) {
			t.Fatalf("neighbour %d is due twice", i)
		}
	}
	if due > gleanSets*gleanWays || due < gleanSets*gleanWays/2 {
		t.Errorf("%d due", due)
	}
	if !g.due(1, 7e9) {
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
