package pppoe

import "encoding/binary"

// bbfVendor is the Broadband Forum's enterprise number, the ADSL Forum of TR-101 appendix A.
const bbfVendor = 0x00000de9

// SubOption numbers the parts of the TR-101 tag (TR-101 appendix A and B, RFC 4679 section 3.3).
type SubOption uint8

// The sub-options with a name here. Rates are in kbit/s, delays in milliseconds.
const (
	SubCircuitID               SubOption = 0x01
	SubRemoteID                SubOption = 0x02
	SubActualRateUp            SubOption = 0x81
	SubActualRateDown          SubOption = 0x82
	SubMinimumRateUp           SubOption = 0x83
	SubMinimumRateDown         SubOption = 0x84
	SubAttainableRateUp        SubOption = 0x85
	SubAttainableRateDown      SubOption = 0x86
	SubMaximumRateUp           SubOption = 0x87
	SubMaximumRateDown         SubOption = 0x88
	SubMinimumRateLowPowerUp   SubOption = 0x89
	SubMinimumRateLowPowerDown SubOption = 0x8a
	SubMaximumDelayUp          SubOption = 0x8b
	SubActualDelayUp           SubOption = 0x8c
	SubMaximumDelayDown        SubOption = 0x8d
	SubActualDelayDown         SubOption = 0x8e
	SubAccessLoopEncapsulation SubOption = 0x90
)

// AccessLine is what the access node says about the subscriber's line. Empty fields were not sent.
type AccessLine struct {
	CircuitID []byte
	RemoteID  []byte
	Line      []LineValue // the other sub-options, in the order sent
}

// LineValue is one line characteristic, as sent.
type LineValue struct {
	Type  SubOption
	Value []byte
}

// Value returns a characteristic of four bytes: a rate in kbit/s or a delay in milliseconds.
func (a AccessLine) Value(t SubOption) (v uint32, ok bool) {
	for _, l := range a.Line {
		if l.Type == t && len(l.Value) == 4 {
			return binary.BigEndian.Uint32(l.Value), true
		}
	}
	return 0, false
}

// parseAccessLine decodes the value of a vendor-specific tag; false if it is another vendor's or the
// sub-options do not fit. Their numbers are a space of their own, never PPPoE tag types.
func parseAccessLine(b []byte) (AccessLine, bool) {
	if len(b) < 4 || binary.BigEndian.Uint32(b) != bbfVendor {
		return AccessLine{}, false
	}
	var a AccessLine
	for b = b[4:]; len(b) > 0; {
		if len(b) < 2 || int(b[1]) > len(b)-2 {
			return AccessLine{}, false
		}
		t, value := SubOption(b[0]), own(b[2:2+int(b[1])])
		b = b[2+int(b[1]):]
		switch t {
		case SubCircuitID:
			a.CircuitID = value
		case SubRemoteID:
			a.RemoteID = value
		default:
			a.Line = append(a.Line, LineValue{Type: t, Value: value})
		}
	}
	return a, true
}
