// Package shell is an operator's session with the router: modes, configuration lines, commands, help
// and completion. It reads lines and answers text; terminals and sockets are others' business, so a
// test needs neither.
//
//	text --line.Split, line.Match--> tokens --+-- a command: oper.Command.Run, rendered, filtered
//	                                          +-- configuration: a config.Change of the candidate
//
// Every session has a candidate of its own. It begins to differ from the running configuration with
// the first edit, outlives leaving configuration mode, and ends with commit, abort or the session.
//
// Text that is loaded ("load merge terminal") comes line by line, too; until its end no line is a command.
//
// Reading order: session.go, modes.go, run.go, stream.go, configure.go, builtin.go, commit.go, load.go, complete.go.
package shell
