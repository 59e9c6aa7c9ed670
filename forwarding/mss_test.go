package forwarding

import (
	"encoding/binary"
	"testing"

	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
)

// tcpPacket is a TCP packet of either family with options (a multiple of 4 bytes) and a right checksum. IPv6 may have
// extension headers between, whose first byte is the next header's number.
func tcpPacket(ip []byte, flags byte, options []byte, extensions ...byte) []byte {
	t := make([]byte, 20, 64)
	t[0], t[1], t[2], t[3], t[12], t[13], t[14] = 0xc0, 1, 0, 80, byte(5+len(options)/4)<<4, flags, 0xff
	t = append(t, options...)
	if ip[0]>>4 == 4 {
		p := append(append([]byte{}, ip[:20]...), t...)
		p[3], p[9] = byte(len(p)), wire.IPProtocolTCP
		binary.BigEndian.PutUint16(p[2:], uint16(len(p)))
		pseudo := append(append([]byte{}, p[12:20]...), 0, 6, 0, byte(len(t)))
		binary.BigEndian.PutUint16(p[20+16:], ^wordSum(append(pseudo, t...)))
		return again(p)
	}
	p := append(append(append([]byte{}, ip[:40]...), extensions...), t...)
	p[6] = wire.IPProtocolTCP
	if len(extensions) > 0 {
		p[6] = wire.NextOptions
		if extensions[1] == 0xff { // says that it is a fragment header
			p[6], p[41] = wire.NextFragment, 0
		}
	}
	binary.BigEndian.PutUint16(p[4:], uint16(len(p)-40))
	pseudo := append(append([]byte{}, p[8:40]...), 0, 0, 0, byte(len(t)), 0, 0, 0, 6)
	binary.BigEndian.PutUint16(p[40+len(extensions)+16:], ^wordSum(append(pseudo, t...)))
	return p
}

func mssOption(value uint16) []byte { return []byte{2, 4, byte(value >> 8), byte(value)} }

// TestMSS sends openings of connections both ways and compares whole packets: the option is lowered, never raised, the
// checksum stays right, and all else passes as it is.
func TestMSS(t *testing.T) {
	const syn, synAck, ack = 0x02, 0x12, 0x10
	odd := func(value uint16) []byte { return append(append([]byte{1}, mssOption(value)...), 1, 1, 0) } // at an odd place
	destinationOptions := []byte{wire.IPProtocolTCP, 0, 1, 4, 0, 0, 0, 0}
	firstFragment := []byte{wire.IPProtocolTCP, 0xff, 0, 1, 0, 0, 0, 9}
	laterFragment := []byte{wire.IPProtocolTCP, 0xff, 0, 9, 0, 0, 0, 9}
	for name, s := range encapsulations() {
		r := newRig(t).base6()
		s.MSS = 1452
		r.subscribe6(s)
		r.put(entry.Interface{ID: coreInterface, Port: corePort, VRF: defaultVRF, MSS: 1400})
		for _, c := range []struct {
			what       string
			flags      byte
			before     []byte
			after      []byte // over IPv4; over IPv6 20 less
			after6     []byte
			extensions []byte
			fragment   bool
		}{
			{"SYN", syn, mssOption(1460), mssOption(1400), mssOption(1380), nil, false},
			{"SYN and ACK", synAck, mssOption(1460), mssOption(1400), mssOption(1380), nil, false},
			{"small", syn, mssOption(900), mssOption(900), mssOption(900), nil, false},
			{"no SYN", ack, mssOption(1460), mssOption(1460), mssOption(1460), nil, false},
			{"no option", syn, nil, nil, nil, nil, false},
			{"odd", syn, odd(9000), odd(1400), odd(1380), nil, false},
			{"behind the end", syn, append([]byte{0, 0, 0, 0}, mssOption(1460)...), append([]byte{0, 0, 0, 0}, mssOption(1460)...), append([]byte{0, 0, 0, 0}, mssOption(1460)...), nil, false},
			{"broken", syn, []byte{8, 1, 2, 4}, []byte{8, 1, 2, 4}, []byte{8, 1, 2, 4}, nil, false},
			{"cut", syn, []byte{1, 1, 2, 4}, []byte{1, 1, 2, 4}, []byte{1, 1, 2, 4}, nil, false},
			{"behind options", syn, mssOption(1460), nil, mssOption(1380), destinationOptions, false},
			{"first fragment", syn, mssOption(1460), nil, mssOption(1380), firstFragment, false},
			{"later fragment", syn, mssOption(1460), nil, mssOption(1460), laterFragment, false},
		} {
			up := ip6Packet(host6(s), farIP6, 9, 0)
			upWant := ip6Packet(host6(s), farIP6, 8, 0)
			same(t, name+", IPv6 up, "+c.what, r.through(accessPort, lineFrame(s, tcpPacket(up, c.flags, c.before, c.extensions...)), corePort),
				etherFrame(routerMAC, coreMAC, wire.TypeIPv6, tcpPacket(upWant, c.flags, c.after6, c.extensions...)))
			down := etherFrame(coreMAC, routerMAC, wire.TypeIPv6, tcpPacket(ip6Packet(farIP6, host6(s), 9, 0), c.flags, c.before, c.extensions...))
			same(t, name+", IPv6 down, "+c.what, r.through(corePort, down, accessPort),
				toPeer(s, lineFrame(s, tcpPacket(ip6Packet(farIP6, host6(s), 8, 0), c.flags, c.after6, c.extensions...))))
			if c.extensions != nil {
				continue
			}
			same(t, name+", IPv4 up, "+c.what, r.through(accessPort, lineFrame(s, tcpPacket(ipPacket(s.IPv4, farIP, 9, 0), c.flags, c.before)), corePort),
				etherFrame(routerMAC, coreMAC, wire.TypeIPv4, tcpPacket(ipPacket(s.IPv4, farIP, 8, 0), c.flags, c.after)))
			down = etherFrame(coreMAC, routerMAC, wire.TypeIPv4, tcpPacket(ipPacket(farIP, s.IPv4, 9, 0), c.flags, c.before))
			same(t, name+", IPv4 down, "+c.what, r.through(corePort, down, accessPort),
				toPeer(s, lineFrame(s, tcpPacket(ipPacket(farIP, s.IPv4, 8, 0), c.flags, c.after))))
		}
		r.balanced()
	}
}

// TestMSSOfTheSession is the lesser one, and one that has none lets any pass.
func TestMSSOfTheSession(t *testing.T) {
	r := newRig(t).base6()
	s := dualStack(subscriber(1, 0, 0, 0))
	s.MSS = 1300
	r.subscribe6(s)
	other := r.subscribe6(dualStack(subscriber(2, 0, 0, 0)))
	r.put(entry.Interface{ID: coreInterface, Port: corePort, VRF: defaultVRF, MSS: 1400})
	for _, c := range []struct {
		from, to entry.Session
		want     uint16
	}{{s, other, 1300}, {other, s, 1300}, {other, other, 9000}} {
		got := r.through(accessPort, lineFrame(c.from, tcpPacket(ipPacket(c.from.IPv4, c.to.IPv4, 9, 0), 2, mssOption(9000))), accessPort)
		same(t, "hairpin", got, toPeer(c.to, lineFrame(c.to, tcpPacket(ipPacket(c.from.IPv4, c.to.IPv4, 8, 0), 2, mssOption(c.want)))))
	}
	// A later fragment has data where the options would be.
	later := tcpPacket(ipPacket(s.IPv4, farIP, 9, 0), 2, mssOption(1460))
	later[7] = 4
	got := r.through(accessPort, lineFrame(s, again(later)), corePort)
	if got == nil || binary.BigEndian.Uint16(got[14+42:]) != 1460 {
		t.Errorf("later fragment: %x", got)
	}
	// IP options move the TCP header.
	plain := tcpPacket(ipPacket(s.IPv4, farIP, 9, 0), 2, mssOption(1460))
	with := append(append(append([]byte{}, plain[:20]...), 1, 1, 1, 0), plain[20:]...)
	with[0], with[3] = 0x46, with[3]+4
	got = r.through(accessPort, lineFrame(s, again(with)), corePort)
	if got == nil || binary.BigEndian.Uint16(got[14+46:]) != 1300 {
		t.Errorf("IP options: %x", got)
	}
	r.balanced()
}
