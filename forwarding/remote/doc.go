// Package remote is the border between the two processes: the forwarder's side (Serve) and control's
// (Client, which is control's entry.Programmer and entry.Counters).
//
//	control process                             forwarder process
//	Client.Apply -> queue -> writer ==stream==> reader -> server -> Engine.Apply     (one writer)
//	     done(Result) <---- reader <==stream==    answers, port states
//	Receivers <- punts  <======= punt rings, bell =======  workers
//	Client.Inject       ======= inject rings, bells =====> workers
//	SessionCounters     <======= counters, read only ====  workers
//
// The stream is a Unix socket: length, type, body (frame.go). Rings and counters are memory files made by the
// forwarder; their descriptors travel with its Hello, so both sides hold them and either may die. The
// forwarder goes on without control. Control keeps a mirror of everything that was accepted, and
// programs a new forwarder from it: Begin(generation), the mirror, what was not answered yet, End; what the
// forwarder holds of an older generation is swept then.
//
// Reading order: frame.go and message.go (what travels), memory.go (what both map); the forwarder: serve.go,
// server.go, ports.go; control: client.go, attach.go (reaching a forwarder), work.go (programming it),
// queue.go, mirror.go, missing.go, punts.go, counters.go; local.go (both in one process), spawn.go.
package remote
