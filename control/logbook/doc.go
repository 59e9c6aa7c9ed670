// Package logbook is where the process's log goes: to standard error as lines of text, to a bounded buffer that
// operators look at, and to syslog servers.
//
//	slog --Handler--> one line --+--> standard error
//	                             +--> ring (the last N, "show logging")
//	                             +--> a queue per server --> sender (UDP or TCP), dropped and counted when full
//
// A server that does not take messages holds nobody up. What goes to all three has passed one level; a server may ask
// for more severe messages only.
//
// RFC 5424 (the message), RFC 5426 (UDP), RFC 6587 3.4.1 (TCP, octet counting).
//
// Reading order: book.go, ring.go, host.go, syslog.go.
package logbook
