// Package pppoe is a PPPoE subscriber as pure code: frames and expired timers go in, frames come
// out. It owns no socket, goroutine or clock, so one loop can play tens of thousands of them.
//
//	        ┌──────── PADO ───────┐┌─ PADS ─┐┌─ LCP open ──┐┌─ accepted ─┐┌─ IPCP open ─┐
//	Idle ─▶ Discovery ─▶ Request ─▶ Link ─▶ Authenticate ─▶ Network ─▶ Up
//	                                                                       │ Close
//	                       any of them ──▶ Ended (with a named Cause) ◀── Closing
//	                       any of them ──▶ Silent (Silence: answers nothing any more)
//
// A client has one timer, its Deadline; what it is for depends on the phase.
//
// It shares no code with the router's PPP: RFC 1661 is read a second time here, from the calling
// side, so that one misreading cannot hide in both.
//
// RFCs: 2516 (PPPoE), 1661 (PPP, LCP), 1334 (PAP), 1994 (CHAP), 1332 (IPCP), 1877 (DNS in IPCP).
//
// Reading order: words.go, client.go, discovery.go, control.go, lcp.go, auth.go, ipcp.go.
package pppoe
