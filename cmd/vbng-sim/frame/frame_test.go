package frame

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
)

func TestTagsSurviveAnEthernetHeader(t *testing.T) {
	for _, tags := range []Tags{
		{}, {TypeVLAN, 100, 0}, {TypeProvider, 100, 7}, {TypeOldQinQ, 4094, 1}, {TypeVLAN, 1, 4094},
	} {
		b := append(AppendEthernet(nil, Broadcast, MAC{2, 0, 0, 0, 0, 9}, tags, TypeSession), "payload"...)
		e, err := ParseEthernet(b)
		if err != nil || e.Tags != tags || e.Type != TypeSession || string(e.Payload) != "payload" {
			t.Errorf("tags %v: got %+v, %v", tags, e, err)
		}
	}
}

// The packet of the worked example that many texts print for the IPv4 checksum: b861.
func TestIPv4ChecksumOfAKnownHeader(t *testing.T) {
	b, _ := hex.DecodeString(strings.ReplaceAll("4500 0073 0000 4000 4011 b861 c0a8 0001 c0a8 00c7", " ", ""))
	b = append(b, make([]byte, 0x73-20)...)
	p, err := ParseIPv4(b)
	if err != nil || p.TTL != 64 || p.Protocol != UDP || p.Dst != (Addr{192, 168, 0, 199}) {
		t.Fatalf("got %+v, %v", p, err)
	}
	if got := AppendIPv4(nil, p, len(p.Payload)); !bytes.Equal(got, b[:20]) {
		t.Errorf("written as %x", got)
	}
	b[8]--
	if _, err := ParseIPv4(b); !errors.Is(err, ErrChecksum) {
		t.Errorf("changed TTL: %v", err)
	}
}

func TestUDPChecksumFindsEachChangedByte(t *testing.T) {
	src, dst := Addr{100, 64, 0, 2}, Addr{198, 51, 100, 2}
	datagram := AppendUDP(nil, src, dst, Datagram{1, 2, []byte("odd length....!")})
	for i := range datagram {
		changed := bytes.Clone(datagram)
		changed[i] ^= 0x10
		if _, err := ParseUDP(IPv4{Src: src, Dst: dst, Payload: changed}); err == nil {
			t.Errorf("byte %d changed, not found", i)
		}
	}
	if _, err := ParseUDP(IPv4{Src: src, Dst: dst, Payload: datagram}); err != nil {
		t.Error(err)
	}
}

func TestEchoReplyKeepsIdentifierAndData(t *testing.T) {
	request := append([]byte{8, 0, 0, 0, 0x12, 0x34, 0, 1}, "data"...)
	check := ^fold(sum(0, request))
	request[2], request[3] = byte(check>>8), byte(check)
	p := IPv4{Src: Addr{1, 1, 1, 1}, Dst: Addr{2, 2, 2, 2}, Protocol: ICMP, Payload: request}
	reply, ok := EchoReply(p)
	if !ok {
		t.Fatal("no reply")
	}
	r, err := ParseIPv4(reply)
	if err != nil || r.Src != p.Dst || r.Dst != p.Src || fold(sum(0, r.Payload)) != 0xffff {
		t.Fatalf("reply %+v, %v", r, err)
	}
	if r.Payload[0] != 0 || !bytes.Equal(r.Payload[4:], request[4:]) {
		t.Errorf("reply carries %x", r.Payload)
	}
	if _, ok := EchoReply(r); ok {
		t.Error("a reply was answered")
	}
}

func TestARPRoundTrip(t *testing.T) {
	a := ARP{ARPRequest, MAC{2, 0, 0, 0, 0, 1}, Addr{10, 0, 0, 1}, MAC{}, Addr{10, 0, 0, 2}}
	got, err := ParseARP(Pad(AppendARP(nil, a)))
	if err != nil || got != a {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestDiscoveryTagsStopAtEndOfListAndRefuseOverruns(t *testing.T) {
	b := AppendDiscoveryTag(nil, TagServiceName, []byte("isp"))
	b = AppendDiscoveryTag(b, TagEndOfList, nil)
	b = append(b, 1, 2, 3)
	n := 0
	if err := DiscoveryTags(b, func(uint16, []byte) { n++ }); err != nil || n != 1 {
		t.Errorf("%d tags, %v", n, err)
	}
	if err := DiscoveryTags([]byte{1, 1, 0, 9, 'x'}, func(uint16, []byte) {}); !errors.Is(err, ErrTruncated) {
		t.Errorf("overrun: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	session := AppendPPP(AppendEthernet(nil, Broadcast, Broadcast, Tags{TypeVLAN, 5, 6}, TypeSession), 1, ProtocolIPv4, 40)
	ip := AppendIPv4(session, IPv4{TTL: 64, Protocol: UDP}, 20)
	f.Add(AppendUDP(ip, Addr{}, Addr{}, Datagram{1, 2, []byte("twelve bytes")}))
	f.Add(AppendARP(AppendEthernet(nil, Broadcast, Broadcast, Tags{}, TypeARP), ARP{}))
	f.Add(AppendDiscoveryTag(AppendPPPoE(AppendEthernet(nil, Broadcast, Broadcast, Tags{}, TypeDiscovery), CodePADI, 0, 4), TagServiceName, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := ParseEthernet(b)
		if err != nil {
			return
		}
		ParseARP(e.Payload)
		p, err := ParsePPPoE(e.Payload)
		if err != nil {
			return
		}
		DiscoveryTags(p.Payload, func(uint16, []byte) {})
		_, information, _ := p.PPP()
		if ip, err := ParseIPv4(information); err == nil {
			ParseUDP(ip)
			EchoReply(ip)
		}
	})
}
