// Package bench measures the forwarding engine on one core.
//
//	world     random sessions, routes and next hops, as entries and as plain values
//	model     what a frame must look like when it leaves, worked out slowly from those values
//	templates a million frames' first 64 bytes, each with the port that it must leave by
//	port      in-memory port: Receive writes fresh headers, Transmit checks and counts
//	border    the same server, codec and shared memory that stand between control and the forwarder
//
// The engine is programmed only by Apply, through the border. The clock runs from the first Receive to the
// last Transmit of a run: it includes writing each packet's headers from its template, and checking each
// packet that leaves. Every packet must leave by the port that the model names, and one in 1,024 is
// compared byte for byte. The model shares no code with the engine's tables or with package wire.
//
// Two calibrations set the result in proportion: rxtx is the same ports without an engine between them;
// memory is independent random reads of 64 bytes over 256 MB of huge pages.
//
// Reading order: world.go, model.go, templates.go, port.go, run.go, calibrate.go, main.go.
package bench
