package radius

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"layeh.com/radius"
	"layeh.com/radius/rfc3162"
	"layeh.com/radius/rfc4818"
	"layeh.com/radius/rfc6911"
)

// advertisedBits is the only length of a prefix that hosts make addresses from (RFC 4862 5.5.3 with the
// interface identifiers of RFC 2464 and 5072).
const advertisedBits = 64

// maxDelegatedBits leaves the router that gets a prefix something to hand on.
const maxDelegatedBits = 64

// readIPv6 reads the attributes about IPv6; known is false for another one.
func (a *accept) readIPv6(t radius.Type, name string, value []byte) (known bool, err error) {
	g := &a.grant
	switch t {
	case rfc3162.FramedInterfaceID_Type:
		err = a.readInterfaceID(name, value)
	case rfc3162.FramedIPv6Prefix_Type:
		err = a.readPrefix(name, value, &g.Prefix, advertisedBits, advertisedBits)
	case rfc4818.DelegatedIPv6Prefix_Type:
		err = a.readPrefix(name, value, &g.Delegated, 1, maxDelegatedBits)
	case rfc6911.FramedIPv6Address_Type:
		err = a.readAddress6(name, value)
	case rfc6911.DNSServerIPv6Address_Type:
		err = a.readDNS6(name, value)
	case rfc3162.FramedIPv6Pool_Type:
		g.PrefixPool = string(value)
	case rfc6911.DelegatedIPv6PrefixPool_Type:
		g.DelegatedPool = string(value)
	case rfc6911.StatefulIPv6AddressPool_Type:
		g.Pool6 = string(value)
	default:
		return false, nil
	}
	return true, err
}

// readInterfaceID reads a Framed-Interface-Id (RFC 3162 2.2); zero identifies nothing (RFC 5072 4.1).
func (a *accept) readInterfaceID(name string, value []byte) error {
	if len(value) != 8 {
		return fmt.Errorf("%s has %d octets in place of 8", name, len(value))
	}
	id := binary.BigEndian.Uint64(value)
	if id == 0 {
		return fmt.Errorf("%s is zero", name)
	}
	a.grant.InterfaceID = id
	return nil
}

// readPrefix reads a prefix between two lengths (RFC 3162 2.3, RFC 4818 3). A subscriber has one of each
// kind: the first that is said.
func (a *accept) readPrefix(name string, value []byte, field *netip.Prefix, least, most int) error {
	prefix, err := parsePrefix(name, value)
	switch {
	case err != nil:
		return err
	case !routable(prefix.Addr()):
		return fmt.Errorf("%s %v cannot be a subscriber's", name, prefix)
	case prefix.Bits() < least || prefix.Bits() > most:
		return fmt.Errorf("%s %v has a length of %d, only %s can be given", name, prefix, prefix.Bits(), span(least, most))
	case field.IsValid():
		a.ignore("second " + name)
	default:
		*field = prefix
	}
	return nil
}

func span(least, most int) string {
	if least == most {
		return fmt.Sprint(most)
	}
	return fmt.Sprintf("%d to %d", least, most)
}

// parsePrefix decodes a reserved octet, a length and at most 16 octets. Those that the length reaches into
// must be there, and bits beyond it must be zero.
func parsePrefix(name string, value []byte) (netip.Prefix, error) {
	if len(value) < 2 || len(value) > 18 {
		return netip.Prefix{}, fmt.Errorf("%s has %d octets in place of 2 to 18", name, len(value))
	}
	bits := int(value[1])
	if bits > 128 || (bits+7)/8 > len(value)-2 {
		return netip.Prefix{}, fmt.Errorf("%s has %d octets, its length is %d bits", name, len(value)-2, bits)
	}
	var octets [16]byte
	copy(octets[:], value[2:])
	prefix := netip.PrefixFrom(netip.AddrFrom16(octets), bits)
	if prefix.Masked() != prefix {
		return netip.Prefix{}, fmt.Errorf("%s %v has bits set beyond its length", name, prefix)
	}
	return prefix, nil
}

func (a *accept) readAddress6(name string, value []byte) error {
	address, err := parseAddress6(name, value)
	if err != nil {
		return err
	}
	if a.grant.Address6.IsValid() {
		a.ignore("second " + name)
		return nil
	}
	a.grant.Address6 = address
	return nil
}

// readDNS6: clients are told two (RFC 6911 3.2 permits any number).
func (a *accept) readDNS6(name string, value []byte) error {
	address, err := parseAddress6(name, value)
	if err != nil {
		return err
	}
	for i := range a.grant.DNS6 {
		if !a.grant.DNS6[i].IsValid() {
			a.grant.DNS6[i] = address
			return nil
		}
	}
	a.ignore("third " + name)
	return nil
}

func parseAddress6(name string, value []byte) (netip.Addr, error) {
	if len(value) != 16 {
		return netip.Addr{}, fmt.Errorf("%s has %d octets in place of 16", name, len(value))
	}
	address := netip.AddrFrom16([16]byte(value))
	if !routable(address) {
		return netip.Addr{}, fmt.Errorf("%s %v is no host's address", name, address)
	}
	return address, nil
}

// routable tells an address or prefix that packets can be sent to beyond one link.
func routable(a netip.Addr) bool {
	return a.Is6() && !a.Is4In6() && a.IsGlobalUnicast()
}
