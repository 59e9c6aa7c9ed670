package iface

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"vbng/forwarding/entry"
	"vbng/routing/vrf"
)

// A VRF in the kernel is its TUN and a routing table of its own:
//
//	ip address add ADDR/32 dev TUN                  for each of our addresses: sockets may bind to them
//	ip route add local ADDR dev TUN table T         ... and so packets from the TUN find them
//	ip route add default dev TUN src SOURCE table T everything else leaves through the TUN

// hostTable is the kernel's routing table for the default VRF; those of the others count up from it by
// their numbers. Rules and routes that name one of ours are ours, whoever left them there.
const (
	hostTable  = 10000
	hostTables = 1 << 20
)

func tableOf(id entry.VRFID) int { return hostTable + int(id) }

func ourTable(t int) bool { return t >= hostTable && t < hostTable+hostTables }

func ownTUN(name string) bool { return vrf.OwnDevice(name) }

var families = []int{netlink.FAMILY_V4, netlink.FAMILY_V6}

func familyOf(a netip.Addr) int {
	if a.Is4() {
		return netlink.FAMILY_V4
	}
	return netlink.FAMILY_V6
}

// device brings a VRF's TUN up with our addresses and fills its table.
func (k *Kernel) device(v HostVRF) error {
	link, err := netlink.LinkByName(v.TUN)
	if err != nil {
		return fmt.Errorf("find device %s: %w", v.TUN, err)
	}
	faults := []error{k.apply(v.TUN, tunSettings, false)}
	if link.Attrs().MTU != int(v.MTU) {
		faults = append(faults, named("set MTU of "+v.TUN, netlink.LinkSetMTU(link, int(v.MTU))))
	}
	faults = append(faults, named("bring up "+v.TUN, netlink.LinkSetUp(link)), k.addresses(link, v.Addresses))
	for _, family := range families {
		faults = append(faults, k.table(link, v, family))
	}
	if k.own() {
		faults = append(faults, k.mark(link, v.ID))
	}
	return errors.Join(faults...)
}

// dropTUNs removes the TUNs that belong to none of the VRFs: in a namespace of the router's own they outlive
// the forwarder that made them.
func (k *Kernel) dropTUNs(vrfs []HostVRF) error {
	links, err := netlink.LinkList()
	if err != nil {
		return fmt.Errorf("list devices: %w", err)
	}
	var faults []error
	for _, l := range links {
		name := l.Attrs().Name
		if ownTUN(name) && !slices.ContainsFunc(vrfs, func(v HostVRF) bool { return v.TUN == name }) {
			faults = append(faults, named("remove "+name, netlink.LinkDel(l)))
		}
	}
	return errors.Join(faults...)
}

// addresses makes the device have exactly these addresses.
func (k *Kernel) addresses(link netlink.Link, wanted []netip.Addr) error {
	have, err := netlink.AddrList(link, netlink.FAMILY_ALL)
	if err != nil {
		return fmt.Errorf("list addresses of %s: %w", link.Attrs().Name, err)
	}
	var faults []error
	found := map[netip.Addr]bool{}
	for _, h := range have {
		a, _ := netip.AddrFromSlice(h.IP)
		a = a.Unmap()
		if ones, _ := h.Mask.Size(); ones == a.BitLen() && slices.Contains(wanted, a) {
			found[a] = true
			continue
		}
		faults = append(faults, named("remove address "+h.IPNet.String(), netlink.AddrDel(link, &h)))
	}
	for _, a := range wanted {
		if found[a] {
			continue
		}
		address := &netlink.Addr{IPNet: single(a)}
		if a.Is6() {
			address.Flags = unix.IFA_F_NODAD | unix.IFA_F_NOPREFIXROUTE
		}
		faults = append(faults, named("add address "+a.String(), netlink.AddrReplace(link, address)))
	}
	return errors.Join(faults...)
}

// table makes the VRF's table hold exactly its routes of a family.
func (k *Kernel) table(link netlink.Link, v HostVRF, family int) error {
	source := v.Source4
	if family == netlink.FAMILY_V6 {
		source = v.Source6
	}
	var wanted []*netlink.Route
	for _, a := range v.Addresses {
		if familyOf(a) == family {
			wanted = append(wanted, &netlink.Route{Dst: single(a), Type: unix.RTN_LOCAL, Scope: netlink.SCOPE_HOST})
		}
	}
	if source.IsValid() {
		wanted = append(wanted, &netlink.Route{Dst: everywhere(family), Scope: netlink.SCOPE_LINK, Src: source.AsSlice()})
	}
	kept := map[string]bool{}
	var faults []error
	for _, r := range wanted {
		r.Table, r.LinkIndex, r.Family = tableOf(v.ID), link.Attrs().Index, family
		if family == netlink.FAMILY_V6 {
			r.Scope = netlink.SCOPE_UNIVERSE // IPv6 knows no other
		}
		kept[r.Dst.String()] = true
		faults = append(faults, named(fmt.Sprintf("route %v in table %d", r.Dst, r.Table), netlink.RouteReplace(r)))
	}
	return errors.Join(append(faults, dropRoutes(family, tableOf(v.ID), kept))...)
}

// dropRoutes removes the routes of a table but the kept ones, by destination.
func dropRoutes(family, table int, kept map[string]bool) error {
	have, err := netlink.RouteListFiltered(family, &netlink.Route{Table: table}, netlink.RT_FILTER_TABLE)
	if err != nil {
		return fmt.Errorf("list routes of table %d: %w", table, err)
	}
	var faults []error
	for _, h := range have {
		if h.Dst == nil {
			h.Dst = everywhere(family)
		}
		if !kept[h.Dst.String()] {
			faults = append(faults, named("remove route "+h.Dst.String(), netlink.RouteDel(&h)))
		}
	}
	return errors.Join(faults...)
}

// clearTables empties the tables of all VRFs.
func (k *Kernel) clearTables() error {
	var faults []error
	for _, family := range families {
		have, err := netlink.RouteListFiltered(family, &netlink.Route{Table: unix.RT_TABLE_UNSPEC}, netlink.RT_FILTER_TABLE)
		if err != nil {
			faults = append(faults, fmt.Errorf("list routes: %w", err))
		}
		for _, h := range have {
			if ourTable(h.Table) {
				faults = append(faults, dropRoutes(family, h.Table, nil))
			}
		}
	}
	return errors.Join(faults...)
}

func everywhere(family int) *net.IPNet {
	if family == netlink.FAMILY_V4 {
		return &net.IPNet{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)}
	}
	return &net.IPNet{IP: net.IPv6zero, Mask: net.CIDRMask(0, 128)}
}

func single(a netip.Addr) *net.IPNet {
	return &net.IPNet{IP: a.AsSlice(), Mask: net.CIDRMask(a.BitLen(), a.BitLen())}
}
