// Package acct delivers accounting records: in order, for as long as it takes, and never loses one in
// silence.
//
//	Account --> [inbox] --> account: the records of one session, oldest first
//	                           |  ready queue (one record of a session at a time)
//	                           v
//	                        window --> Sink (RADIUS) --> taken: the session's next record
//	                           ^                     \-> unanswered: again, later
//	                           |__ patience: 24 h, then the record is written to the log whole
//
// Order: a session's Interim waits for its Start, its Stop for both; an Interim that has not been sent
// when a newer record comes is superseded. An Accounting-On is told before anything that came after it,
// an Accounting-Off after everything that came before it.
//
// Outage: each group of servers has a lane. When deliveries of a lane fail and none has succeeded meanwhile, the
// lane is down. Then a single record at a time is tried, until one is taken; then everything flows again. A
// record that fails while others succeed is put aside by itself with growing pauses. Accounting-On holds up all
// lanes, for groups may share servers.
//
// Time: ages and pauses are differences of the process's monotonic clock, so a step of the wall clock moves
// nothing. Only the record's own Time is wall clock: Event-Timestamp says it, and Acct-Delay-Time is what passed
// since then, by the monotonic clock for a record of this process and by the wall clock, at least 0, for one that
// an earlier process had stored. The patience with such a record begins anew.
//
// Restart: an accepted record lies in the Store until it has ended. The next accountant gets what is left
// there as Kept and goes on with it; a server that had taken one without our knowing hears it twice.
//
// RFC 2866 (5.2: the delay of a late record is told by Acct-Delay-Time, made by the sink).
//
// Reading order: accountant.go (what callers see), account.go (a session's records), dispatch.go.
package acct
