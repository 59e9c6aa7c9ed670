// Package commit turns a candidate configuration into the running one, whole or not at all.
//
//	startup file or seed --Start--> running --Candidate--> edits --Commit--> running'
//	                                                         |
//	   whole-tree checks, Check of every subsystem, Reserve in order (Release in reverse on failure),
//	   revision and startup file written, Apply in order
//
// Running and startup are always the same: a commit is on disk before it acts. Commits are serialised.
// A crash at any moment leaves the startup configuration of before or the new one (crash_test.go).
//
// A commit that waits for confirmation is stored like others; what the router goes back to, and when, is
// in unconfirmed.conf, written before it. That file says for which revisions it holds: with a startup
// configuration of another number it is a leftover. The router goes back by a commit of its own, at the
// deadline, at the next start when the deadline has passed meanwhile, or on "commit cancel".
//
// A candidate that was begun on an older revision is moved to the newest one at commit by replaying
// its edits; where others changed the same things the commit stops and says so.
//
// At start nothing stops the router: a line that cannot be used is left out, reported, and kept for
// "show configuration failed". A startup configuration that is missing, empty or cannot be read is replaced
// by the newest stored revision, loudly.
//
// Reading order: subsystem.go, manager.go, confirm.go, start.go, candidate.go, archive.go, disk.go.
package commit
