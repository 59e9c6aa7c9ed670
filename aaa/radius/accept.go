package radius

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2869"

	"vbng/aaa"
)

// interimFloor is the shortest Acct-Interim-Interval that RFC 2869 5.16 permits.
const interimFloor = 60 * time.Second

// Framed-IP-Address values that are no addresses (RFC 2865 5.8).
var (
	addressByUser = netip.AddrFrom4([4]byte{255, 255, 255, 255})
	addressByNAS  = netip.AddrFrom4([4]byte{255, 255, 255, 254})
	futureUse     = netip.PrefixFrom(netip.AddrFrom4([4]byte{240, 0, 0, 0}), 4)
	thisNetwork   = netip.PrefixFrom(netip.AddrFrom4([4]byte{}), 8)
)

// accept is what an Access-Accept says.
type accept struct {
	grant    aaa.Grant
	messages []string
	ignored  []string // attributes that are not honoured, by name and, where it matters, value
}

func (a *accept) ignore(name string) { a.ignored = append(a.ignored, name) }

// decodeAccept reads the attributes of an Access-Accept. The error tells which one cannot be
// honoured in a way that makes the whole grant void.
func decodeAccept(attributes radius.Attributes) (a accept, err error) {
	defer survive(&err)
	for _, attribute := range attributes {
		if attribute.Type == rfc2865.VendorSpecific_Type {
			err = a.readVendor(attribute.Attribute)
		} else {
			err = a.read(attribute.Type, attribute.Attribute)
		}
		if err != nil {
			return a, err
		}
	}
	a.grant.Message = strings.Join(a.messages, " ")
	return a, nil
}

func (a *accept) read(t radius.Type, value []byte) error {
	name := attributeName(byte(t))
	if len(value) == 0 {
		return fmt.Errorf("%s is empty", name) // RFC 2865 5: Length is at least 3
	}
	g := &a.grant
	switch t {
	case rfc2865.UserName_Type:
		g.Username = string(value)
	case rfc2865.FramedIPAddress_Type:
		return a.readAddress(name, value)
	case rfc2869.FramedPool_Type:
		g.Pool = string(value)
	case rfc2865.ReplyMessage_Type:
		a.messages = append(a.messages, string(value))
	case rfc2865.Class_Type:
		g.Class = append(g.Class, value)
	case rfc2869.MessageAuthenticator_Type: // packet.go has seen to it
	default:
		if known, err := a.readIPv6(t, name, value); known {
			return err
		}
		return a.readNumber(t, name, value)
	}
	return nil
}

// readNumber reads the attributes whose value is a number of four octets.
func (a *accept) readNumber(t radius.Type, name string, value []byte) error {
	switch t {
	case rfc2865.ServiceType_Type, rfc2865.FramedProtocol_Type, rfc2865.FramedIPNetmask_Type,
		rfc2865.SessionTimeout_Type, rfc2865.IdleTimeout_Type, rfc2869.AcctInterimInterval_Type,
		rfc2865.FramedRouting_Type, rfc2865.FramedCompression_Type, rfc2865.TerminationAction_Type:
	default:
		a.ignore(name)
		return nil
	}
	if len(value) != 4 {
		return fmt.Errorf("%s has %d octets in place of 4", name, len(value))
	}
	return a.useNumber(t, name, binary.BigEndian.Uint32(value))
}

func (a *accept) useNumber(t radius.Type, name string, n uint32) error {
	switch t {
	case rfc2865.ServiceType_Type:
		return only(name, n, uint32(rfc2865.ServiceType_Value_FramedUser))
	case rfc2865.FramedProtocol_Type:
		return only(name, n, uint32(rfc2865.FramedProtocol_Value_PPP))
	case rfc2865.SessionTimeout_Type:
		a.grant.SessionTimeout = time.Duration(n) * time.Second
	case rfc2865.IdleTimeout_Type:
		a.grant.IdleTimeout = time.Duration(n) * time.Second
	case rfc2869.AcctInterimInterval_Type:
		a.readInterim(name, n)
	case rfc2865.FramedIPNetmask_Type:
		if n != 1<<32-1 {
			a.ignore(name + " shorter than /32")
		}
	default: // Framed-Routing, Framed-Compression, Termination-Action: 0 asks for what we do
		if n != 0 {
			a.ignore(name)
		}
	}
	return nil
}

// only refuses a value that asks for a service that is not PPP.
func only(name string, n, want uint32) error {
	if n != want {
		return fmt.Errorf("%s is %d, only %d can be given", name, n, want)
	}
	return nil
}

func (a *accept) readInterim(name string, n uint32) {
	interval := time.Duration(n) * time.Second
	switch {
	case interval == 0:
		a.ignore(name + " of 0")
		return
	case interval < interimFloor:
		a.ignore(name + " under 60 (60 is used)")
		interval = interimFloor
	}
	a.grant.InterimInterval = interval
}

func (a *accept) readAddress(name string, value []byte) error {
	address, ok := netip.AddrFromSlice(value)
	if !ok || !address.Is4() {
		return fmt.Errorf("%s has %d octets in place of 4", name, len(value))
	}
	switch {
	case address == addressByNAS: // from the pool
		return nil
	case address == addressByUser:
		a.ignore(name + " 255.255.255.255 (user's choice; the pool is used)")
		return nil
	case thisNetwork.Contains(address), futureUse.Contains(address), address.IsMulticast(), address.IsLoopback():
		return fmt.Errorf("%s %v is no host's address", name, address)
	}
	a.grant.Address = address
	return nil
}

// readVendor reads a Vendor-Specific attribute in the format of RFC 2865 5.26: a vendor, then
// sub-attributes of type, length and value.
func (a *accept) readVendor(content []byte) error {
	if len(content) < 5 {
		return fmt.Errorf("Vendor-Specific has %d octets, too few", len(content))
	}
	vendor, rest := binary.BigEndian.Uint32(content), content[4:]
	if !understood(vendor) {
		a.ignoreVendor(vendor, rest)
		return nil
	}
	for len(rest) > 0 {
		if len(rest) < 2 || rest[1] < 2 || int(rest[1]) > len(rest) {
			return fmt.Errorf("%s attribute has a wrong length", vendorName(vendor))
		}
		t, value := rest[0], rest[2:rest[1]]
		rest = rest[rest[1]:]
		if err := a.useVendor(vendor, t, value); err != nil {
			return err
		}
	}
	return nil
}

func understood(vendor uint32) bool { return vendor == vendorMicrosoft }

func (a *accept) useVendor(vendor uint32, t byte, value []byte) error {
	name := vendorAttributeName(vendor, t)
	if t != msPrimaryDNSServer && t != msSecondaryDNSServer {
		a.ignore(name)
		return nil
	}
	if len(value) != 4 {
		return fmt.Errorf("%s has %d octets in place of 4", name, len(value))
	}
	a.grant.DNS[t-msPrimaryDNSServer] = netip.AddrFrom4([4]byte(value))
	return nil
}

// ignoreVendor names the sub-attributes of a vendor whose format we can only suppose.
func (a *accept) ignoreVendor(vendor uint32, rest []byte) {
	for len(rest) >= 2 && rest[1] >= 2 && int(rest[1]) <= len(rest) {
		a.ignore(vendorAttributeName(vendor, rest[0]))
		rest = rest[rest[1]:]
	}
	if len(rest) > 0 {
		a.ignore(vendorName(vendor) + " attribute of unknown format")
	}
}

// decodeMessage joins the Reply-Messages of a refusal.
func decodeMessage(attributes radius.Attributes) string {
	var messages []string
	for _, a := range attributes {
		if a.Type == rfc2865.ReplyMessage_Type && len(a.Attribute) > 0 {
			messages = append(messages, string(a.Attribute))
		}
	}
	return strings.Join(messages, " ")
}

// accountingIgnored names what an Accounting-Response carries: nothing of it can be honoured.
func accountingIgnored(attributes radius.Attributes) []string {
	var names []string
	for _, a := range attributes {
		if a.Type != rfc2869.MessageAuthenticator_Type {
			names = append(names, attributeName(byte(a.Type))+" in Accounting-Response")
		}
	}
	return names
}
