package graph

import (
	"slices"
	"strings"
	"testing"

	"vbng/forwarding/counter"
	"vbng/forwarding/packet"
)

func TestBuildRefuses(t *testing.T) {
	for want, specs := range map[string][]Spec{
		"leads back":        {{Name: "a"}, {Name: "b", Edges: []string{"a"}}},
		"is no node":        {{Name: "a", Edges: []string{"z"}}},
		"are called a":      {{Name: "a"}, {Name: "a"}},
		"counters called x": {{Name: "a", Reasons: []string{"x", "packets"}}, {Name: "b", Reasons: []string{"x", "x"}}},
		"does not exist":    {{Name: "a", Edges: []string{Continue}}, {Name: "b"}},
		"has no slot":       {{Name: "a", Edges: []string{Continue}, Arc: "arc", Slot: "third"}, {Name: "b"}},
	} {
		_, err := Build(specs, []Arc{{Name: "arc", Slots: []string{"first", "second"}, End: "b"}}, nil)
		if err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(want, "counters called x")) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// TestArcOrder has nodes join an arc against its order, and expects packets to pass them in slot order.
func TestArcOrder(t *testing.T) {
	var passed []string
	note := func(name string) Process {
		return func(w *Worker, n *Node, l *packet.List) {
			passed = append(passed, name)
			w.Pass(n, 0, l)
		}
	}
	end := func(w *Worker, n *Node, l *packet.List) {
		for _, slot := range l.Slot[:l.N] {
			w.Drop(n, 0, slot)
		}
	}
	g, err := Build([]Spec{
		{Name: "in", Edges: []string{"arc"}, Process: note("in")},
		{Name: "one", Edges: []string{Continue}, Process: note("one"), Arc: "arc", Slot: "first"},
		{Name: "three", Edges: []string{Continue}, Process: note("three"), Arc: "arc", Slot: "third"},
		{Name: "out", Process: end, Reasons: []string{"end"}},
	}, []Arc{{Name: "arc", Slots: []string{"first", "second", "third"}, End: "out"}}, []string{"mine"})
	if err != nil {
		t.Fatal(err)
	}
	layout := counter.Layout{Workers: 1, Sessions: 1, Ports: 1, Words: len(g.Words())}
	c, err := counter.Map(make([]byte, counter.Size(layout)), layout)
	if err != nil {
		t.Fatal(err)
	}
	arena := packet.NewArena(make([]byte, 8*packet.Stride), 8)
	w := NewWorker(g, 1)
	w.Count, w.Arena, w.Pool, w.Port = c.Worker(0), arena, packet.NewPool(arena, 0, 8), &Port{}
	w.Packets.N = w.Pool.TakeAll(w.Packets.Index[:3])
	w.Run(g.Node("in"))
	if want := []string{"in", "one", "three"}; !slices.Equal(passed, want) {
		t.Errorf("passed %v, want %v", passed, want)
	}
	word := func(name string) uint64 { return c.Word(slices.Index(g.Words(), name)) }
	if word("out/end") != 3 || word("three/packets") != 3 || word("in/vectors") != 1 || word("drop/packets") != 3 {
		t.Errorf("words %v", g.Words())
	}
	if w.Pool.Free() != 8 || w.alive != 0 {
		t.Errorf("%d buffers free, alive %b", w.Pool.Free(), w.alive)
	}
}
