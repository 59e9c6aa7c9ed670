package node

import (
	"vbng/forwarding/graph"
	"vbng/forwarding/packet"
)

// routerOrigin takes what nodes have made: ICMP errors and fragments (graph.Worker.MakePacket). Like packets of the
// host stack they have no receiving interface and keep their TTL; the VRF came with them.
func routerOrigin() graph.Spec {
	return graph.Spec{
		Name:    RouterOrigin,
		Edges:   []string{nameIP4, nameIP6},
		Process: routerOriginProcess,
	}
}

func routerOriginProcess(w *graph.Worker, n *graph.Node, l *packet.List) {
	c, memory := &w.Packets, w.Arena.Memory
	c.Session, c.Interface = noneColumn, noneColumn
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		c.Flags[i], c.Access[i] = packet.FlagLocalOrigin|packet.FlagMade, 0
		w.Send(n, originEdge(memory[c.Offset[i]]>>4), slot)
	}
}
