package counter

import (
	"testing"

	"vbng/forwarding/entry"
)

func TestCountersAddUpAndKeepApart(t *testing.T) {
	l := Layout{Workers: 2, Sessions: 3, Ports: 2, Words: 5}
	memory := make([]byte, Size(l))
	c, err := Map(memory, l)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		w := c.Worker(i)
		w.Input(1, 100)
		w.Output(2, 50)
		w.Output(2, 50)
		w.Add(4, 7)
		w.SetPort(uint32(i), entry.PortCounters{InputPackets: 9, OutputDrops: 3})
	}
	other, err := Map(memory, l) // as another process would
	if err != nil {
		t.Fatal(err)
	}
	if got := other.Session(1); got != (entry.SessionCounters{InputPackets: 2, InputBytes: 200}) {
		t.Errorf("session 1: %+v", got)
	}
	if got := other.Session(2); got != (entry.SessionCounters{OutputPackets: 4, OutputBytes: 200}) {
		t.Errorf("session 2: %+v", got)
	}
	if got := other.Session(0); got != (entry.SessionCounters{}) {
		t.Errorf("session 0: %+v", got)
	}
	if other.Word(4) != 14 || other.Word(3) != 0 {
		t.Errorf("words %d %d", other.Word(4), other.Word(3))
	}
	if got := other.Port(1); got != (entry.PortCounters{InputPackets: 9, OutputDrops: 3}) {
		t.Errorf("port 1: %+v", got)
	}
	c.ClearSession(2)
	if got := other.Session(2); got != (entry.SessionCounters{}) {
		t.Errorf("session 2 after clearing: %+v", got)
	}
}

func TestMapRefusesShortMemory(t *testing.T) {
	l := Layout{Workers: 1, Sessions: 1, Ports: 1, Words: 1}
	if _, err := Map(make([]byte, Size(l)-1), l); err == nil {
		t.Fatal("accepted")
	}
}

func TestCountingDoesNotAllocate(t *testing.T) {
	l := Layout{Workers: 1, Sessions: 1, Ports: 1, Words: 1}
	c, err := Map(make([]byte, Size(l)), l)
	if err != nil {
		t.Fatal(err)
	}
	w := c.Worker(0)
	if n := testing.AllocsPerRun(100, func() { w.Input(0, 1); w.Output(0, 1); w.Add(0, 1) }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}
