// Package graph runs nodes over packets. A node is a plain function over a list of packets; it ends the
// way of each one: sends it along an edge to a later node, or drops it for a reason that has a name and a
// counter. Nothing flows back, so one pass over the nodes in their order finishes what a port brought.
//
//	port --> Columns (up to 64 packets) --> list of node 0 --> list of node 3 --> ... --> port
//	                                                  \--> drop (reason counted, buffer back)
//
// An arc is a place between nodes where others may stand, in the order of its named slots. An edge that
// names an arc leads to its first member; a member's edge Continue leads to the next one, and the last
// one's to the arc's end.
//
// A graph belongs to one worker, so nodes may keep state of their own without locks. Nodes do not
// allocate, block, or return errors.
//
// Reading order: spec.go (what a node declares), build.go (how edges are joined), worker.go (how it runs),
// port.go, trace.go.
package graph
