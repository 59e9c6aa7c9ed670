package crowd

import (
	"io"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"vbng/cmd/vbng-sim/frame"
	"vbng/cmd/vbng-sim/toy"
	"vbng/cmd/vbng-sim/traffic"
)

func kinds() []*kind { return []*kind{&pppoeKind, &ipoeKind} }

func TestADualStackRun(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.command, func(t *testing.T) {
			s := newSceneOf(t, k, append(dualStack, "--count", "40", "--svlan", "100-101", "--cvlan", "1-20", "--size", "64,576,1492",
				"--script", "up; traffic 4000 2s; spoof 160; renew 10; hold 1s; down")...)
			r := s.play()
			if !r.OK || r.Up != 40 || r.UpNow != 0 || r.Strays != 0 {
				t.Fatalf("report %+v", r)
			}
			if (r.FirstPADI != 0) != (k == &pppoeKind) || (r.FirstDiscover != 0) != (k == &ipoeKind) {
				t.Errorf("first PADI %v, first DISCOVER %v", r.FirstPADI, r.FirstDiscover)
			}
			sum := uint64(0)
			for _, name := range []string{"ipv4", "ipv6_slaac", "ipv6_na", "ipv6_pd"} {
				part := r.Families[name]
				sum += part.Up.Sent
				if part.Up.Sent < 1900 || part.Down.Received != part.Up.Sent {
					t.Errorf("%s: %+v", name, part)
				}
			}
			if sum != r.Traffic.Up.Sent || r.Families["ipv6"].Up.Sent+r.Families["ipv4"].Up.Sent != sum {
				t.Errorf("the parts make %d packets of %d", sum, r.Traffic.Up.Sent)
			}
			for i, got := range r.Subscribers {
				session := uint16(i + 1)
				if got.InBytes != s.router.in[session] || got.OutBytes != s.router.out[session] || got.InBytes == 0 {
					t.Errorf("octets %+v, the router counts %d and %d", got, s.router.in[session], s.router.out[session])
				}
				if got.Delegated != toy.Delegated(session).String() || got.Assigned != toy.Assigned(session).Addr().String() {
					t.Errorf("addresses %+v", got)
				}
			}
		})
	}
}

func TestPrefixDelegationAlone(t *testing.T) {
	s := newSceneOf(t, &ipoeKind, "--no-ipv4", "--ipv6-pd", "--internet-address6", "2001:db8:ffff::2/64", "--gateway6", "2001:db8:ffff::1",
		"--count", "5", "--script", "up; traffic 1000 1s")
	s.router.toy.NoPrefix = true
	r := s.play()
	if !r.OK || len(r.Families) != 2 || r.Families["ipv6_pd"].Down.Received < 990 || r.Subscribers[0].Address != "" {
		t.Errorf("report %+v", r)
	}
}

// One packet of a thousand is spoilt, in each family of each kind and in both directions.
func TestInjectedFaultsAreFoundInIPv6(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(h hop) []hop
		want  string
	}{
		"lost":    {func(hop) []hop { return nil }, "lost"},
		"twice":   {func(h hop) []hop { return []hop{h, h} }, "1 duplicate"},
		"swapped": {func(h hop) []hop { h.session = h.session%10 + 1; return []hop{h} }, "1 foreign"},
		"changed": {func(h hop) []hop { h.packet[75] ^= 1; return []hop{h} }, "1 corrupt"},
		"hops":    {func(h hop) []hop { h.packet = forwarded(h.packet); return []hop{h} }, "1 corrupt"},
		"label":   {func(h hop) []hop { h.packet[3] ^= 1; return []hop{h} }, "1 corrupt"},
		"longer":  {func(h hop) []hop { h.packet = append(h.packet, 0); return []hop{h} }, "1 corrupt"},
	} {
		for _, k := range kinds() {
			for _, downstream := range []bool{true, false} {
				if !downstream && (name == "swapped" || name == "longer") {
					continue // upstream there is no encapsulation behind the router
				}
				s := newSceneOf(t, k, append(dualStack, "--count", "10", "--script", "up; traffic 2000 1s")...)
				n := 0
				s.router.spoil = func(h hop) []hop {
					if h.downstream == downstream && h.packet[0]>>4 == 6 {
						if n++; n == 700 {
							return test.spoil(h)
						}
					}
					return []hop{h}
				}
				t.Run(k.command+" "+name, func(t *testing.T) {
					r := s.play()
					s.wantFault(r, test.want)
					if four := r.Families["ipv4"]; four.Up.Lost+four.Down.Lost+four.Up.Foreign+four.Down.Corrupt != 0 {
						t.Errorf("IPv4 is blamed: %+v", four)
					}
				})
			}
		}
	}
}

func TestASpoofedPacketOfEachFlowIsForeign(t *testing.T) {
	for _, k := range kinds() {
		s := newSceneOf(t, k, append(dualStack, "--count", "5", "--script", "up; spoof 8")...)
		s.router.checkSource = false
		r := s.play()
		for f := range traffic.Flow(traffic.Flows) {
			if f != traffic.IPv4 && r.Families[f.String()].Up.Foreign != 2 {
				t.Errorf("%s: %v: %+v", k.command, f, r.Families[f.String()])
			}
		}
	}
}

func TestSilentIPoESubscribersAnswerNothing(t *testing.T) {
	s := newSceneOf(t, &ipoeKind, append(dualStack, "--count", "6", "--svlan", "9", "--script", "up; silence 2; hold 1s; release 2; report /dev/null; down")...)
	asked := false
	replies := map[frame.MAC]bool{}
	output := s.router.access.output
	s.router.access.output = func(b []byte) {
		if e, _ := frame.ParseEthernet(b); e.Type == frame.TypeARP && asked {
			replies[e.Src] = true
		}
		output(b)
	}
	s.at = func() {
		if s.now > 500*time.Millisecond && !asked {
			asked = true
			for session := uint16(1); session <= 6; session++ {
				f := frame.AppendEthernet(nil, frame.Broadcast, s.router.mac, s.router.tags[session], frame.TypeARP)
				s.router.access.inbox = append(s.router.access.inbox, frame.AppendARP(f, frame.ARP{
					Operation: frame.ARPRequest, SenderMAC: s.router.mac, TargetAddr: toy.Addr(session),
				}))
			}
		}
	}
	r := s.play()
	if !r.OK || r.Silent != 2 || len(replies) != 4 || s.router.toy.Count("RELEASE") != 4 || s.router.toy.Count("Release") != 4 {
		t.Errorf("%d replies, released %d, report %+v", len(replies), s.router.toy.Count("RELEASE"), r)
	}
}

// The frames of another simulator on the same devices are nobody's business here.
func TestTwoSimulatorsDoNotDisturbEachOther(t *testing.T) {
	s := newSceneOf(t, &ipoeKind, append(dualStack, "--count", "3", "--svlan", "9", "--script", "up; traffic 300 1s")...)
	other := frame.MAC{2, 0x99, 0, 0, 0, 1}
	theirs := traffic.Probe{
		Run: s.crowd.run + 1, Flow: traffic.SLAAC, Src: toy.Assigned(1).Addr(), Dst: netip.MustParseAddr("2001:db8:ffff::77"), Bytes: 100,
	}.Append(nil)
	theirs[80] ^= 1 // damaged: it cannot be told any more whose it is but by its destination
	s.at = func() {
		tags := s.router.tags[1]
		solicit := frame.AppendEthernet(nil, frame.GroupMAC(frame.AllRouters()), other, tags, frame.TypeIPv6)
		up := frame.AppendEthernet(nil, s.crowd.options.internetMAC, s.router.mac, frame.Tags{}, frame.TypeIPv6)
		down := frame.AppendEthernet(nil, other, s.router.mac, tags, frame.TypeIPv6)
		s.router.access.inbox = append(s.router.access.inbox, append(down, theirs...),
			append(solicit, frame.RouterSolicitation(frame.LinkLocal(other.EUI64()), other)...))
		s.router.inet.inbox = append(s.router.inet.inbox, append(up, theirs...))
	}
	// Frames come all the time here, so the scene must let time pass by itself.
	s.crowd.log = func(format string, arguments ...any) { t.Logf(format, arguments...) }
	for over := false; !over; s.now += time.Millisecond {
		s.at()
		_, over = s.crowd.Round(s.now)
	}
	if r := s.crowd.report(); !r.OK {
		t.Errorf("faults %v", r.Faults)
	}
}

func TestPatterns(t *testing.T) {
	s := newSceneOf(t, &ipoeKind, "--count", "3", "--svlan", "9", "--cvlan", "5-7", "--circuit-id", "olt1 eth 0/%d:%v", "--remote-id", "%m",
		"--client-id", "cpe-%d", "--hostname", "h%d", "--vendor-class", "box", "--script", "up")
	if r := s.play(); !r.OK {
		t.Fatalf("faults %v", r.Faults)
	}
	m := s.router.toy.V4[2]
	if string(m.Circuit) != "olt1 eth 0/3:9.7" || string(m.Remote) != "02:53:00:00:00:03" || string(m.ClientID) != "\x00cpe-3" ||
		m.Hostname != "h3" || m.VendorClass != "box" {
		t.Errorf("told %+v", m)
	}
}

func TestOptionsOfIPoEThatAreRefused(t *testing.T) {
	for arguments, want := range map[string]string{
		"--interface a --user x":                                                              "not defined",
		"--interface a --no-ipv4":                                                             "--no-ipv4 needs",
		"--interface a --circuit-id " + strings.Repeat("x", 240):                              "--circuit-id",
		"--interface a --hostname " + strings.Repeat("x", 250):                                "--hostname",
		"--interface a --ipv6 --internet b --internet-address 10.0.0.2/24 --gateway 10.0.0.1": "--internet-address6",
		"--interface a --gateway6 2001:db8::1":                                                "need --internet",
	} {
		_, err := parseOptions(&ipoeKind, strings.Fields(arguments), &strings.Builder{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", arguments, err, want)
		}
	}
}

func FuzzLineFrames(f *testing.F) {
	o, err := parseOptions(&ipoeKind, append([]string{"--interface", "a", "--internet", "b", "--internet-address", "198.51.100.2/24",
		"--gateway", "198.51.100.1", "--count", "2", "--script", "up"}, dualStack...), io.Discard)
	if err != nil {
		f.Fatal(err)
	}
	line := func(ethertype uint16, to frame.MAC) []byte {
		return frame.AppendEthernet(nil, to, o.macBase, frame.Tags{}, ethertype)
	}
	f.Add(append(line(frame.TypeIPv6, o.macBase), frame.RouterSolicitation(frame.LinkLocal(o.macBase.EUI64()), o.macBase)...))
	f.Add(frame.AppendARP(line(frame.TypeARP, frame.Broadcast), frame.ARP{Operation: 1, TargetAddr: toy.Addr(1)}))
	f.Add(append(line(frame.TypeIPv6, o.internetMAC), frame.NeighborSolicitation(o.gateway6, o.address6, o.macBase)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := newRouter(o)
		c := newCrowd(o, r.access, r.inet, time.Unix(0, 0), rand.New(rand.NewPCG(1, 2)), t.Logf)
		for round := range time.Duration(20) {
			c.Round(round * time.Millisecond)
			if round == 10 {
				r.access.inbox, r.inet.inbox = append(r.access.inbox, b), append(r.inet.inbox, b)
			}
		}
		if r := c.report(); r.Traffic.Up.Received+r.Traffic.Down.Received != 0 {
			t.Errorf("packets judged good that were never sent: %+v", r.Traffic)
		}
	})
}
