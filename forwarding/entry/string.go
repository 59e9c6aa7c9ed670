package entry

import (
	"fmt"
	"net/netip"
	"strings"
)

// String prints the batch one op a line; golden tests compare it.
func (b *Batch) String() string {
	var s strings.Builder
	for _, op := range b.Ops {
		fmt.Fprintln(&s, op)
	}
	return s.String()
}

// String prints the op; of a Delete only what counts.
func (o Op) String() string {
	if o.Verb == Delete {
		return fmt.Sprintf("%v %v", o.Verb, keyLine(o.Entry))
	}
	return fmt.Sprintf("%v %v", o.Verb, o.Entry)
}

func keyLine(e Entry) string {
	switch e := e.(type) {
	case Port:
		return newLine(KindPort, e.ID).String()
	case VRF:
		return newLine(KindVRF, e.ID).String()
	case Interface:
		return newLine(KindInterface, e.ID).String()
	case Neighbor:
		return newLine(KindNeighbor, e.Addr).add("interface", e.Interface).String()
	case Session:
		return newLine(KindSession, e.ID).String()
	case Echo:
		return newLine(KindEcho, e.Session).String()
	case Group:
		return newLine(KindGroup, e.ID).String()
	case Policer:
		return newLine(KindPolicer, e.Class).String()
	case Capture:
		return newLine(KindCapture, e.ID).String()
	case Route:
		e.Target = Target{}
		return e.String()
	}
	return fmt.Sprint(e)
}

var (
	verbNames   = [...]string{Put: "put", Delete: "delete"}
	kindNames   = [...]string{KindPort: "port", KindVRF: "vrf", KindInterface: "interface", KindLocal: "local", KindNeighbor: "neighbor", KindSession: "session", KindEcho: "echo", KindGroup: "group", KindRoute: "route", KindPolicer: "policer", KindCapture: "capture"}
	driverNames = [...]string{DriverAFPacket: "af-packet", DriverTUN: "tun", DriverMemory: "memory", DriverPCAP: "pcap", DriverTAP: "tap", DriverAFXDP: "af-xdp"}
	xdpNames    = [...]string{XDPAny: "any", XDPNative: "native", XDPGeneric: "generic"}
	verifyNames = [...]string{VerifyOff: "off", VerifyStrict: "strict", VerifyLoose: "loose"}
	classNames  = [...]string{ClassPPPoEDiscovery: "pppoe-discovery", ClassPPPControl: "ppp-control", ClassPPPoEUnknown: "pppoe-unknown", ClassARP: "arp", ClassGlean: "glean", ClassLocal: "local",
		ClassND: "nd", ClassSubscriberND: "subscriber-nd", ClassDHCPv4: "dhcpv4", ClassDHCPv6: "dhcpv6", ClassCapture: "capture"}
)

func name[T ~uint8](names []string, v T) string {
	if int(v) < len(names) && names[v] != "" {
		return names[v]
	}
	return fmt.Sprintf("%d?", uint8(v))
}

// String implements fmt.Stringer.
func (v Verb) String() string { return name(verbNames[:], v) }

// String implements fmt.Stringer.
func (k Kind) String() string { return name(kindNames[:], k) }

// String implements fmt.Stringer.
func (d Driver) String() string { return name(driverNames[:], d) }

// String implements fmt.Stringer.
func (x XDPMode) String() string { return name(xdpNames[:], x) }

// String implements fmt.Stringer.
func (v Verify) String() string { return name(verifyNames[:], v) }

// String implements fmt.Stringer.
func (c Class) String() string { return name(classNames[:], c) }

// String prints six colon-separated bytes.
func (m MAC) String() string {
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5])
}

// line collects "word value" pairs; absent values are left out.
type line struct{ strings.Builder }

func newLine(kind Kind, key any) *line {
	l := &line{}
	fmt.Fprintf(l, "%v %v", kind, key)
	return l
}

func (l *line) add(word string, value any) *line {
	fmt.Fprintf(l, " %s %v", word, value)
	return l
}

func (l *line) unless(absent bool, word string, value any) *line {
	if !absent {
		l.add(word, value)
	}
	return l
}

func (l *line) flag(set bool, word string) *line {
	if set {
		l.WriteString(" " + word)
	}
	return l
}

// tags prints 802.1Q tags as vlan 0x88a8:100.7.
func (l *line) tags(tpid, outer, inner uint16) *line {
	switch {
	case tpid == 0:
		return l
	case inner == 0:
		return l.add("vlan", fmt.Sprintf("%#04x:%d", tpid, outer))
	}
	return l.add("vlan", fmt.Sprintf("%#04x:%d.%d", tpid, outer, inner))
}

// String implements fmt.Stringer.
func (p Port) String() string {
	return newLine(KindPort, p.ID).add("driver", p.Driver).add("device", p.Device).
		unless(p.Namespace == "", "namespace", p.Namespace).unless(p.XDP == XDPAny, "xdp", p.XDP).
		unless(p.MTU == 0, "mtu", p.MTU).unless(p.MAC == MAC{}, "mac", p.MAC).flag(p.PPPoE, "pppoe").flag(p.IPoE, "ipoe").String()
}

// String implements fmt.Stringer.
func (v VRF) String() string {
	return newLine(KindVRF, v.ID).unless(v.TUN == 0, "tun", v.TUN).String()
}

// String implements fmt.Stringer.
func (i Interface) String() string {
	return newLine(KindInterface, i.ID).add("port", i.Port).tags(i.OuterTPID, i.OuterVLAN, i.InnerVLAN).
		add("vrf", i.VRF).unless(i.MAC == MAC{}, "mac", i.MAC).unless(i.MTU == 0, "mtu", i.MTU).
		unless(!i.Source4.IsValid(), "source4", i.Source4).unless(!i.Source6.IsValid(), "source6", i.Source6).
		unless(i.Verify == VerifyOff, "verify", i.Verify).unless(i.MSS == 0, "mss", i.MSS).String()
}

// String implements fmt.Stringer.
func (l Local) String() string {
	return newLine(KindLocal, l.Addr).add("interface", l.Interface).String()
}

// String implements fmt.Stringer.
func (n Neighbor) String() string {
	return newLine(KindNeighbor, n.Addr).add("interface", n.Interface).
		unless(!n.Resolved, "mac", n.MAC).flag(!n.Resolved, "unresolved").String()
}

// String implements fmt.Stringer.
func (s Session) String() string {
	return newLine(KindSession, s.ID).add("port", s.Port).tags(s.OuterTPID, s.OuterVLAN, s.InnerVLAN).
		unless(s.PPPoE == 0, "pppoe", s.PPPoE).flag(s.PPPoE == 0, "ipoe").add("peer", s.PeerMAC).unless(s.OwnMAC == MAC{}, "own", s.OwnMAC).add("vrf", s.VRF).
		unless(!s.IPv4.IsValid(), "ipv4", s.IPv4).unless(!s.IPv6.IsValid(), "ipv6", s.IPv6).
		unless(!s.Gateway4.IsValid(), "gateway4", s.Gateway4).unless(!s.Gateway6.IsValid(), "gateway6", s.Gateway6).
		unless(!s.LinkLocal.IsValid(), "link-local", s.LinkLocal).add("mtu", s.MTU).unless(s.MSS == 0, "mss", s.MSS).flag(s.SourceAny, "source-any").
		unless(s.QoSRoot == 0, "qos-root", s.QoSRoot).String()
}

// String implements fmt.Stringer.
func (e Echo) String() string {
	return newLine(KindEcho, e.Session).add("magic", fmt.Sprintf("%#08x", e.LocalMagic)).
		add("peer-magic", fmt.Sprintf("%#08x", e.PeerMagic)).add("interval", fmt.Sprintf("%ds", e.IntervalSeconds)).
		add("misses", e.Misses).add("mru", e.PeerMRU).String()
}

// String implements fmt.Stringer.
func (r Route) String() string {
	l := newLine(KindRoute, r.Prefix).add("vrf", r.VRF).unless(r.Target.Kind == 0, "to", r.Target)
	if r.Cover.Kind != 0 {
		cover := netip.PrefixFrom(r.Prefix.Addr(), int(r.CoverLength)).Masked()
		l.add("cover", cover).add("to", r.Cover)
	}
	return l.String()
}

// String implements fmt.Stringer.
func (t Target) String() string {
	switch t.Kind {
	case TargetDrop:
		return "drop"
	case TargetLocal:
		return "local"
	case TargetConnected:
		return fmt.Sprintf("connected interface %d", t.Interface)
	case TargetNeighbor:
		return fmt.Sprintf("neighbor %v interface %d", t.Addr, t.Interface)
	case TargetSession:
		return fmt.Sprintf("session %d", t.Session)
	case TargetGroup:
		return fmt.Sprintf("group %d", t.Group)
	}
	return fmt.Sprintf("target %d?", t.Kind)
}

// String implements fmt.Stringer.
func (p Policer) String() string {
	return newLine(KindPolicer, p.Class).add("pps", p.PacketsPerSecond).add("burst", p.Burst).
		unless(p.SourcePerSecond == 0, "source-pps", p.SourcePerSecond).
		unless(p.SourceBurst == 0, "source-burst", p.SourceBurst).String()
}

// String implements fmt.Stringer.
func (g Group) String() string {
	l := newLine(KindGroup, g.ID)
	for _, h := range g.Hops[:min(g.Count, MaxHops)] {
		l.add("via", h.Addr).add("interface", h.Interface)
	}
	return l.String()
}

// String implements fmt.Stringer.
func (c Capture) String() string {
	return newLine(KindCapture, c.ID).unless(c.Port == 0, "port", c.Port).
		unless(c.Interface == 0, "interface", c.Interface).unless(c.Session == 0, "session", c.Session).
		add("packets", c.Packets).add("snap", c.SnapBytes).String()
}
