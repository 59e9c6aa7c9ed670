package sessions

import (
	"fmt"
	"strconv"
	"strings"
)

const maxVLAN = 4094

// vlanRange is the places of a port that a "subscriber vlans" line speaks of. First is not over last; a
// range without tags is zero.
type vlanRange struct {
	tags                  uint8 // 0, 1 or 2
	outerFirst, outerLast uint16
	innerFirst, innerLast uint16 // with two tags
}

// parseVLANRange reads "untagged", "100", "100-199", "100-199.any", "100-199.1-4094".
func parseVLANRange(text string) (vlanRange, error) {
	if text == "untagged" {
		return vlanRange{}, nil
	}
	outer, inner, double := strings.Cut(text, ".")
	r := vlanRange{tags: 1}
	var ok bool
	if r.outerFirst, r.outerLast, ok = vlanSpan(outer); !ok {
		return r, errVLANRange(text)
	}
	if !double {
		return r, nil
	}
	r.tags = 2
	if inner == "any" {
		inner = fmt.Sprintf("1-%d", maxVLAN)
	}
	if r.innerFirst, r.innerLast, ok = vlanSpan(inner); !ok {
		return r, errVLANRange(text)
	}
	return r, nil
}

func errVLANRange(text string) error {
	return fmt.Errorf("expected untagged, VLAN, VLAN-VLAN, VLAN-VLAN.any or VLAN-VLAN.VLAN-VLAN of 1 to %d, found %q", maxVLAN, text)
}

// vlanSpan reads "100" or "100-199".
func vlanSpan(text string) (first, last uint16, ok bool) {
	a, b, pair := strings.Cut(text, "-")
	if !pair {
		b = a
	}
	x, errX := strconv.ParseUint(a, 10, 16)
	y, errY := strconv.ParseUint(b, 10, 16)
	return uint16(x), uint16(y), errX == nil && errY == nil && x >= 1 && x <= y && y <= maxVLAN
}

// String prints the range in its canonical form.
func (r vlanRange) String() string {
	span := func(first, last uint16) string {
		if first == last {
			return strconv.Itoa(int(first))
		}
		return fmt.Sprintf("%d-%d", first, last)
	}
	switch {
	case r.tags == 0:
		return "untagged"
	case r.tags == 1:
		return span(r.outerFirst, r.outerLast)
	case r.innerFirst == 1 && r.innerLast == maxVLAN:
		return span(r.outerFirst, r.outerLast) + ".any"
	}
	return span(r.outerFirst, r.outerLast) + "." + span(r.innerFirst, r.innerLast)
}

// tags counts a place's tags.
func (p Place) tags() uint8 {
	switch {
	case p.OuterTPID == 0:
		return 0
	case p.InnerVLAN == 0:
		return 1
	}
	return 2
}

// contains reports whether a place lies in the range.
func (r vlanRange) contains(p Place) bool {
	within := func(id, first, last uint16) bool { return first <= id && id <= last }
	switch {
	case r.tags != p.tags():
		return false
	case r.tags == 0:
		return true
	}
	return within(p.OuterVLAN, r.outerFirst, r.outerLast) &&
		(r.tags == 1 || within(p.InnerVLAN, r.innerFirst, r.innerLast))
}

// overlaps reports whether two ranges have a place in common.
func (r vlanRange) overlaps(q vlanRange) bool {
	if r.tags != q.tags || r.outerLast < q.outerFirst || q.outerLast < r.outerFirst {
		return false
	}
	return r.tags < 2 || r.innerLast >= q.innerFirst && q.innerLast >= r.innerFirst
}

// vlanRangeType is the type of a range in the configuration.
type vlanRangeType struct{ plainType }

// Parse implements schema.Type.
func (vlanRangeType) Parse(word string) (string, error) {
	r, err := parseVLANRange(word)
	if err != nil {
		return "", err
	}
	return r.String(), nil
}

// Hint implements schema.Type.
func (vlanRangeType) Hint() string { return "RANGE" }
