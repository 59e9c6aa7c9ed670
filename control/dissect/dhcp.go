package dissect

import "net/netip"

var dhcp4Types = map[uint16]string{1: "DISCOVER", 2: "OFFER", 3: "REQUEST", 4: "DECLINE", 5: "ACK", 6: "NAK", 7: "RELEASE", 8: "INFORM"}

const (
	dhcp4Fixed  = 236 // RFC 2131 section 2, before the magic cookie
	dhcp4Cookie = 0x63825363
)

// DHCPv4 tells a message, the payload of its UDP datagram.
func DHCPv4(b []byte) string { return guarded(func(l *line) { dhcp4(l, b) }) }

func dhcp4(l *line, b []byte) {
	if len(b) < dhcp4Fixed+4 || double(b[dhcp4Fixed:]) != dhcp4Cookie {
		l.add("BOOTP")
		l.cut("DHCP")
		return
	}
	kind := "without type"
	eachOption4(b[dhcp4Fixed+4:], func(code uint8, v []byte) {
		if code == 53 && len(v) == 1 {
			kind = named(dhcp4Types, uint16(v[0]), "type")
		}
	})
	l.add("DHCP %s xid %#08x client %s", kind, double(b[4:]), mac(b[28:]))
	for _, f := range []struct {
		name string
		at   int
	}{{"ciaddr", 12}, {"yiaddr", 16}, {"relay", 24}} {
		if a := address4(b[f.at:]); a != netip.IPv4Unspecified() {
			l.add("%s %v", f.name, a)
		}
	}
	eachOption4(b[dhcp4Fixed+4:], func(code uint8, v []byte) { dhcp4Option(l, code, v) })
}

// eachOption4 visits the options of RFC 2132, as far as they are whole.
func eachOption4(b []byte, visit func(code uint8, value []byte)) {
	for range maxItems {
		for len(b) > 0 && b[0] == 0 { // pad
			b = b[1:]
		}
		if len(b) < 2 || b[0] == 255 || len(b) < 2+int(b[1]) {
			return
		}
		visit(b[0], b[2:2+int(b[1])])
		b = b[2+int(b[1]):]
	}
}

func dhcp4Option(l *line, code uint8, v []byte) {
	addresses := map[uint8]string{1: "mask", 3: "router", 6: "DNS", 50: "requested", 54: "server"}
	times := map[uint8]string{51: "lease", 58: "renew", 59: "rebind"}
	texts := map[uint8]string{12: "host", 15: "domain", 56: "message", 60: "vendor"}
	switch {
	case addresses[code] != "" && len(v) >= 4:
		l.add("%s %v", addresses[code], address4(v))
	case times[code] != "" && len(v) == 4:
		l.add("%s %s", times[code], seconds(double(v)))
	case texts[code] != "":
		l.add("%s %s", texts[code], Text(v))
	case code == 82:
		agent(l, v)
	}
}

// agent tells the line's identity by a relay (RFC 3046).
func agent(l *line, b []byte) {
	for range maxItems {
		if len(b) < 2 || len(b) < 2+int(b[1]) {
			return
		}
		if name := map[uint8]string{1: "circuit", 2: "remote"}[b[0]]; name != "" {
			l.add("%s %s", name, Text(b[2:2+int(b[1])]))
		}
		b = b[2+int(b[1]):]
	}
}
