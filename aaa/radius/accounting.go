package radius

import (
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"

	"vbng/aaa"
)

// describeRecord fills an Accounting-Request that is sent at now.
func describeRecord(p *radius.Packet, r aaa.Record, s Settings, now time.Time) {
	addNumber(p, rfc2866.AcctStatusType_Type, uint32(r.Type))
	addText(p, rfc2866.AcctSessionID_Type, r.AcctSessionID)
	describeNAS(p, s)
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
	if r.Address.Is4() {
		a := r.Address.As4()
		p.Add(rfc2865.FramedIPAddress_Type, a[:])
	}
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
