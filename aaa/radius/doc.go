// Package radius asks RADIUS servers who a subscriber is and tells them what it used.
//
// RADIUS attributes end here: callers speak aaa.Request, aaa.Answer and aaa.Record.
//
//	Authorize, Account, Configure            the loop owns everything below this line
//	        |                    ________________________________________________________
//	        v                   |                                                        |
//	     [inbox] ---> exchange: one request until its answer; holds attempts             |
//	        ^            | pick by order, health, dead time      | timer (loop.After)    |
//	        |            v                                       v                       |
//	        |         endpoint: one port of one server; health, counters, waiting queue  |
//	        |            | identifier 0-255, oldest free first                           |
//	        |            v                                                               |
//	        |         flow: one UDP socket and its 256 identifiers                       |
//	        |____________|_______________________________________________________________|
//	     datagrams, refusals
//
// An exchange keeps the identifier of each of its attempts, at every server that it tried, until it
// ends: a late answer to an early attempt is still the answer, and an identifier in flight is never
// given out again. Access-Requests are repeated byte for byte (RFC 5080 2.2.1); an Accounting-Request
// is repeated with a new Acct-Delay-Time and so with a new identifier (RFC 2866 5.2).
//
// A server is dead after more silent timeouts in a row than it has retransmissions, if it also said
// nothing for one timeout. After its dead time one request goes to it as a probe while the others
// still go elsewhere. When all servers are dead, the one that is dead for longest is asked.
//
// A request or record names a group: an order of some of the servers, which share their health with all others. A
// server is reached in a VRF; Sockets makes the sockets there.
//
// Replies must come from the server's address and port, carry a good Response Authenticator and, to
// an Access-Request, a good Message-Authenticator (RFC 3579 3.2; the answer to the Blast-RADIUS attack,
// CVE-2024-3596); a server marked legacy may leave the latter away. What fails this is counted and
// dropped, and the request goes on waiting: a forger cannot end it.
//
// RFCs: 2865 (authentication), 2866 (accounting), 2869 and 3579 (extensions), 4603 (port types), 4679
// (ADSL-Forum), 2548 (Microsoft), 3162, 4818 and 6911 (IPv6), 5080 (retransmission).
//
// Reading order: settings.go, client.go, exchange.go, group.go, endpoint.go, flow.go, socket.go, packet.go (integrity),
// then the attributes: identity.go, access.go, accounting.go, accept.go, accept6.go, names.go; trace.go (what "debug
// subscriber" hears).
package radius
