package nd

import (
	"encoding/binary"
	"net/netip"
	"strings"
	"time"
)

const (
	typeRouterAdvert = 134
	maxLifetime      = 9000 * time.Second // RFC 4861 section 6.2.1: AdvDefaultLifetime
	maxServers       = 127                // what the length of the option can say
)

// AppendRouterAdvert appends the IPv6 packet of a to b (RFC 4861 section 4.2).
func AppendRouterAdvert(b []byte, a RouterAdvert) []byte {
	start := len(b)
	b = appendHeader(b, a.Source, a.Destination)
	var flags byte
	if a.Managed {
		flags |= 0x80
	}
	if a.Other {
		flags |= 0x40
	}
	b = append(b, typeRouterAdvert, 0, 0, 0, a.HopLimit, flags)
	b = binary.BigEndian.AppendUint16(b, uint16(min(a.Lifetime, maxLifetime)/time.Second))
	b = binary.BigEndian.AppendUint32(b, uint32(a.Reachable/time.Millisecond))
	b = binary.BigEndian.AppendUint32(b, uint32(a.Retransmit/time.Millisecond))
	b = appendLink(b, optionSourceLink, a.LinkAddress)
	if a.MTU > 0 {
		b = append(b, optionMTU, 1, 0, 0)
		b = binary.BigEndian.AppendUint32(b, a.MTU)
	}
	for _, p := range a.Prefixes {
		b = p.append(b)
	}
	b = appendServers(b, a.DNS, a.DNSLifetime)
	b = appendSearch(b, a.Search, a.DNSLifetime)
	return finish(b, start)
}

// append appends a prefix information option (RFC 4861 section 4.6.2).
func (p Prefix) append(b []byte) []byte {
	var flags byte
	if p.OnLink {
		flags |= 0x80
	}
	if p.Autonomous {
		flags |= 0x40
	}
	b = append(b, optionPrefix, 4, byte(p.Prefix.Bits()), flags)
	b = binary.BigEndian.AppendUint32(b, wholeSeconds(p.Valid))
	b = binary.BigEndian.AppendUint32(b, wholeSeconds(p.Preferred))
	b = append(b, 0, 0, 0, 0)
	return append(b, p.Prefix.Masked().Addr().AsSlice()...)
}

// appendServers appends the RDNSS option (RFC 8106 section 5.1).
func appendServers(b []byte, servers []netip.Addr, lifetime time.Duration) []byte {
	servers = servers[:min(len(servers), maxServers)]
	if len(servers) == 0 {
		return b
	}
	b = append(b, optionRDNSS, byte(1+2*len(servers)), 0, 0)
	b = binary.BigEndian.AppendUint32(b, wholeSeconds(lifetime))
	for _, a := range servers {
		b = append(b, a.AsSlice()...)
	}
	return b
}

// appendSearch appends the DNSSL option (RFC 8106 section 5.2): names in labels, zeros to a whole unit.
// A name that is none is left out.
func appendSearch(b []byte, names []string, lifetime time.Duration) []byte {
	var labels []byte
	for _, name := range names {
		if l := labelsOf(name); len(labels)+len(l) <= 254*optionUnit {
			labels = append(labels, l...)
		}
	}
	if len(labels) == 0 {
		return b
	}
	for len(labels)%optionUnit != 0 {
		labels = append(labels, 0)
	}
	b = append(b, optionDNSSL, byte(1+len(labels)/optionUnit), 0, 0)
	b = binary.BigEndian.AppendUint32(b, wholeSeconds(lifetime))
	return append(b, labels...)
}

// labelsOf encodes a domain name (RFC 1035 section 3.1); nil when it is none.
func labelsOf(name string) []byte {
	var b []byte
	for label := range strings.SplitSeq(strings.TrimSuffix(name, "."), ".") {
		if len(label) == 0 || len(label) > 63 {
			return nil
		}
		b = append(append(b, byte(len(label))), label...)
	}
	if len(b) > 254 {
		return nil
	}
	return append(b, 0)
}

func appendLink(b []byte, option byte, mac *[6]byte) []byte {
	if mac == nil {
		return b
	}
	return append(append(b, option, 1), mac[:]...)
}

func appendHeader(b []byte, source, destination netip.Addr) []byte {
	b = append(b, 0x60, 0, 0, 0, 0, 0, protocolICMPv6, hopLimit)
	b = append(b, source.AsSlice()...)
	return append(b, destination.AsSlice()...)
}

// finish writes length and checksum of the packet that begins at start.
func finish(b []byte, start int) []byte {
	packet, icmp := b[start:], b[start+headerBytes:]
	binary.BigEndian.PutUint16(packet[4:], uint16(len(icmp)))
	binary.BigEndian.PutUint16(icmp[2:], ^icmpSum(packet, icmp))
	return b
}

func wholeSeconds(d time.Duration) uint32 {
	return uint32(min(max(d, 0), Infinite) / time.Second)
}
