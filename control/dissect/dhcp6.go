package dissect

var dhcp6Types = map[uint16]string{1: "SOLICIT", 2: "ADVERTISE", 3: "REQUEST", 4: "CONFIRM", 5: "RENEW", 6: "REBIND", 7: "REPLY", 8: "RELEASE",
	9: "DECLINE", 10: "RECONFIGURE", 11: "INFORMATION-REQUEST", 12: "RELAY-FORW", 13: "RELAY-REPL"}

var dhcp6Status = map[uint16]string{0: "Success", 1: "UnspecFail", 2: "NoAddrsAvail", 3: "NoBinding", 4: "NotOnLink", 5: "UseMulticast", 6: "NoPrefixAvail"}

const maxDepth = 4 // of relays, and of options in options

// DHCPv6 tells a message, the payload of its UDP datagram.
func DHCPv6(b []byte) string { return guarded(func(l *line) { dhcp6(l, b, 0) }) }

func dhcp6(l *line, b []byte, depth int) {
	if len(b) < 4 {
		l.cut("DHCPv6")
		return
	}
	l.add("DHCPv6 %s", named(dhcp6Types, uint16(b[0]), "type"))
	if b[0] == 12 || b[0] == 13 {
		if len(b) < 34 || depth == maxDepth {
			l.cut("relay")
			return
		}
		l.add("link %v peer %v", address6(b[2:]), address6(b[18:]))
		options6(l, b[34:], depth+1)
		return
	}
	l.add("xid %#06x", double(b)&0xFFFFFF)
	options6(l, b[4:], depth)
}

func options6(l *line, b []byte, depth int) {
	for range maxItems {
		if len(b) < 4 || len(b) < 4+int(word(b[2:])) {
			return
		}
		option6(l, word(b), b[4:4+int(word(b[2:]))], depth)
		b = b[4+int(word(b[2:])):]
	}
}

// option6 tells an option of RFC 8415 section 21.
func option6(l *line, code uint16, v []byte, depth int) {
	if depth > maxDepth {
		l.cut("option")
		return
	}
	switch {
	case code == 3 && len(v) >= 12:
		l.add("IA_NA %#x", double(v))
		options6(l, v[12:], depth+1)
	case code == 25 && len(v) >= 12:
		l.add("IA_PD %#x", double(v))
		options6(l, v[12:], depth+1)
	case code == 5 && len(v) >= 24:
		l.add("address %v valid %s", address6(v), seconds(double(v[20:])))
	case code == 26 && len(v) >= 25:
		l.add("prefix %v/%d valid %s", address6(v[9:]), v[8], seconds(double(v[4:])))
	case code == 13 && len(v) >= 2:
		l.add("status %s %s", named(dhcp6Status, word(v), "code"), Text(v[2:]))
	case code == 14:
		l.add("rapid-commit")
	case code == 9:
		dhcp6(l, v, depth+1)
	case code == 18:
		l.add("interface-id %s", Text(v))
	case code == 1 || code == 2:
		l.add("%s %x", map[uint16]string{1: "client", 2: "server"}[code], v[:min(len(v), 24)])
	}
}
