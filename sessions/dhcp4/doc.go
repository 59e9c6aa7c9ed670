// Package dhcp4 is DHCP for IPv4 as a router needs it: a server for one client at a time and a relay,
// both as pure code. It owns no socket, goroutine or clock; what is to be done is returned.
//
//	punted frame ─ ParseDatagram ─ Decode ─▶ Request
//	                                           │
//	   ┌──────────────── Lease (one per client, server) ───────────────┐
//	   │ Receive(now, Request) ─▶ NeedAddress ── Assign or Refuse ──▶ OFFER or NAK in Send
//	   │                       ─▶ NeedBinding ── Commit or Refuse ──▶ Bound, ACK in Send
//	   │                       ─▶ Released, Declined, Ignored
//	   │ Timeout(now) at Deadline ─▶ Expired
//	   └────────────────────────────────────────────────────────────────┘
//	   Relay (no state): Forward(client's payload) ─▶ payload for the servers
//	                     Return(server's payload) ──▶ payload for the client, with what it says of the lease
//
//	Send{Payload, To} ─ AppendDatagram ─▶ IPv4 packet; Ethernet and VLAN tags are the caller's
//
// Between REQUEST and ACK stands NeedBinding, so that the owner can have addresses and routes
// programmed before the client learns that it may use them.
//
// The bytes of messages are read and written with github.com/insomniacslk/dhcp/dhcpv4, which is seen
// in decode.go, encode.go and relay.go only. Option overload and the limit of the message size, which
// it does not know, are ours.
//
// RFCs: 2131 (protocol), 2132 (options), 951 and 1542 (BOOTP, relays), 3046 (option 82), 3396 (long
// options), 3442 (classless routes), 3527 (link selection), 6842 (client identifier in replies).
//
// Reading order: message.go, output.go, lease.go, request.go, relay.go; bytes in decode.go, encode.go,
// layout.go, datagram.go.
package dhcp4
