// Package dhcp6 is a DHCPv6 server for one client's link, as pure code: one address (IA_NA) and one
// delegated prefix (IA_PD) for a subscriber. It owns no socket, goroutine or clock; what is to be done
// is returned.
//
//	punted packet ─ ParseDatagram ─ Decode ─▶ Request (relay envelopes taken off)
//	                                            │
//	   ┌──────────────── Link (one per subscriber) ────────────────────┐
//	   │ Receive(now, Request) ─▶ NeedLeases ─── Assign or Refuse ──▶ ADVERTISE in Send
//	   │                       ─▶ NeedBinding ── Commit or Refuse ──▶ Bound, REPLY in Send
//	   │                       ─▶ Released, Declined, Ignored
//	   │ Timeout(now) at Deadline ─▶ Expired
//	   └────────────────────────────────────────────────────────────────┘
//	Send{Payload, To} ─ AppendDatagram ─▶ IPv6 packet; Ethernet, tags or PPP are the caller's
//
// Between REQUEST (or RENEW of something new) and REPLY stands NeedBinding, so that the owner can have
// addresses and routes programmed before the client uses them.
//
// The bytes of messages are read and written with github.com/insomniacslk/dhcp/dhcpv6, which is seen in
// decode.go and encode.go only.
//
// RFCs: 8415 (protocol), 3646 (DNS options), 4649 (remote-id), 6221 (lightweight relay agent).
//
// Reading order: message.go, output.go, link.go, then the messages in solicit.go and release.go;
// bytes in decode.go, encode.go, datagram.go.
package dhcp6
