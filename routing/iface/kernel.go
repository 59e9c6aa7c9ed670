package iface

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

const (
	// hostTable is the kernel's routing table for the default VRF; further VRFs count up from it. Rules
	// and routes that name it are ours, whoever left them there.
	hostTable = 10000
	// hostPriority places our rules behind the local table (0) and before main (32766).
	hostPriority = 10000
)

// What a device needs so that the kernel serves packets from the TUN, and so that it is silent on our
// ports. Names are below /proc/sys/net; a device's settings that do not exist are not needed.
var (
	tunSettings = map[string]string{
		"ipv4/conf/%s/rp_filter":    "0", // the sources of what comes in are routed by us, not by the kernel
		"ipv4/conf/%s/accept_local": "1", // one of our addresses may speak to another through the forwarder
		"ipv6/conf/%s/disable_ipv6": "1", // no router solicitations into the forwarder
	}
	portSettings = map[string]string{
		"ipv4/conf/%s/arp_ignore": "8", // the forwarder answers ARP
		// A packet to our address reaches the kernel twice: here, and by the TUN. The way back is the
		// TUN, so a strict check of the reverse path drops it here.
		"ipv4/conf/%s/rp_filter":    "1",
		"ipv6/conf/%s/disable_ipv6": "1", // no link-local address, solicitations and reports of the kernel's
	}
)

// Kernel is the HostStack of the network namespace that the process runs in.
//
//	ip address add ADDR/32 dev TUN               for each of our addresses
//	ip route add default dev TUN table 10000
//	ip rule add from ADDR lookup 10000           answers leave through the TUN
//	ip rule add oif TUN lookup 10000             so do sockets bound to it
type Kernel struct {
	root     string            // of the settings
	previous map[string]string // settings that were changed on ports, by file
	quiet    []string
	tun      string
}

// NewKernel returns the kernel's stack.
func NewKernel() *Kernel {
	return &Kernel{root: "/proc/sys/net", previous: map[string]string{}}
}

// Configure implements HostStack.
func (k *Kernel) Configure(s HostState) error {
	var faults []error
	for _, device := range k.quiet {
		if !slices.Contains(s.Quiet, device) {
			faults = append(faults, k.restore(device))
		}
	}
	k.quiet = s.Quiet
	for _, device := range s.Quiet {
		faults = append(faults, k.apply(device, portSettings, true))
	}
	k.tun = s.TUN
	if s.TUN == "" {
		return errors.Join(append(faults, k.rules(s))...)
	}
	return errors.Join(append(faults, k.device(s), k.rules(s))...)
}

// Clear implements HostStack.
func (k *Kernel) Clear() error {
	faults := []error{k.rules(HostState{})}
	for _, device := range k.quiet {
		faults = append(faults, k.restore(device))
	}
	k.quiet = nil
	if link, err := netlink.LinkByName(k.tun); k.tun != "" && err == nil {
		faults = append(faults, k.addresses(link, nil))
	}
	return errors.Join(faults...)
}

// apply writes a device's settings; remember keeps what was there for restore.
func (k *Kernel) apply(device string, settings map[string]string, remember bool) error {
	var faults []error
	for _, pattern := range slices.Sorted(maps.Keys(settings)) {
		name := k.file(pattern, device)
		before, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && strings.TrimSpace(string(before)) == settings[pattern] {
			continue
		}
		if _, known := k.previous[name]; remember && !known {
			k.previous[name] = string(before)
		}
		if err := os.WriteFile(name, []byte(settings[pattern]), 0); err != nil {
			faults = append(faults, fmt.Errorf("set %s: %w", name, err))
		}
	}
	return errors.Join(faults...)
}

func (k *Kernel) file(pattern, device string) string {
	return filepath.Join(k.root, fmt.Sprintf(pattern, device))
}

// restore gives a device back as it was found. That it is gone is no fault.
func (k *Kernel) restore(device string) error {
	var faults []error
	for pattern := range portSettings {
		name := k.file(pattern, device)
		if before, ok := k.previous[name]; ok {
			if err := os.WriteFile(name, []byte(before), 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
				faults = append(faults, fmt.Errorf("give %s back: %w", name, err))
			}
			delete(k.previous, name)
		}
	}
	return errors.Join(faults...)
}

// device brings the TUN up with our addresses.
func (k *Kernel) device(s HostState) error {
	link, err := netlink.LinkByName(s.TUN)
	if err != nil {
		return fmt.Errorf("find device %s: %w", s.TUN, err)
	}
	faults := []error{k.apply(s.TUN, tunSettings, false)}
	if link.Attrs().MTU != int(s.MTU) {
		faults = append(faults, named("set MTU of "+s.TUN, netlink.LinkSetMTU(link, int(s.MTU))))
	}
	faults = append(faults, named("bring up "+s.TUN, netlink.LinkSetUp(link)), k.addresses(link, s.Addresses))
	everywhere := &net.IPNet{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)}
	route := &netlink.Route{LinkIndex: link.Attrs().Index, Dst: everywhere, Table: hostTable, Scope: netlink.SCOPE_LINK}
	return errors.Join(append(faults, named("route table by "+s.TUN, netlink.RouteReplace(route)))...)
}

// named puts verb and object in front of an error.
func named(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// addresses makes the device have exactly these addresses.
func (k *Kernel) addresses(link netlink.Link, wanted []netip.Addr) error {
	have, err := netlink.AddrList(link, netlink.FAMILY_V4)
	if err != nil {
		return fmt.Errorf("list addresses of %s: %w", link.Attrs().Name, err)
	}
	var faults []error
	found := map[netip.Addr]bool{}
	for _, h := range have {
		a, _ := netip.AddrFromSlice(h.IP.To4())
		if ones, _ := h.Mask.Size(); ones == 32 && slices.Contains(wanted, a) {
			found[a] = true
			continue
		}
		faults = append(faults, named("remove address "+h.IPNet.String(), netlink.AddrDel(link, &h)))
	}
	for _, a := range wanted {
		if !found[a] {
			faults = append(faults, named("add address "+a.String(), netlink.AddrReplace(link, &netlink.Addr{IPNet: single(a)})))
		}
	}
	return errors.Join(faults...)
}

// rules makes the rules that name our table exactly those that the state needs.
func (k *Kernel) rules(s HostState) error {
	wanted := map[string]*netlink.Rule{}
	if s.TUN != "" {
		bound := ourRule()
		bound.OifName = s.TUN
		wanted[ruleKey(bound)] = bound
		for _, a := range s.Addresses {
			r := ourRule()
			r.Src = single(a)
			wanted[ruleKey(r)] = r
		}
	}
	have, err := netlink.RuleList(netlink.FAMILY_V4)
	if err != nil {
		return fmt.Errorf("list rules: %w", err)
	}
	var faults []error
	for _, h := range have {
		if h.Table != hostTable {
			continue
		}
		if key := ruleKey(&h); wanted[key] != nil {
			delete(wanted, key)
			continue
		}
		faults = append(faults, named("remove rule "+h.String(), netlink.RuleDel(&h)))
	}
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		err := netlink.RuleAdd(wanted[key])
		if errors.Is(err, unix.EEXIST) {
			continue
		}
		faults = append(faults, named("add rule "+key, err))
	}
	return errors.Join(faults...)
}

func ourRule() *netlink.Rule {
	r := netlink.NewRule()
	r.Family, r.Table, r.Priority = netlink.FAMILY_V4, hostTable, hostPriority
	return r
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
	return key
}

func single(a netip.Addr) *net.IPNet {
	return &net.IPNet{IP: a.AsSlice(), Mask: net.CIDRMask(32, 32)}
}
