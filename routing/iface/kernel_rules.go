package iface

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// The rules, for each VRF with table T, in the order of their priorities:
//
//	 900  fwmark MARK lookup T    what the kernel answers by itself, when it has no socket (own namespace)
//	1000  iif TUN lookup T        what comes from the forwarder
//	1000  oif TUN lookup T        what sockets send that are bound to the TUN
//	2000  lookup local            moved behind: the same address may be local in one VRF and a peer in another
//	10000 from ADDR lookup T      what the kernel sends from our address, through no socket that is bound
//	33000 lookup 10000            sockets that are bound to nothing speak in the default VRF (own namespace)
const (
	markPriority  = 900
	boundPriority = 1000
	localPriority = 2000
	fromPriority  = 10000
	lastPriority  = 33000

	kernelLocalPriority = 0 // where the rule of the local table stands by itself
)

// rules makes the rules that name our tables exactly those that the VRFs need.
func (k *Kernel) rules(vrfs []HostVRF) error {
	var faults []error
	for _, family := range families {
		faults = append(faults, k.familyRules(vrfs, family))
	}
	return errors.Join(faults...)
}

func (k *Kernel) familyRules(vrfs []HostVRF, family int) error {
	have, err := netlink.RuleList(family)
	if err != nil {
		return fmt.Errorf("list rules: %w", err)
	}
	wanted := k.wantedRules(vrfs, family)
	var superfluous []*netlink.Rule
	for _, h := range have {
		if !ourTable(h.Table) && h.Table != unix.RT_TABLE_LOCAL {
			continue
		}
		h.Family = family
		if key := ruleKey(&h); wanted[key] != nil {
			delete(wanted, key)
		} else {
			superfluous = append(superfluous, &h)
		}
	}
	// First the new ones: the rule of the local table must always be there.
	var faults []error
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		if err := netlink.RuleAdd(wanted[key]); err != nil && !errors.Is(err, unix.EEXIST) {
			faults = append(faults, fmt.Errorf("add rule %s: %w", key, err))
		}
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	for _, r := range superfluous {
		faults = append(faults, named("remove rule "+ruleKey(r), netlink.RuleDel(r)))
	}
	return errors.Join(faults...)
}

func (k *Kernel) wantedRules(vrfs []HostVRF, family int) map[string]*netlink.Rule {
	wanted := map[string]*netlink.Rule{}
	want := func(priority, table int, more func(r *netlink.Rule)) {
		r := netlink.NewRule()
		r.Family, r.Table, r.Priority = family, table, priority
		more(r)
		wanted[ruleKey(r)] = r
	}
	nothing := func(*netlink.Rule) {}
	if len(vrfs) == 0 {
		want(kernelLocalPriority, unix.RT_TABLE_LOCAL, nothing)
		return wanted
	}
	want(localPriority, unix.RT_TABLE_LOCAL, nothing)
	taken := map[netip.Addr]bool{} // an address in several VRFs: that of the lowest number
	for _, v := range vrfs {
		table := tableOf(v.ID)
		want(boundPriority, table, func(r *netlink.Rule) { r.IifName = v.TUN })
		want(boundPriority, table, func(r *netlink.Rule) { r.OifName = v.TUN })
		for _, a := range v.Addresses {
			if familyOf(a) == family && !taken[a] {
				taken[a] = true
				want(fromPriority, table, func(r *netlink.Rule) { r.Src = single(a) })
			}
		}
		if k.own() {
			want(markPriority, table, func(r *netlink.Rule) { r.Mark = markOf(v.ID) })
		}
		if k.own() && v.ID == 0 {
			want(lastPriority, table, nothing)
		}
	}
	return wanted
}

// ruleKey is the words of a rule as far as ours differ.
func ruleKey(r *netlink.Rule) string {
	key := fmt.Sprintf("priority %d", r.Priority)
	if r.Src != nil {
		key += " from " + r.Src.String()
	}
	if r.OifName != "" {
		key += " oif " + r.OifName
	}
	if r.IifName != "" {
		key += " iif " + r.IifName
	}
	if r.Mark != 0 {
		key += fmt.Sprintf(" mark %d", r.Mark)
	}
	return key + fmt.Sprintf(" table %d", r.Table)
}
