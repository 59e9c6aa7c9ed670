package dissect

import (
	"fmt"
	"net/netip"

	"vbng/forwarding/wire"
)

const (
	protocolICMP     = 1
	protocolTCP      = 6
	protocolUDP      = 17
	protocolFragment = 44
	protocolICMPv6   = 58
)

var protocols = map[uint16]string{2: "IGMP", 4: "IPv4", 41: "IPv6", 47: "GRE", 50: "ESP", 51: "AH", 59: "no next header", 89: "OSPF", 103: "PIM", 112: "VRRP", 132: "SCTP"}

func ip4(l *line, b []byte) {
	if len(b) < wire.IPv4Length {
		l.cut("IPv4")
		return
	}
	header := int(b[0]&0xF) * 4
	if b[0]>>4 != 4 || header < wire.IPv4Length {
		l.add("[no IPv4 header]")
		return
	}
	source, destination := address4(b[12:]), address4(b[16:])
	fragment := word(b[6:])
	if fragment&0x3FFF != 0 { // more fragments, or an offset
		l.add("fragment %d+%d", int(fragment&0x1FFF)*8, max(int(word(b[2:]))-header, 0))
	}
	total := max(int(word(b[2:])), header)
	rest := b[min(header, len(b)):min(total, len(b))]
	if fragment&0x1FFF != 0 {
		l.add("IPv4 %v > %v %s", source, destination, named(protocols, uint16(b[9]), "protocol"))
		return
	}
	transport(l, source, destination, b[9], rest, total-header)
	l.add("ttl %d", b[8])
}

func ip6(l *line, b []byte) {
	if len(b) < wire.IPv6Length || b[0]>>4 != 6 {
		l.cut("IPv6")
		return
	}
	source, destination := address6(b[8:]), address6(b[24:])
	next, length := b[6], int(word(b[4:]))
	rest := b[wire.IPv6Length:min(len(b), wire.IPv6Length+length)]
	for range 8 { // extension headers, RFC 8200 section 4
		switch next {
		case 0, 43, 60:
			if len(rest) < 8 || len(rest) < 8*(int(rest[1])+1) {
				l.cut("extension header")
				return
			}
			size := 8 * (int(rest[1]) + 1)
			next, rest, length = rest[0], rest[size:], length-size
			continue
		case protocolFragment:
			if len(rest) < 8 {
				l.cut("fragment header")
				return
			}
			offset := word(rest[2:])
			l.add("fragment %d+%d", offset&^7, length-8)
			next, rest, length = rest[0], rest[8:], length-8
			if offset&^7 != 0 {
				l.add("IPv6 %v > %v %s", source, destination, named(protocols, uint16(next), "protocol"))
				return
			}
			continue
		}
		break
	}
	transport(l, source, destination, next, rest, length)
	l.add("hlim %d", b[7])
}

// transport tells what IP carries; length is what there was on the wire of b.
func transport(l *line, source, destination netip.Addr, protocol uint8, b []byte, length int) {
	switch {
	case (protocol == protocolTCP || protocol == protocolUDP) && len(b) < 8:
		l.add("%v > %v", source, destination)
		l.cut("ports")
	case protocol == protocolTCP:
		from, to := netip.AddrPortFrom(source, word(b)), netip.AddrPortFrom(destination, word(b[2:]))
		l.add("TCP %v > %v", from, to)
		tcp(l, b, length)
	case protocol == protocolUDP:
		from, to := netip.AddrPortFrom(source, word(b)), netip.AddrPortFrom(destination, word(b[2:]))
		l.add("UDP %v > %v", from, to)
		udp(l, from.Port(), to.Port(), b[8:], length-8)
	case protocol == protocolICMP:
		l.add("%v > %v", source, destination)
		icmp(l, b)
	case protocol == protocolICMPv6:
		l.add("%v > %v", source, destination)
		icmp6(l, b)
	default:
		l.add("%v > %v %s, %d bytes", source, destination, named(protocols, uint16(protocol), "protocol"), length)
	}
}

func tcp(l *line, b []byte, length int) {
	if len(b) < 20 {
		l.cut("TCP")
		return
	}
	flags := ""
	for i, name := range "FSRPAUEC" {
		if b[13]>>i&1 != 0 {
			flags += string(name)
		}
	}
	l.add("[%s] %d bytes", flags, max(length-int(b[12]>>4)*4, 0))
}

func udp(l *line, from, to uint16, b []byte, length int) {
	switch {
	case from == 67 || to == 67:
		dhcp4(l, b)
	case from == 547 || to == 547:
		dhcp6(l, b, 0)
	default:
		l.add("%d bytes", length)
	}
}

var icmpTypes = map[uint16]string{0: "echo reply", 3: "unreachable", 4: "source quench", 5: "redirect", 8: "echo request", 9: "router advertisement", 10: "router solicitation", 11: "time exceeded", 12: "parameter problem"}

func icmp(l *line, b []byte) {
	if len(b) < 8 {
		l.cut("ICMP")
		return
	}
	l.add("ICMP %s", named(icmpTypes, uint16(b[0]), "type"))
	switch {
	case b[0] == 0 || b[0] == 8:
		l.add("id %d seq %d", word(b[4:]), word(b[6:]))
	case b[0] == 3 && b[1] == 4:
		l.add("fragmentation needed, mtu %d", word(b[6:]))
	case b[1] != 0 || b[0] == 3 || b[0] == 11:
		l.add("code %d", b[1])
	}
}

var icmp6Types = map[uint16]string{1: "unreachable", 2: "packet too big", 3: "time exceeded", 4: "parameter problem", 128: "echo request", 129: "echo reply",
	130: "MLD query", 131: "MLD report", 132: "MLD done", 133: "router solicitation", 134: "router advertisement",
	135: "neighbour solicitation", 136: "neighbour advertisement", 137: "redirect", 143: "MLDv2 report"}

func icmp6(l *line, b []byte) {
	if len(b) < 8 {
		l.cut("ICMPv6")
		return
	}
	l.add("ICMPv6 %s", named(icmp6Types, uint16(b[0]), "type"))
	switch t := b[0]; {
	case t == 128 || t == 129:
		l.add("id %d seq %d", word(b[4:]), word(b[6:]))
	case t == 2:
		l.add("mtu %d", double(b[4:]))
	case t == 1 || t == 3 || t == 4:
		l.add("code %d", b[1])
	case t == 134:
		advertisement(l, b)
	case (t == 135 || t == 136) && len(b) >= 24:
		l.add("%v", address6(b[8:]))
	}
}

// advertisement tells flags, lifetime and prefixes (RFC 4861 section 4.2).
func advertisement(l *line, b []byte) {
	if len(b) < 16 {
		l.cut("advertisement")
		return
	}
	flags := ""
	for _, f := range []struct {
		bit  uint8
		name string
	}{{0x80, "M"}, {0x40, "O"}} {
		if b[5]&f.bit != 0 {
			flags += f.name
		}
	}
	l.add("[%s] lifetime %ds", flags, word(b[6:]))
	b = b[16:]
	for range maxItems {
		if len(b) < 8 || b[1] == 0 || len(b) < int(b[1])*8 {
			return
		}
		if b[0] == 3 && b[1] == 4 {
			l.add("prefix %v/%d valid %s", address6(b[16:]), b[2], seconds(double(b[4:])))
		}
		b = b[int(b[1])*8:]
	}
}

func seconds(n uint32) string {
	if n == 1<<32-1 {
		return "for ever"
	}
	return fmt.Sprintf("%ds", n)
}
