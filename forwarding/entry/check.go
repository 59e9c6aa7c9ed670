package entry

import (
	"net/netip"
	"strings"
)

// MaxDeviceBytes bounds Port.Device and Port.Namespace.
const MaxDeviceBytes = 63

// check returns why an entry can be accepted by no forwarder, empty if it can. What needs tables to be
// judged (references, capacity) is the forwarder's own business. Of a Delete only the key counts.
func (a *Any) check() string {
	put := a.Verb == Put
	switch a.Kind {
	case KindPort:
		return a.Port.check(put)
	case KindInterface:
		return a.Interface.check(put)
	case KindLocal:
		return checkUnicast(a.Local.Addr)
	case KindNeighbor:
		return checkUnicast(a.Neighbor.Addr)
	case KindSession:
		return a.Session.check(put)
	case KindEcho:
		return checkNonZero(uint64(a.Echo.Session), "echo without session")
	case KindGroup:
		return a.Group.check(put)
	case KindRoute:
		return a.Route.check(put)
	case KindPolicer:
		if a.Policer.Class == 0 || a.Policer.Class >= NumClasses {
			return "unknown punt class"
		}
	case KindCapture:
		return a.Capture.check(put)
	}
	return ""
}

func checkNonZero(id uint64, reason string) string {
	if id == 0 {
		return reason
	}
	return ""
}

func (p *Port) check(put bool) string {
	switch {
	case p.ID == 0:
		return "port id is 0"
	case !put:
		return ""
	case p.Driver == 0 || p.Driver > DriverAFXDP:
		return "unknown port driver"
	case p.Device == "":
		return "port without device"
	case strings.IndexByte(p.Device, 0) >= 0:
		return "device name holds a NUL byte"
	case strings.IndexByte(p.Namespace, 0) >= 0:
		return "namespace holds a NUL byte"
	case p.XDP >= numXDPModes:
		return "unknown XDP mode"
	case multicast(p.MAC):
		return "port has a multicast MAC address"
	}
	return ""
}

func (i *Interface) check(put bool) string {
	switch {
	case i.ID == 0:
		return "interface id is 0"
	case !put:
		return ""
	case i.Port == 0:
		return "interface without port"
	case multicast(i.MAC):
		return "interface has a multicast MAC address"
	case i.Verify >= numVerifies:
		return "unknown reverse-path check"
	case optional4(i.Source4) || optional6(i.Source6):
		return "source of ICMP errors is of another family or no unicast address"
	}
	return checkTags(i.OuterTPID, i.OuterVLAN, i.InnerVLAN)
}

func (s *Session) check(put bool) string {
	switch {
	case s.ID == 0:
		return "session id is 0"
	case !put:
		return ""
	case s.Port == 0:
		return "session without port"
	case s.PPPoE == 0xffff: // RFC 2516 4: reserved
		return "PPPoE session id is 0xffff"
	case s.PeerMAC == MAC{} || multicast(s.PeerMAC):
		return "peer MAC address is not unicast"
	case multicast(s.OwnMAC):
		return "own MAC address is multicast"
	case s.IPv4.IsValid() && !s.IPv4.Is4():
		return "IPv4 address is of another family"
	case s.IPv6.IsValid() && (!s.IPv6.Addr().Is6() || s.IPv6.Addr().Is4In6() || s.IPv6.Masked() != s.IPv6):
		return "IPv6 prefix is of another family or has bits behind its length"
	case optional4(s.Gateway4) || optional6(s.Gateway6):
		return "gateway address is of another family or no unicast address"
	case s.LinkLocal.IsValid() && !s.LinkLocal.IsLinkLocalUnicast():
		return "link-local address is none"
	case s.MTU == 0:
		return "session MTU is 0"
	}
	return checkTags(s.OuterTPID, s.OuterVLAN, s.InnerVLAN)
}

func (r *Route) check(put bool) string {
	switch {
	case !r.Prefix.IsValid():
		return "prefix is not valid"
	case r.Prefix != r.Prefix.Masked():
		return "prefix has bits behind its length"
	case r.Prefix.Addr().Is4In6():
		return "prefix is IPv4 inside IPv6"
	case put:
		return r.Target.check(r.Prefix)
	case r.Cover.Kind == 0 && r.CoverLength != 0:
		return "covering prefix leads nowhere"
	case r.Cover.Kind == 0:
		return ""
	case int(r.CoverLength) >= r.Prefix.Bits():
		return "covering prefix is not shorter"
	}
	return r.Cover.check(r.Prefix)
}

func (t *Target) check(p netip.Prefix) string {
	switch t.Kind {
	case TargetDrop, TargetLocal:
		return ""
	case TargetConnected:
		return checkNonZero(uint64(t.Interface), "connected target without interface")
	case TargetNeighbor:
		if t.Interface == 0 {
			return "neighbor target without interface"
		}
		// An IPv6 next hop for an IPv4 prefix is legal (RFC 8950); the other way is not.
		if p.Addr().Is6() && t.Addr.Is4() {
			return "next hop is of another family"
		}
		return checkUnicast(t.Addr)
	case TargetSession:
		return checkNonZero(uint64(t.Session), "session target without session")
	case TargetGroup:
		return checkNonZero(uint64(t.Group), "group target without group")
	}
	return "unknown kind of target"
}

func (g *Group) check(put bool) string {
	switch {
	case g.ID == 0:
		return "group id is 0"
	case !put:
		return ""
	case g.Count == 0 || g.Count > MaxHops:
		return "group without next hops or with more than 64"
	}
	for _, h := range g.Hops[:g.Count] {
		if h.Interface == 0 {
			return "next hop without interface"
		}
		if reason := checkUnicast(h.Addr); reason != "" {
			return reason
		}
	}
	return ""
}

func (c *Capture) check(put bool) string {
	switch {
	case c.ID == 0:
		return "capture id is 0"
	case !put:
		return ""
	case !c.oneObject():
		return "capture is not of one port, one interface or one session"
	case c.Packets == 0 || c.SnapBytes == 0:
		return "capture of no packets or no bytes"
	}
	return ""
}

func (c *Capture) oneObject() bool {
	n := 0
	for _, said := range [...]bool{c.Port != 0, c.Interface != 0, c.Session != 0} {
		if said {
			n++
		}
	}
	return n == 1
}

func checkTags(tpid, outer, inner uint16) string {
	switch {
	case tpid == 0 && (outer != 0 || inner != 0):
		return "VLAN without outer TPID"
	case tpid != 0 && tpid < 0x0600: // IEEE 802.3: below is a length
		return "outer TPID is no ethertype"
	case outer > 4094 || inner > 4094: // IEEE 802.1Q: 4095 is reserved
		return "VLAN id is over 4094"
	}
	return ""
}

func checkUnicast(a netip.Addr) string {
	switch {
	case !a.IsValid():
		return "address is missing"
	case a.IsMulticast():
		return "address is multicast"
	case a.IsUnspecified():
		return "address is unspecified"
	case a.Is4In6():
		return "address is IPv4 inside IPv6"
	}
	return ""
}

// optional4 reports whether an address that may be missing is no IPv4 unicast address.
func optional4(a netip.Addr) bool {
	return a.IsValid() && (!a.Is4() || checkUnicast(a) != "")
}

// optional6 reports whether an address that may be missing is no IPv6 unicast address.
func optional6(a netip.Addr) bool {
	return a.IsValid() && (!a.Is6() || checkUnicast(a) != "")
}

func multicast(m MAC) bool { return m[0]&1 != 0 }
