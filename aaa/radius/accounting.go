package radius

import (
	"encoding/binary"
	"net/netip"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"
	"layeh.com/radius/rfc3162"
	"layeh.com/radius/rfc4818"
	"layeh.com/radius/rfc6911"

	"vbng/aaa"
)

// describeRecord fills an Accounting-Request that is sent at now.
func describeRecord(p *radius.Packet, r aaa.Record, n nas, now time.Time) {
	addNumber(p, rfc2866.AcctStatusType_Type, uint32(r.Type))
	addText(p, rfc2866.AcctSessionID_Type, r.AcctSessionID)
	describeNAS(p, n)
	addNumber(p, rfc2869.EventTimestamp_Type, uint32(r.Time.Unix())) // RFC 2869 5.3
	addNumber(p, rfc2866.AcctDelayTime_Type, seconds(now.Sub(r.Time)))
	if r.Type == aaa.AccountingOn || r.Type == aaa.AccountingOff {
		return
	}
	addText(p, rfc2865.UserName_Type, r.Username)
	describeLine(p, r.Line)
	for _, class := range r.Class {
		p.Add(rfc2865.Class_Type, class)
	}
	describeAddresses(p, r)
	if r.Authentic != 0 {
		addNumber(p, rfc2866.AcctAuthentic_Type, uint32(r.Authentic))
	}
	if r.Type == aaa.Start {
		return
	}
	describeUsage(p, r)
	if r.Type == aaa.Stop {
		addNumber(p, rfc2866.AcctTerminateCause_Type, uint32(r.Cause))
	}
}

// describeAddresses tells what the session holds at the time of the record.
func describeAddresses(p *radius.Packet, r aaa.Record) {
	if r.Address.Is4() {
		p.Add(rfc2865.FramedIPAddress_Type, r.Address.AsSlice())
	}
	if r.InterfaceID != 0 {
		p.Add(rfc3162.FramedInterfaceID_Type, binary.BigEndian.AppendUint64(nil, r.InterfaceID))
	}
	if r.Prefix.IsValid() {
		p.Add(rfc3162.FramedIPv6Prefix_Type, prefixValue(r.Prefix))
	}
	if r.Delegated.IsValid() {
		p.Add(rfc4818.DelegatedIPv6Prefix_Type, prefixValue(r.Delegated))
	}
	if r.Address6.Is6() {
		p.Add(rfc6911.FramedIPv6Address_Type, r.Address6.AsSlice())
	}
}

// prefixValue is the value of an attribute that is an IPv6 prefix (RFC 3162 2.3): a reserved octet, the
// length, and the octets that the length reaches into.
func prefixValue(p netip.Prefix) []byte {
	a := p.Masked().Addr().As16()
	return append([]byte{0, byte(p.Bits())}, a[:(p.Bits()+7)/8]...)
}

func describeUsage(p *radius.Packet, r aaa.Record) {
	addNumber(p, rfc2866.AcctSessionTime_Type, seconds(r.SessionTime))
	addOctets(p, rfc2866.AcctInputOctets_Type, rfc2869.AcctInputGigawords_Type, r.Usage.InputBytes)
	addOctets(p, rfc2866.AcctOutputOctets_Type, rfc2869.AcctOutputGigawords_Type, r.Usage.OutputBytes)
	addNumber(p, rfc2866.AcctInputPackets_Type, uint32(r.Usage.InputPackets)) // no wider attribute exists
	addNumber(p, rfc2866.AcctOutputPackets_Type, uint32(r.Usage.OutputPackets))
}

// addOctets splits a counter into its low 32 bits and the wraps of those (RFC 2869 5.1).
func addOctets(p *radius.Packet, octets, gigawords radius.Type, count uint64) {
	addNumber(p, octets, uint32(count))
	addNumber(p, gigawords, uint32(count>>32))
}

func addNumber(p *radius.Packet, t radius.Type, n uint32) { p.Add(t, radius.NewInteger(n)) }

// seconds rounds down; a time that has not come yet is 0.
func seconds(d time.Duration) uint32 { return uint32(max(d, 0) / time.Second) }
