// Package store keeps what must survive a restart of control: sessions, assigned indexes, counters
// of identifiers. It is a small face over an embedded database (bbolt), so that a cluster store can
// stand behind the same face later.
//
//	loop ── Put, Delete ──▶ pending changes ── every few ms ──▶ one transaction, one fsync
//	                        (last one of a key wins)             (writer goroutine)
//
// A loop that writes never waits for the disk. The price is a window of some milliseconds: what a
// killed process had not written is lost. Flush closes the window where that matters (identifiers
// that must never be used twice).
//
// A file that cannot be read is moved aside, loudly, and a fresh one is begun: a router that starts
// without its sessions is better than one that does not start. A file of a newer format is refused
// instead, since it is not broken.
//
// Reading order: store.go, writer.go, open.go, index.go, counter.go.
package store
