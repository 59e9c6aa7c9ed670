package port

import (
	"sync/atomic"

	"vbng/forwarding/entry"
)

// Drop is a named reason for which a driver drops frames, and how often it did. All of a port's drops
// together are its InputDrops and OutputDrops.
type Drop struct {
	Reason string
	Hint   string // what an operator can do about it
	Count  uint64
}

// Dropper is a port that can tell why it drops.
type Dropper interface {
	Drops() []Drop
}

// tally counts what passes a port. The receiving worker writes the input, the transmitting one the output;
// anybody reads.
type tally struct {
	inputPackets, inputBytes   atomic.Uint64
	outputPackets, outputBytes atomic.Uint64
	inputDrops, outputDrops    atomic.Uint64
}

func (t *tally) input(packets, bytes int) {
	if packets != 0 {
		t.inputPackets.Add(uint64(packets))
		t.inputBytes.Add(uint64(bytes))
	}
}

func (t *tally) output(packets, bytes int) {
	if packets != 0 {
		t.outputPackets.Add(uint64(packets))
		t.outputBytes.Add(uint64(bytes))
	}
}

func (t *tally) read() entry.PortCounters {
	return entry.PortCounters{
		InputPackets:  t.inputPackets.Load(),
		InputBytes:    t.inputBytes.Load(),
		OutputPackets: t.outputPackets.Load(),
		OutputBytes:   t.outputBytes.Load(),
		InputDrops:    t.inputDrops.Load(),
		OutputDrops:   t.outputDrops.Load(),
	}
}
