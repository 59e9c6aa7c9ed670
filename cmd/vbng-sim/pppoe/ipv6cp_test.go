package pppoe

import (
	"testing"

	"vbng/cmd/vbng-sim/frame"
	"vbng/cmd/vbng-sim/host6"
	"vbng/cmd/vbng-sim/life"
	"vbng/cmd/vbng-sim/toy"
)

const number = 5

// newDual is a concentrator whose client wants all of IPv6.
func newDual(t *testing.T) *concentrator {
	a := newConcentrator(t, MethodPAP)
	six := host6.DefaultSettings(a.client.settings.Random)
	six.NA, six.PD = true, true
	a.client.settings.IPv6 = &six
	a.toy = toy.New(a.mac)
	return a
}

// ipv6 answers IPV6CP; the note may be muted, naked or rejected.
func (a *concentrator) ipv6(protocol uint16, p packet) [][]byte {
	switch {
	case protocol != frame.ProtocolIPV6CP:
		a.t.Errorf("protocol %#04x", protocol)
	case p.code == configureRequest && a.note("IPV6CP request"):
		switch {
		case a.mute["identifier"]:
			return a.send(protocol, configureReject, p.id, p.data)
		case a.mute["speaks"]:
			return a.send(frame.ProtocolLCP, protocolReject, 1, []byte{0x80, 0x57, p.code, p.id})
		case a.count("IPV6CP request") == 1 && a.mute["suggest"]:
			return a.send(protocol, configureNak, p.id, appendOption(nil, optionInterfaceID, 0, 0, 0, 0, 0, 0, 0, 9))
		}
		out := a.send(protocol, configureAck, p.id, p.data)
		if a.mute["our own IPV6CP"] {
			return out
		}
		return append(out, a.send(protocol, configureRequest, 33, appendOption(nil, optionInterfaceID, 2, 0, 0, 0xff, 0xfe, 0, 0, 0xac))...)
	case p.code != configureRequest:
		a.note("IPV6CP other")
	}
	return nil
}

func (a *concentrator) network6(b []byte) (out [][]byte) {
	p, err := frame.ParseIPv6(b)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, answer := range a.toy.IPv6(number, p, frame.MAC{}) {
		f := frame.AppendEthernet(nil, a.client.MAC, a.mac, a.client.Tags, frame.TypeSession)
		f = append(frame.AppendPPP(f, a.session, frame.ProtocolIPv6, len(answer)), answer...)
		out = append(out, a.deliver(f)...)
	}
	return out
}

func TestDualStackOverPPP(t *testing.T) {
	a := newDual(t)
	a.run(a.client.Start(0))
	a.mustBeUp()
	got := a.client.Addresses()
	if got.SLAAC != frame.Join(toy.Advertised(number).Addr(), a.client.MAC.EUI64()) || got.Delegated != toy.Delegated(number) ||
		got.Assigned != toy.Assigned(number).Addr() {
		t.Errorf("addresses %+v", got)
	}
	if a.toy.Count("NS")+a.toy.Count("probe") != 0 {
		t.Errorf("link-layer addresses were asked for: %v", a.toy.Notes)
	}
	if a.client.RouterID != (frame.InterfaceID{2, 0, 0, 0xff, 0xfe, 0, 0, 0xac}) {
		t.Errorf("the router's identifier is %x", a.client.RouterID)
	}
	for a.toy.Count("Renew") == 0 && a.client.State().Deadline != 0 {
		a.now = a.client.State().Deadline
		a.run(a.client.Expire(a.now))
	}
	a.mustBeUp()
}

func TestTheIdentifierOfANakIsTaken(t *testing.T) {
	a := newDual(t)
	a.mute["suggest"] = true
	a.run(a.client.Start(0))
	a.mustBeUp()
	if got := a.client.Addresses().SLAAC; got != frame.Join(toy.Advertised(number).Addr(), frame.InterfaceID{7: 9}) {
		t.Errorf("address %v", got)
	}
}

func TestFailuresOfIPv6OverPPPHaveCauses(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(a *concentrator)
		cause string
	}{
		"silence":    {func(a *concentrator) { a.mute["IPV6CP request"] = true }, "ipv6cp-timeout"},
		"identifier": {func(a *concentrator) { a.mute["identifier"] = true }, "ipv6cp-no-agreement"},
		"protocol":   {func(a *concentrator) { a.mute["speaks"] = true }, "protocol-rejected"},
		"advert":     {func(a *concentrator) { a.toy.Mute["RS"] = true }, "ra-timeout"},
		"pool":       {func(a *concentrator) { a.toy.Refuse = 6 }, "dhcpv6-refused"},
	} {
		a := newDual(t)
		test.spoil(a)
		a.run(a.client.Start(0))
		for range 30 {
			if s := a.client.State(); s.Stage != life.Ended && s.Deadline != 0 {
				a.now = s.Deadline
				a.run(a.client.Expire(a.now))
			}
		}
		if got := a.client.State(); got.Cause != test.cause || a.count("PADT") != 1 {
			t.Errorf("%s: %+v, %d PADT", name, got, a.count("PADT"))
		}
	}
}

// The router begins IPV6CP as soon as the line is authenticated, and may be done before IPCP is.
func TestIPV6CPMayComeBeforeIPCPIsDone(t *testing.T) {
	a := newDual(t)
	a.mute["IPCP request"], a.mute["our own IPV6CP"] = true, true
	a.run(a.client.Start(0))
	a.run(a.send(frame.ProtocolIPV6CP, configureRequest, 7, appendOption(nil, optionInterfaceID, 0, 0, 0, 0, 0, 0, 0, 1)))
	a.mute["IPCP request"] = false
	a.expire()
	a.mustBeUp()
}

func TestIPV6CPIsRejectedByAClientThatWantsIPv4Only(t *testing.T) {
	a := newConcentrator(t, MethodPAP)
	a.run(a.client.Start(0))
	a.run(a.send(frame.ProtocolIPV6CP, configureRequest, 7, nil))
	if a.seen.code != protocolReject {
		t.Errorf("answered with code %d", a.seen.code)
	}
	a.mustBeUp()
}
