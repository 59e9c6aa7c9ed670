package dissect

import (
	"fmt"

	"vbng/forwarding/wire"
)

var discoveryCodes = map[uint16]string{
	wire.CodePADI: "PADI", wire.CodePADO: "PADO", wire.CodePADR: "PADR", wire.CodePADS: "PADS", wire.CodePADT: "PADT",
}

// discoveryTags are RFC 2516 appendix A's, and RFC 4638's. The values of those without text are told by length.
var discoveryTags = map[uint16]struct {
	name string
	text bool
}{
	0x0101: {"service", true}, 0x0102: {"ac", true}, 0x0103: {"host-uniq", false}, 0x0104: {"cookie", false},
	0x0105: {"vendor", false}, 0x0110: {"relay-id", false}, 0x0120: {"max-payload", false},
	0x0201: {"service-name-error", true}, 0x0202: {"ac-system-error", true}, 0x0203: {"generic-error", true},
}

func discovery(l *line, b []byte) {
	if len(b) < wire.PPPoELength {
		l.cut("PPPoE")
		return
	}
	l.add("PPPoE %s", named(discoveryCodes, uint16(b[1]), "code"))
	if id := word(b[2:]); id != 0 {
		l.add("session %#04x", id)
	}
	b = b[wire.PPPoELength:min(len(b), wire.PPPoELength+int(word(b[4:])))]
	for range maxItems {
		if len(b) < 4 || word(b) == 0 {
			return
		}
		length := int(word(b[2:]))
		if length > len(b)-4 {
			l.cut("tag")
			return
		}
		value := b[4 : 4+length]
		t, known := discoveryTags[word(b)]
		switch {
		case !known:
			l.add("tag %#04x", word(b))
		case t.text:
			l.add("%s %s", t.name, Text(value))
		case t.name == "max-payload" && length == 2:
			l.add("%s %d", t.name, word(value))
		default:
			l.add("%s", t.name)
		}
		b = b[4+length:]
	}
}

func session(l *line, b []byte) {
	if len(b) < wire.PPPoELength+wire.PPPProtocolLength {
		l.cut("PPPoE")
		return
	}
	l.add("PPPoE session %#04x", word(b[2:]))
	end := min(len(b), wire.PPPoELength+int(word(b[4:])))
	ppp(l, word(b[wire.PPPoELength:]), b[wire.PPPoELength+wire.PPPProtocolLength:max(end, wire.PPPoELength+wire.PPPProtocolLength)])
}

// PPP tells a PPP packet: its protocol, and the information field.
func PPP(protocol uint16, information []byte) string {
	return guarded(func(l *line) { ppp(l, protocol, information) })
}

func ppp(l *line, protocol uint16, b []byte) {
	switch protocol {
	case wire.ProtocolIPv4:
		ip4(l, b)
	case wire.ProtocolIPv6:
		ip6(l, b)
	case wire.ProtocolPAP:
		pap(l, b)
	case wire.ProtocolCHAP:
		chap(l, b)
	case wire.ProtocolLCP:
		control(l, "LCP", lcpOption, b)
	case wire.ProtocolIPCP:
		control(l, "IPCP", ipcpOption, b)
	case wire.ProtocolIPV6CP:
		control(l, "IPV6CP", ipv6cpOption, b)
	default:
		l.add("PPP protocol %#04x, %d bytes", protocol, len(b))
	}
}

// controlCodes are RFC 1661 section 5's, and RFC 1570's.
var controlCodes = map[uint16]string{
	1: "Configure-Request", 2: "Configure-Ack", 3: "Configure-Nak", 4: "Configure-Reject", 5: "Terminate-Request", 6: "Terminate-Ack",
	7: "Code-Reject", 8: "Protocol-Reject", 9: "Echo-Request", 10: "Echo-Reply", 11: "Discard-Request", 12: "Identification",
}

// packetOf reads code, identifier and length, which all PPP control protocols have, and returns the data.
func packetOf(l *line, name string, codes map[uint16]string, b []byte) (code uint8, data []byte, ok bool) {
	if len(b) < wire.ControlLength {
		l.cut(name)
		return 0, nil, false
	}
	l.add("%s %s id %d", name, named(codes, uint16(b[0]), "code"), b[1])
	length := int(word(b[2:]))
	if length < wire.ControlLength {
		l.add("[length %d]", length)
		return 0, nil, false
	}
	return b[0], b[wire.ControlLength:min(length, len(b))], true
}

func control(l *line, name string, option func(kind uint8, value []byte) string, b []byte) {
	code, data, ok := packetOf(l, name, controlCodes, b)
	switch {
	case !ok:
	case code >= 1 && code <= 4:
		options(l, option, data)
	case code == 8 && len(data) >= 2:
		l.add("of protocol %#04x", word(data))
	case code >= 9 && code <= 11 && len(data) >= 4:
		l.add("magic %#08x", double(data))
	case (code == 5 || code == 6) && len(data) > 0:
		l.add("%s", Text(data))
	}
}

func options(l *line, option func(kind uint8, value []byte) string, b []byte) {
	for range maxItems {
		if len(b) == 0 {
			return
		}
		if len(b) < 2 || b[1] < 2 || int(b[1]) > len(b) {
			l.cut("option")
			return
		}
		l.add("%s", option(b[0], b[2:b[1]]))
		b = b[b[1]:]
	}
}

func unknownOption(kind uint8, value []byte) string {
	return fmt.Sprintf("option-%d/%d", kind, len(value))
}

// lcpOption tells an option of RFC 1661 section 6.
func lcpOption(kind uint8, v []byte) string {
	switch {
	case kind == 1 && len(v) == 2:
		return fmt.Sprintf("MRU %d", word(v))
	case kind == 2 && len(v) == 4:
		return fmt.Sprintf("ACCM %#08x", double(v))
	case kind == 3 && len(v) >= 2:
		return "auth " + authName(v)
	case kind == 4:
		return "quality"
	case kind == 5 && len(v) == 4:
		return fmt.Sprintf("magic %#08x", double(v))
	case kind == 7:
		return "PFC"
	case kind == 8:
		return "ACFC"
	case kind == 13:
		return "callback"
	case kind == 17:
		return "MRRU"
	case kind == 19:
		return "endpoint"
	}
	return unknownOption(kind, v)
}

func authName(v []byte) string {
	switch {
	case word(v) == wire.ProtocolPAP:
		return "PAP"
	case word(v) == wire.ProtocolCHAP && len(v) == 3:
		if name, ok := map[uint8]string{5: "CHAP-MD5", 0x80: "MS-CHAP", 0x81: "MS-CHAPv2"}[v[2]]; ok {
			return name
		}
		return fmt.Sprintf("CHAP-%d", v[2])
	}
	return fmt.Sprintf("%#04x", word(v))
}

// ipcpOption tells an option of RFC 1332 and RFC 1877.
func ipcpOption(kind uint8, v []byte) string {
	names := map[uint8]string{3: "address", 129: "DNS", 130: "NBNS", 131: "second-DNS", 132: "second-NBNS"}
	if name, ok := names[kind]; ok && len(v) == 4 {
		return fmt.Sprintf("%s %v", name, address4(v))
	}
	if kind == 2 {
		return "compression"
	}
	return unknownOption(kind, v)
}

// ipv6cpOption tells an option of RFC 5072.
func ipv6cpOption(kind uint8, v []byte) string {
	if kind == 1 && len(v) == 8 {
		return fmt.Sprintf("interface-id %x:%x:%x:%x", word(v), word(v[2:]), word(v[4:]), word(v[6:]))
	}
	return unknownOption(kind, v)
}

var papCodes = map[uint16]string{1: "Authenticate-Request", 2: "Authenticate-Ack", 3: "Authenticate-Nak"}

// pap tells the peer's name and the authenticator's message (RFC 1334 section 2), never the password.
func pap(l *line, b []byte) {
	code, data, ok := packetOf(l, "PAP", papCodes, b)
	if !ok || len(data) == 0 {
		return
	}
	first := data[1:min(1+int(data[0]), len(data))]
	switch code {
	case 1:
		l.add("user %s", Text(first))
	case 2, 3:
		l.add("message %s", Text(first))
	}
}

var chapCodes = map[uint16]string{1: "Challenge", 2: "Response", 3: "Success", 4: "Failure"}

// chap tells names and messages (RFC 1994 section 4), neither challenge nor response: both together would let somebody
// guess at the secret.
func chap(l *line, b []byte) {
	code, data, ok := packetOf(l, "CHAP", chapCodes, b)
	switch {
	case !ok:
	case (code == 1 || code == 2) && len(data) > 0:
		l.add("name %s", Text(data[min(1+int(data[0]), len(data)):]))
	case code == 4 && len(data) > 0:
		l.add("message %s", Text(data))
	}
}

// PPPoEDiscovery tells a discovery packet, from the PPPoE header on.
func PPPoEDiscovery(b []byte) string { return guarded(func(l *line) { discovery(l, b) }) }
