package radius

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"layeh.com/radius"

	"vbng/aaa"
)

// trace returns who hears what the exchange says, mostly nobody.
func (x *exchange) trace() aaa.Trace {
	if x.kind == accounting {
		return x.record.Trace
	}
	return x.request.Trace
}

const (
	maxTracedBytes = 48
	maxTraced      = 48
)

// describePacket tells a packet's code and attributes, without what is secret.
func describePacket(wire []byte) (text string) {
	defer func() {
		if recover() != nil {
			text = "[not understood]"
		}
	}()
	attributes, err := radius.ParseAttributes(wire[headerBytes:])
	if err != nil {
		return "[not understood]"
	}
	return describeReply(reply{radius.Code(wire[0]), attributes})
}

func describeReply(r reply) string {
	words := []string{r.code.String()}
	for i, a := range r.attributes {
		if i == maxTraced {
			words = append(words, fmt.Sprintf("and %d more", len(r.attributes)-i))
			break
		}
		words = append(words, describeAttribute(byte(a.Type), a.Attribute))
	}
	return strings.Join(words, " ")
}

// describeAttribute tells a name, and the value where it is known to be no secret; else its length.
func describeAttribute(t byte, value []byte) string {
	if t == vendorSpecific && len(value) >= 6 {
		return fmt.Sprintf("%s (%d bytes)", vendorAttributeName(binary.BigEndian.Uint32(value), value[4]), len(value)-6)
	}
	name := attributeName(t)
	switch tracedForms[t] {
	case formText:
		return name + "=" + strconv.QuoteToASCII(string(value[:min(len(value), maxTracedBytes)]))
	case formNumber:
		if len(value) == 4 {
			return fmt.Sprintf("%s=%d", name, binary.BigEndian.Uint32(value))
		}
	case formAddress:
		if a, ok := netip.AddrFromSlice(value); ok {
			return fmt.Sprintf("%s=%v", name, a)
		}
	case formPrefix:
		if len(value) >= 2 && len(value) <= 18 && value[1] <= 128 {
			var a [16]byte
			copy(a[:], value[2:])
			return fmt.Sprintf("%s=%v/%d", name, netip.AddrFrom16(a), value[1])
		}
	}
	return fmt.Sprintf("%s (%d bytes)", name, len(value))
}

const vendorSpecific = 26

// form is how a value is written.
type form uint8

const (
	formHidden form = iota // what has no form here is not shown: passwords, challenges, keys, what is opaque
	formText
	formNumber
	formAddress
	formPrefix
)

// tracedForms are the attributes whose values are shown.
var tracedForms = [256]form{
	1: formText, 4: formAddress, 5: formNumber, 6: formNumber, 7: formNumber, 8: formAddress, 9: formAddress, 11: formText,
	12: formNumber, 18: formText, 22: formText, 27: formNumber, 28: formNumber, 30: formText, 31: formText, 32: formText,
	40: formNumber, 41: formNumber, 42: formNumber, 43: formNumber, 44: formText, 45: formNumber, 46: formNumber, 47: formNumber,
	48: formNumber, 49: formNumber, 52: formNumber, 53: formNumber, 55: formNumber, 61: formNumber, 77: formText, 85: formNumber,
	87: formText, 88: formText, 95: formAddress, 97: formPrefix, 99: formText, 100: formText, 101: formNumber, 123: formPrefix,
	168: formAddress, 169: formAddress, 171: formText, 172: formText,
}
