package iface

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vishvananda/netlink"

	"vbng/control/netns"
)

// What a device needs so that the kernel serves packets from a TUN, and so that it is silent on our
// ports. Names are below /proc/sys/net; a device's settings that do not exist are not needed.
var (
	tunSettings = map[string]string{
		"ipv4/conf/%s/rp_filter":     "0", // the sources of what comes in are routed by us, not by the kernel
		"ipv4/conf/%s/accept_local":  "1", // one of our addresses may speak to another through the forwarder
		"ipv6/conf/%s/accept_ra":     "0", // nobody tells us routes there
		"ipv6/conf/%s/accept_dad":    "0", // nobody else is there
		"ipv6/conf/%s/addr_gen_mode": "1", // no link-local address of the kernel's
		"ipv6/conf/%s/disable_ipv6":  "0",
	}
	portSettings = map[string]string{
		"ipv4/conf/%s/arp_ignore": "8", // the forwarder answers ARP
		// A packet to our address reaches the kernel twice: here, and by the TUN. The way back is the
		// TUN, so a strict check of the reverse path drops it here.
		"ipv4/conf/%s/rp_filter":    "1",
		"ipv4/conf/%s/forwarding":   "0", // what comes in here is routed by us alone
		"ipv6/conf/%s/disable_ipv6": "1", // no link-local address, solicitations and reports of the kernel's
	}
	// ownSettings are those of a namespace that is ours as a whole.
	ownSettings = map[string]string{
		"ipv4/ip_forward":                 "0",
		"ipv4/conf/all/rp_filter":         "0", // the greater one of this and the device's counts
		"ipv4/fwmark_reflect":             "1", // an ICMP reply leaves by the VRF that the request came from
		"ipv6/fwmark_reflect":             "1",
		"ipv6/conf/all/forwarding":        "0",
		"ipv6/conf/default/accept_ra":     "0",
		"ipv6/conf/default/addr_gen_mode": "1",
	}
)

// KernelOptions is what the kernel's stack stands on.
type KernelOptions struct {
	// Host is the namespace of the ports, when the process lives in another one that is the router's alone.
	// Nil: one namespace for all, shared with the host.
	Host *netns.Namespace
	// Settings keeps what was changed on ports, so that a later control knows it; nil: only this one does.
	Settings Memory
}

// Kernel is the HostStack of the network namespace that the process lives in; kernel_vrf.go and
// kernel_rules.go tell what it makes of addresses.
type Kernel struct {
	options  KernelOptions
	root     string            // of the settings
	previous map[string]string // settings that were changed on ports, by file
	quiet    []string
	marks    map[string]mark // by TUN
}

// NewKernel returns the kernel's stack. The error tells that settings of an earlier control cannot be
// given back; the stack works all the same.
func NewKernel(o KernelOptions) (*Kernel, error) {
	k := &Kernel{options: o, root: "/proc/sys/net", previous: map[string]string{}, marks: map[string]mark{}}
	if o.Settings == nil {
		return k, nil
	}
	devices := map[string]bool{}
	err := o.Settings.ForEach(func(key, value []byte) error {
		k.previous[string(key)] = string(value)
		devices[filepath.Base(filepath.Dir(string(key)))] = true
		return nil
	})
	k.quiet = slices.Sorted(maps.Keys(devices))
	return k, err
}

// own reports whether the namespace is the router's alone.
func (k *Kernel) own() bool { return k.options.Host != nil }

// Configure implements HostStack.
func (k *Kernel) Configure(s HostState) error {
	faults := []error{netns.Do(k.options.Host, func() error { return k.silence(s.Quiet) })}
	if k.own() {
		faults = append(faults, k.write(ownSettings), loopbackUp(), k.dropTUNs(s.VRFs))
	}
	for _, v := range s.VRFs {
		if v.Open {
			faults = append(faults, k.device(v))
		}
	}
	return errors.Join(append(faults, k.rules(s.VRFs))...)
}

// Clear takes away what Configure made and gives settings back as they were found.
func (k *Kernel) Clear() error {
	faults := []error{netns.Do(k.options.Host, func() error { return k.silence(nil) }), k.rules(nil), k.clearTables()}
	if k.own() {
		faults = append(faults, k.dropTUNs(nil))
	}
	links, err := netlink.LinkList()
	for _, link := range links {
		if ownTUN(link.Attrs().Name) {
			faults = append(faults, k.addresses(link, nil))
		}
	}
	for _, m := range k.marks {
		_ = m.Close()
	}
	return errors.Join(append(faults, err)...)
}

// silence makes the kernel silent on exactly these devices.
func (k *Kernel) silence(devices []string) error {
	var faults []error
	for _, device := range k.quiet {
		if !slices.Contains(devices, device) {
			faults = append(faults, k.restore(device))
		}
	}
	k.quiet = slices.Clone(devices)
	for _, device := range devices {
		faults = append(faults, k.apply(device, portSettings, true))
	}
	return errors.Join(faults...)
}

// apply writes a device's settings; remember keeps what was there for restore.
func (k *Kernel) apply(device string, settings map[string]string, remember bool) error {
	var faults []error
	for _, pattern := range slices.Sorted(maps.Keys(settings)) {
		faults = append(faults, k.change(k.file(pattern, device), settings[pattern], remember))
	}
	return errors.Join(faults...)
}

func (k *Kernel) write(settings map[string]string) error {
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		faults = append(faults, k.change(filepath.Join(k.root, name), settings[name], false))
	}
	return errors.Join(faults...)
}

func (k *Kernel) change(name, value string, remember bool) error {
	before, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && strings.TrimSpace(string(before)) == value {
		return nil
	}
	if _, known := k.previous[name]; remember && !known {
		k.previous[name] = string(before)
		if k.options.Settings != nil {
			k.options.Settings.Put([]byte(name), before)
		}
	}
	if err := os.WriteFile(name, []byte(value), 0); err != nil {
		return fmt.Errorf("set %s: %w", name, err)
	}
	return nil
}

func (k *Kernel) file(pattern, device string) string {
	return filepath.Join(k.root, fmt.Sprintf(pattern, device))
}

// restore gives a device back as it was found. That it is gone is no fault.
func (k *Kernel) restore(device string) error {
	var faults []error
	for pattern := range portSettings {
		name := k.file(pattern, device)
		before, ok := k.previous[name]
		if !ok {
			continue
		}
		if err := os.WriteFile(name, []byte(before), 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
			faults = append(faults, fmt.Errorf("give %s back: %w", name, err))
		}
		delete(k.previous, name)
		if k.options.Settings != nil {
			k.options.Settings.Delete([]byte(name))
		}
	}
	return errors.Join(faults...)
}

func loopbackUp() error {
	link, err := netlink.LinkByName("lo")
	if err == nil {
		err = netlink.LinkSetUp(link)
	}
	return named("bring up lo", err)
}

// named puts verb and object in front of an error.
func named(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
