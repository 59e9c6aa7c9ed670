// Package commit turns a candidate configuration into the running one, whole or not at all.
//
//	startup file or seed --Start--> running --Candidate--> edits --Commit--> running'
//	                                                         |
//	   whole-tree checks, Check of every subsystem, Reserve in order (Release in reverse on failure),
//	   revision and startup file written, Apply in order
//
// Running and startup are always the same: a commit is on disk before it acts. Commits are serialised.
// A candidate that was begun on an older revision is moved to the newest one at commit by replaying
// its edits; where others changed the same things the commit stops and says so.
//
// At start nothing stops the router: a line that cannot be used is left out, reported, and kept for
// "show configuration failed".
//
// Reading order: subsystem.go, manager.go, start.go, candidate.go, revision.go.
package commit
