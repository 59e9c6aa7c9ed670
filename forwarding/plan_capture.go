package forwarding

import (
	"fmt"

	"vbng/forwarding/entry"
	"vbng/forwarding/graph"
	"vbng/forwarding/table"
)

// maxCaptures bounds what a frame of a captured port is compared with.
const maxCaptures = 32

// captureInfo is a capture. It refers to a port, an interface or a session by its key, and holds none of them: while
// it is not there, nothing is captured.
type captureInfo struct {
	entry      entry.Capture
	generation uint64
	state      *graph.TapState // the worker's, once published
}

func (e *Engine) planCapture(x *entry.Capture, s *step) string {
	d := e.directory
	c, there := d.captures[x.ID]
	switch {
	case !there && len(d.captures) == maxCaptures:
		return fmt.Sprintf("limit of %d captures is reached", maxCaptures)
	case x.Port != 0 && d.ports[x.Port] != nil && d.ports[x.Port].entry.Driver == entry.DriverTUN:
		return fmt.Sprintf("capture %d: port %d has no Ethernet", x.ID, x.Port)
	}
	next := &captureInfo{entry: *x, generation: d.generation}
	s.action = add
	if there {
		s.action = differs(c.entry != *x)
	}
	if s.action == keep {
		next.state = c.state
	} else { // another content begins to count anew
		next.state = &graph.TapState{ID: x.ID, Snap: uint32(x.SnapBytes), Left: x.Packets}
	}
	id := x.ID // x is read into again
	d.captures[id] = next
	s.undo = func() { d.restoreCapture(id, c) }
	return ""
}

func (e *Engine) planCaptureGone(x *entry.Capture, s *step) string {
	d := e.directory
	c, there := d.captures[x.ID]
	if !there {
		return fmt.Sprintf("capture %d is not there", x.ID)
	}
	id := x.ID
	delete(d.captures, id)
	s.action = remove
	s.undo = func() { d.restoreCapture(id, c) }
	return ""
}

func (d *directory) restoreCapture(id entry.CaptureID, c *captureInfo) {
	if c == nil {
		delete(d.captures, id)
	} else {
		d.captures[id] = c
	}
}

// tap gives a port the captures of its frames.
func (e *Engine) tap(g *graph.Port) {
	for _, c := range e.directory.captures {
		if t, ok := e.compileTap(c, g); ok {
			g.Taps = append(g.Taps, t)
		}
	}
}

// compileTap says which frames of a port a capture is after, if any.
func (e *Engine) compileTap(c *captureInfo, g *graph.Port) (*graph.Tap, bool) {
	d, t := e.directory, &graph.Tap{TapState: c.state}
	switch {
	case g.L3:
		return nil, false
	case c.entry.Port != 0:
		return t, c.entry.Port == g.ID
	case c.entry.Interface != 0:
		i := d.interfaces[c.entry.Interface]
		if i == nil || i.port != g.Slot {
			return nil, false
		}
		t.Tagged, t.TPID, t.Outer, t.Inner = true, i.entry.OuterTPID, i.entry.OuterVLAN, i.entry.InnerVLAN
		return t, true
	}
	slot, there := d.session(c.entry.Session)
	if !there || d.sessions[slot].port != g.Slot {
		return nil, false
	}
	key := d.sessions[slot].key
	access := table.Access(key.High)
	t.Tagged, t.TPID, t.Outer, t.Inner = true, access.OuterTPID(), access.OuterVLAN(), access.InnerVLAN()
	t.HasPeer, t.Peer, t.PPPoE = true, table.UnpackMAC(key.Low>>16), uint16(key.Low)
	return t, true
}

// retap tells the workers that a captured session came, moved or went.
func (e *Engine) retap(id entry.SessionID) {
	for _, c := range e.directory.captures {
		if c.entry.Session == id {
			e.publishPorts()
			return
		}
	}
}

// retapInterface is retap of an interface.
func (e *Engine) retapInterface(id entry.InterfaceID) {
	for _, c := range e.directory.captures {
		if c.entry.Interface == id {
			e.publishPorts()
			return
		}
	}
}
