package radius

import (
	"fmt"
	"net/netip"
	"strings"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2869"
	"layeh.com/radius/rfc3162"
	"layeh.com/radius/rfc4603"

	"vbng/aaa"
)

// Vendors (IANA private enterprise numbers) and the attributes of theirs that we speak.
const (
	vendorMicrosoft = 311  // RFC 2548
	vendorADSLForum = 3561 // RFC 4679
	vendorAlcatel   = 6527

	msPrimaryDNSServer   = 28 // RFC 2548 2.7.1
	msSecondaryDNSServer = 29 // RFC 2548 2.7.2
	adslAgentCircuitID   = 1  // RFC 4679 3.3.1
	adslAgentRemoteID    = 2  // RFC 4679 3.3.2
	alcDHCPVendorClass   = 36 // DHCP option 60; there is no standard attribute for it
)

// The subscriber's own words that go into attributes.
const (
	serviceBytes     = 235 // Called-Station-Id holds 253 octets, 18 of them for our address
	vendorValueBytes = 247 // in the only sub-attribute of a Vendor-Specific
)

// fit drops from a line what does not fit into an attribute, and names it. These octets are the
// subscriber's choice: an absurd tag must not keep it from being asked about.
func fit(line aaa.Line) (fitting aaa.Line, dropped []string) {
	if len(line.Service) > serviceBytes {
		line.Service = ""
		dropped = append(dropped, "Service-Name")
	}
	if len(line.CircuitID) > vendorValueBytes {
		line.CircuitID = nil
		dropped = append(dropped, "Agent-Circuit-Id")
	}
	if len(line.RemoteID) > vendorValueBytes {
		line.RemoteID = nil
		dropped = append(dropped, "Agent-Remote-Id")
	}
	if len(line.Vendor) > vendorValueBytes {
		line.Vendor = nil
		dropped = append(dropped, "DHCP vendor class")
	}
	return line, dropped
}

// nas is what a packet says about us.
type nas struct {
	identifier         string
	address4, address6 netip.Addr // invalid: not said
}

// nasFor says the configured addresses, and in their place the one that the packet is sent from, if the
// socket is bound to one.
func nasFor(s Settings, local netip.Addr) nas {
	n := nas{s.NASIdentifier, s.NASAddress, s.NASAddress6}
	local = local.WithZone("")
	switch {
	case local.IsUnspecified():
	case local.Is4() && !n.address4.IsValid():
		n.address4 = local
	case local.Is6() && !n.address6.IsValid():
		n.address6 = local
	}
	return n
}

// describeNAS tells who asks.
func describeNAS(p *radius.Packet, n nas) {
	addText(p, rfc2865.NASIdentifier_Type, n.identifier)
	if n.address4.Is4() {
		p.Add(rfc2865.NASIPAddress_Type, n.address4.AsSlice())
	}
	if n.address6.Is6() {
		p.Add(rfc3162.NASIPv6Address_Type, n.address6.AsSlice())
	}
}

// describeLine tells where the subscriber is attached; requests and records say the same.
func describeLine(p *radius.Packet, line aaa.Line) {
	p.Add(rfc2865.NASPort_Type, radius.NewInteger(nasPort(line)))
	p.Add(rfc2865.NASPortType_Type, radius.NewInteger(uint32(nasPortType(line))))
	addText(p, rfc2869.NASPortID_Type, nasPortID(line))
	p.Add(rfc2865.ServiceType_Type, radius.NewInteger(uint32(rfc2865.ServiceType_Value_FramedUser)))
	if line.Access != aaa.IPoE {
		p.Add(rfc2865.FramedProtocol_Type, radius.NewInteger(uint32(rfc2865.FramedProtocol_Value_PPP)))
	}
	addText(p, rfc2865.CallingStationID_Type, station(line.MAC))
	called := station(line.OwnMAC)
	if line.Service != "" {
		called += ":" + line.Service
	}
	addText(p, rfc2865.CalledStationID_Type, called)
	addVendor(p, vendorADSLForum, adslAgentCircuitID, line.CircuitID)
	addVendor(p, vendorADSLForum, adslAgentRemoteID, line.RemoteID)
	addVendor(p, vendorAlcatel, alcDHCPVendorClass, line.Vendor)
}

// nasPort packs the line into the 32 bits of NAS-Port: the port's index modulo 256, then the outer
// and the inner VLAN, twelve bits each (0: untagged).
//
//	 31      24 23          12 11           0
//	|  port   |  outer VLAN  |  inner VLAN  |
func nasPort(line aaa.Line) uint32 {
	return line.PortIndex&0xff<<24 | uint32(line.OuterVLAN)&0xfff<<12 | uint32(line.InnerVLAN)&0xfff
}

// nasPortType is how PPPoE is carried (RFC 4603 2); IPoE is plain Ethernet.
func nasPortType(line aaa.Line) rfc2865.NASPortType {
	switch {
	case line.Access == aaa.IPoE:
		return rfc2865.NASPortType_Value_Ethernet
	case line.InnerVLAN != 0:
		return rfc4603.NASPortType_Value_PPPoEoQinQ
	case line.OuterVLAN != 0:
		return rfc4603.NASPortType_Value_PPPoEoVLAN
	}
	return rfc4603.NASPortType_Value_PPPoEoE
}

// nasPortID is "access0", "access0:100" or "access0:100.200": port, outer VLAN, inner VLAN.
func nasPortID(line aaa.Line) string {
	switch {
	case line.InnerVLAN != 0:
		return fmt.Sprintf("%s:%d.%d", line.Port, line.OuterVLAN, line.InnerVLAN)
	case line.OuterVLAN != 0:
		return fmt.Sprintf("%s:%d", line.Port, line.OuterVLAN)
	}
	return line.Port
}

// station prints an Ethernet address as RFC 3580 3.20 wants it: "00-10-A4-23-19-C0".
func station(mac [6]byte) string {
	return strings.ToUpper(fmt.Sprintf("%02x-%02x-%02x-%02x-%02x-%02x", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]))
}

// addText adds a text attribute; an empty one must not be sent (RFC 2865 5). A text that does not
// fit makes the packet impossible to encode.
func addText(p *radius.Packet, t radius.Type, text string) {
	if text != "" {
		p.Add(t, radius.Attribute(text))
	}
}

// addVendor adds one vendor attribute in the format of RFC 2865 5.26; the value fits.
func addVendor(p *radius.Packet, vendor uint32, t byte, value []byte) {
	if len(value) == 0 {
		return
	}
	content := append(radius.NewInteger(vendor), t, byte(2+len(value)))
	p.Add(rfc2865.VendorSpecific_Type, append(content, value...))
}
