package dissect

import (
	"fmt"

	"vbng/forwarding/wire"
)

// Summary is a frame in words.
type Summary struct {
	Destination, Source string // MAC addresses
	Tags                string // "-", "100", "100.7", with the TPID in front where it is not 0x8100
	Text                string // what it says
}

// Frame reads an Ethernet frame of which b holds the first bytes.
func Frame(b []byte) Summary {
	s := Summary{Destination: "-", Source: "-", Tags: "-"}
	if len(b) < wire.EthernetLength {
		s.Text = "[Ethernet cut off]"
		return s
	}
	s.Destination, s.Source = mac(b[0:6]), mac(b[6:12])
	t, ok := wire.ReadTags(b)
	if !ok {
		s.Text = "[tags cut off]"
		return s
	}
	s.Tags = tags(t)
	s.Text = guarded(func(l *line) { payload(l, t.Type, b[t.Offset:]) })
	return s
}

func tags(t wire.Tagged) (text string) {
	switch {
	case t.OuterTPID == 0:
		return "-"
	case t.InnerVLAN == 0:
		text = fmt.Sprint(t.OuterVLAN)
	default:
		text = fmt.Sprintf("%d.%d", t.OuterVLAN, t.InnerVLAN)
	}
	if t.OuterTPID != wire.TypeVLAN {
		text = fmt.Sprintf("%04x:%s", t.OuterTPID, text)
	}
	return text
}

func payload(l *line, etherType uint16, b []byte) {
	switch etherType {
	case wire.TypeARP:
		arp(l, b)
	case wire.TypeIPv4:
		ip4(l, b)
	case wire.TypeIPv6:
		ip6(l, b)
	case wire.TypePPPoEDiscovery:
		discovery(l, b)
	case wire.TypePPPoESession:
		session(l, b)
	default:
		l.add("ethertype %#04x, %d bytes", etherType, len(b))
	}
}

func arp(l *line, b []byte) {
	if len(b) < wire.ARPLength || word(b[2:]) != wire.TypeIPv4 {
		l.cut("ARP")
		return
	}
	sender, target := address4(b[14:]), address4(b[24:])
	switch {
	case word(b[6:]) == wire.ARPReply:
		l.add("ARP %v is at %s", sender, mac(b[8:]))
	case sender == target:
		l.add("ARP announcement of %v", sender)
	default:
		l.add("ARP who has %v tell %v", target, sender)
	}
}
