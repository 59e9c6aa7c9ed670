// Package pppoe is the access concentrator's side of PPPoE discovery, as pure code. It owns no socket,
// goroutine or clock, and keeps no state for a client before the client has proved, with our cookie,
// that it hears us.
//
//	client                       Responder                          owner of sessions
//	  │ PADI ───────────────────▶ service name, AC name ok?
//	  │ ◀─────────────────── PADO: names, cookie, echoed tags
//	  │ PADR ───────────────────▶ cookie good? names ok?
//	  │                              └─ Event{Requested, Request} ──▶ session id, limits
//	  │ ◀──────────────────────────────────────────── BuildPADS or BuildPADSError
//	  │ PADT ───────────────────▶ Event{Terminated} ───────────────▶ teardown
//	  │ ◀──────────────────────────────────────────── BuildPADT
//
// What is not answered is an Event{Refused} with a Reason, one counter each. Frames come in as the
// access line (port, outer and inner VLAN), the addresses and the PPPoE payload; replies are PPPoE
// payloads, to which the caller puts the Ethernet header and the same VLAN tags.
//
// RFCs and documents: 2516 (PPPoE), 4638 (PPP-Max-Payload), 2104 (HMAC), Broadband Forum TR-101
// (line identification in the vendor-specific tag; numbers also in RFC 4679).
//
// Reading order: header.go, tag.go, line.go, cookie.go, event.go, responder.go, reply.go, sessionid.go.
package pppoe
