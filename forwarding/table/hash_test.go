package table

import (
	"math/rand"
	"testing"

	"vbng/forwarding/packet"
)

// TestHashAgainstMap does random operations on a small and crowded key space, so that buckets overflow
// and keys lie far from home.
func TestHashAgainstMap(t *testing.T) {
	for seed := int64(1); seed <= 4; seed++ {
		r := rand.New(rand.NewSource(seed))
		h, err := NewHash(300, uint64(seed))
		if err != nil {
			t.Fatal(err)
		}
		model := map[Key]uint32{}
		for step := range 40_000 {
			k := Key{Low: 1 + uint64(r.Intn(400)), High: uint64(r.Intn(2))<<39 | uint64(r.Intn(2))}
			value, there := model[k]
			switch got, ok := h.Find(k); {
			case ok != there || got != value:
				t.Fatalf("step %d: find %v: %d %v, want %d %v", step, k, got, ok, value, there)
			case there && r.Intn(2) == 0:
				if !h.Delete(k) {
					t.Fatalf("step %d: %v not deleted", step, k)
				}
				delete(model, k)
			case !there && r.Intn(3) > 0:
				want := len(model) < 300
				value = uint32(r.Intn(MaxValue))
				if ok := h.Insert(k, value); ok && !want || !ok && want && len(h.resting) == 0 {
					t.Fatalf("step %d: insert of key %d: %v", step, len(model)+1, ok)
				} else if ok {
					model[k] = value
				}
			}
			if r.Intn(50) == 0 {
				h.Reclaim()
			}
			if h.Len() != len(model) {
				t.Fatalf("step %d: %d keys, want %d", step, h.Len(), len(model))
			}
		}
		compareVector(t, h, model, r)
	}
}

func compareVector(t *testing.T, h *Hash, model map[Key]uint32, r *rand.Rand) {
	t.Helper()
	c, l := &packet.Columns{}, &packet.List{}
	var out [packet.VectorSize]uint32
	for range 50 {
		l.All(packet.VectorSize)
		for i := range packet.VectorSize {
			c.KeyLow[i], c.Access[i] = 1+uint64(r.Intn(400)), uint64(r.Intn(2))<<39|uint64(r.Intn(2))
		}
		h.Prepare(c, l)
		h.FindAll(c, l, &out)
		for i := range packet.VectorSize {
			want, there := model[Key{c.KeyLow[i], c.Access[i]}]
			if !there {
				want = packet.None
			}
			if out[i] != want {
				t.Fatalf("vector lookup of %x %x: %d, want %d", c.KeyLow[i], c.Access[i], out[i], want)
			}
		}
	}
}

// TestHashPlaceRests checks that the place of a deleted key is not taken before Reclaim: a reader that
// still looks at it would see the old key with the new value.
func TestHashPlaceRests(t *testing.T) {
	h, _ := NewHash(4, 1)
	k := Key{Low: 7, High: 3}
	h.Insert(k, 1)
	_, place := h.find(k)
	h.Delete(k)
	h.Insert(k, 2)
	if _, again := h.find(k); again == place {
		t.Fatal("the place was used again at once")
	}
	h.Delete(k)
	h.Reclaim()
	h.Insert(k, 3)
	if _, again := h.find(k); again != place {
		t.Fatal("the place was not used again after Reclaim")
	}
}

func TestHashFullHoldsItsCapacity(t *testing.T) {
	h, _ := NewHash(1000, 5)
	for i := range uint64(1000) {
		if !h.Insert(Key{Low: i + 1}, uint32(i)) {
			t.Fatalf("key %d refused", i)
		}
	}
	if h.Insert(Key{Low: 5000}, 0) {
		t.Fatal("one over the capacity accepted")
	}
}

func TestAccessRoundTrip(t *testing.T) {
	for _, tpid := range []uint16{0, 0x8100, 0x88a8, 0x9100} {
		tags, ok := Tags(tpid, 4094, 17)
		a := AccessPort(MaxPort) | tags
		if !ok || a.Port() != MaxPort || a.OuterTPID() != tpid || a.OuterVLAN() != 4094 || a.InnerVLAN() != 17 {
			t.Errorf("tpid %04x: %x", tpid, a)
		}
		if uint64(a) > keyHighMask {
			t.Errorf("tpid %04x: %x does not fit the key", tpid, a)
		}
	}
	if _, ok := Tags(0x9200, 1, 1); ok {
		t.Error("unknown TPID accepted")
	}
}
