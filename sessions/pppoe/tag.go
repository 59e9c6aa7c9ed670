package pppoe

import (
	"bytes"
	"encoding/binary"
)

// TagType is the type of a tag (RFC 2516 appendix A).
type TagType uint16

// The tags.
const (
	TagEndOfList        TagType = 0x0000
	TagServiceName      TagType = 0x0101
	TagACName           TagType = 0x0102
	TagHostUniq         TagType = 0x0103
	TagACCookie         TagType = 0x0104
	TagVendorSpecific   TagType = 0x0105
	TagRelaySessionID   TagType = 0x0110
	TagMaxPayload       TagType = 0x0120 // RFC 4638 section 4
	TagServiceNameError TagType = 0x0201
	TagACSystemError    TagType = 0x0202
	TagGenericError     TagType = 0x0203
)

const (
	tagHeaderBytes  = 4
	maxRelayIDBytes = 12 // RFC 2516 appendix A, Relay-Session-Id
)

// Tag is one tag of a discovery packet.
type Tag struct {
	Type  TagType
	Value []byte // aliases the decoded bytes; at most 65535 bytes
}

// Append encodes the tag after b. A value longer than its length field can say is cut.
func (t Tag) Append(b []byte) []byte {
	value := t.Value[:min(len(t.Value), 0xffff)]
	b = binary.BigEndian.AppendUint16(b, uint16(t.Type))
	b = binary.BigEndian.AppendUint16(b, uint16(len(value)))
	return append(b, value...)
}

func (t Tag) size() int { return tagHeaderBytes + len(t.Value) }

// ParseTags decodes a list of tags, up to End-Of-List or the end. A tag that runs past the end spoils
// the packet.
func ParseTags(b []byte) ([]Tag, error) {
	var tags []Tag
	for at := 0; at < len(b); {
		rest := b[at:]
		if len(rest) < tagHeaderBytes {
			return nil, fault(ErrShort, at)
		}
		t := TagType(binary.BigEndian.Uint16(rest))
		n := int(binary.BigEndian.Uint16(rest[2:]))
		if t == TagEndOfList { // RFC 2516 appendix A: nothing after it counts
			return tags, nil
		}
		if n > len(rest)-tagHeaderBytes {
			return nil, fault(ErrTagLength, at+2)
		}
		tags = append(tags, Tag{Type: t, Value: rest[tagHeaderBytes : tagHeaderBytes+n]})
		at += tagHeaderBytes + n
	}
	return tags, nil
}

// discovery is a packet's tags, sorted. A nil slice is an absent tag, an empty one a blank tag. All
// slices are copies.
type discovery struct {
	services   [][]byte
	acNames    [][]byte
	hostUniq   []byte
	relayID    []byte
	cookie     []byte
	maxPayload uint16 // bytes; zero: absent or malformed
	access     AccessLine
	errorText  string // of the first error tag
}

// sortTags reads the tags we know and ignores the rest (RFC 2516 section 4). Of a tag that should be
// there once, the first counts; of line identifications the last, since the node nearest to us adds
// its own behind what a client may have forged.
func sortTags(tags []Tag) discovery {
	var d discovery
	for _, t := range tags {
		switch t.Type {
		case TagServiceName:
			d.services = append(d.services, own(t.Value))
		case TagACName:
			d.acNames = append(d.acNames, own(t.Value))
		case TagHostUniq:
			first(&d.hostUniq, t.Value)
		case TagRelaySessionID:
			first(&d.relayID, t.Value)
		case TagACCookie:
			first(&d.cookie, t.Value)
		case TagMaxPayload:
			if len(t.Value) == 2 && d.maxPayload == 0 {
				d.maxPayload = binary.BigEndian.Uint16(t.Value)
			}
		case TagVendorSpecific:
			if a, ok := parseAccessLine(t.Value); ok {
				d.access = a
			}
		case TagServiceNameError, TagACSystemError, TagGenericError:
			if d.errorText == "" {
				d.errorText = string(t.Value)
			}
		}
	}
	return d
}

func first(field *[]byte, value []byte) {
	if *field == nil {
		*field = own(value)
	}
}

// own copies a value; a blank one stays distinct from none.
func own(b []byte) []byte { return append([]byte{}, b...) }

// contains reports whether the list holds the name.
func contains(names [][]byte, name []byte) bool {
	for _, n := range names {
		if bytes.Equal(n, name) {
			return true
		}
	}
	return false
}
