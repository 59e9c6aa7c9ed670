// Package grammar says what may stand in a command line: operational commands with their arguments,
// and the filters behind a pipe. Lines of configuration have their own grammar in control/config; both
// are made of the same items, so one matcher completes and explains either.
//
// Reading order: command.go, argument.go, pipe.go, read.go.
package grammar
