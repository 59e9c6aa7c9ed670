package crowd

import (
	"fmt"
	"strconv"
	"strings"

	"vbng/cmd/vbng-sim/frame"
)

const maxVLAN = 4094 // IEEE 802.1Q: 0 and 4095 are reserved

// vlanRange is a run of VLAN ids, both ends included. The zero value is none.
type vlanRange struct{ first, last int }

func (r vlanRange) size() int {
	if r.first == 0 {
		return 0
	}
	return r.last - r.first + 1
}

func parseVLANRange(s string) (vlanRange, error) {
	if s == "" {
		return vlanRange{}, nil
	}
	low, high, isRange := strings.Cut(s, "-")
	if !isRange {
		high = low
	}
	first, err1 := strconv.Atoi(low)
	last, err2 := strconv.Atoi(high)
	if err1 != nil || err2 != nil || first < 1 || last > maxVLAN || first > last {
		return vlanRange{}, fmt.Errorf("VLAN range %q: want one id or two with a dash, from 1 to %d", s, maxVLAN)
	}
	return vlanRange{first, last}, nil
}

// vlanPlan deals VLANs out to subscribers.
type vlanPlan struct {
	tpid         uint16
	outer, inner vlanRange
	shared       bool // several subscribers may live on the same VLAN (N:1)
}

// newVLANPlan checks the options. With two tags each subscriber has a pair of its own unless shared;
// with one tag VLANs are shared.
func newVLANPlan(tpid uint16, outer, inner string, shared bool, count int) (vlanPlan, error) {
	p := vlanPlan{tpid: tpid, shared: shared}
	var err error
	if p.outer, err = parseVLANRange(outer); err != nil {
		return p, err
	}
	if p.inner, err = parseVLANRange(inner); err != nil {
		return p, err
	}
	if tpid != frame.TypeVLAN && tpid != frame.TypeProvider && tpid != frame.TypeOldQinQ {
		return p, fmt.Errorf("outer TPID %#04x: want 0x8100, 0x88a8 or 0x9100", tpid)
	}
	if p.inner.size() > 0 && p.outer.size() == 0 {
		return p, fmt.Errorf("a C-VLAN needs an S-VLAN: give --svlan")
	}
	if pairs := p.outer.size() * p.inner.size(); pairs > 0 && pairs < count && !shared {
		return p, fmt.Errorf("%d VLAN pairs for %d subscribers: widen the ranges or give --vlan-shared", pairs, count)
	}
	return p, nil
}

// tags returns subscriber i's VLANs: the C-VLAN counts first, then the S-VLAN.
func (p vlanPlan) tags(i int) frame.Tags {
	if p.outer.size() == 0 {
		return frame.Tags{}
	}
	t := frame.Tags{TPID: p.tpid}
	if n := p.inner.size(); n > 0 {
		t.Inner = uint16(p.inner.first + i%n)
		i /= n
	}
	t.Outer = uint16(p.outer.first + i%p.outer.size())
	return t
}
