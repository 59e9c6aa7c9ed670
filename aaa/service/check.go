package service

import (
	"fmt"
	"net/netip"
	"slices"

	"vbng/control/config"
)

// The names of VRFs that need no definition.
const (
	vrfDefault    = "default"
	vrfManagement = "management"
)

// Check implements commit.Subsystem.
func (s *Service) Check(_, new *config.Tree) []error {
	return slices.Concat(checkServers(new), checkAAA(new), checkGroups(new), checkUsers(new))
}

// portOf is a server's port in its VRF.
type portOf struct {
	vrf string
	at  netip.AddrPort
}

func checkServers(root *config.Tree) []error {
	var faults []error
	ports := map[portOf]string{}
	for _, t := range root.List("radius server") {
		server := readServer(t)
		fault := func(leaf, format string, args ...any) {
			faults = append(faults, &config.Error{
				Path: "radius server " + server.Name + " / " + leaf, Line: t.LineOf(leaf), Text: fmt.Sprintf(format, args...),
			})
		}
		if a := server.Address; a.IsUnspecified() || a.IsMulticast() {
			fault("address", "%v is not the address of a host", a)
		}
		if source := server.Source; source.IsValid() && source.Is4() != server.Address.Is4() {
			fault("source-address", "%v cannot reach %v", source, server.Address)
		}
		if v := server.VRF; v != "" && v != vrfManagement && root.Entry("vrf", v) == nil {
			fault("vrf", "vrf %q is not defined", v)
		}
		for _, port := range []uint16{server.AuthPort, server.AcctPort} {
			at := portOf{server.VRF, netip.AddrPortFrom(server.Address, port)}
			if other, taken := ports[at]; taken {
				fault("address", "%v is also a port of server %s", at.at, other)
				break
			}
			ports[at] = server.Name
		}
	}
	return faults
}

func checkAAA(root *config.Tree) []error {
	t := root.Container("aaa")
	servers := len(root.List("radius server"))
	var faults []error
	fault := func(leaf, text string) {
		faults = append(faults, &config.Error{Path: "aaa / " + leaf, Line: t.LineOf(leaf), Text: text})
	}
	if servers == 0 && slices.Contains(methods(t), methodRADIUS) {
		fault("authentication", "no radius server is configured")
	}
	accounting := t.Text("accounting") != ""
	if accounting && servers == 0 {
		fault("accounting", "no radius server is configured")
	}
	if t.Flag("accounting-on") && !accounting {
		fault("accounting-on", "needs accounting radius")
	}
	if interval := t.Seconds("interim-interval"); interval > 0 && interval < interimFloor {
		fault("interim-interval", "the shortest interval is 60 seconds; 0 means none")
	}
	return faults
}

func checkGroups(root *config.Tree) []error {
	if len(root.List("radius server")) > 0 {
		return nil
	}
	var faults []error
	for _, t := range root.List("aaa group") {
		fault := func(leaf string) {
			faults = append(faults, &config.Error{
				Path: "aaa group " + t.Text("name") + " / " + leaf, Line: t.LineOf(leaf), Text: "no radius server is configured",
			})
		}
		if slices.Contains(methods(t), methodRADIUS) {
			fault("authentication")
		}
		if t.Text("accounting") == methodRADIUS {
			fault("accounting")
		}
	}
	return faults
}

func checkUsers(root *config.Tree) []error {
	var faults []error
	for _, t := range root.List("user") {
		user := readUser(t)
		fault := func(leaf, text string) {
			faults = append(faults, &config.Error{Path: "user " + user.Name + " / " + leaf, Line: t.LineOf(leaf), Text: text})
		}
		if a := user.Address; a.IsValid() && (!a.IsGlobalUnicast() || a.As4()[0] >= 240) {
			fault("ip address", a.String()+" is not the address of a host")
		}
		if a := user.Address6; a.IsValid() && !a.IsGlobalUnicast() {
			fault("ipv6 address", a.String()+" is not the address of a host")
		}
		if p := user.Prefix; p.IsValid() && !p.Addr().IsGlobalUnicast() {
			fault("ipv6 prefix", p.String()+" cannot be a subscriber's")
		}
		if p := user.Delegated; p.IsValid() && !p.Addr().IsGlobalUnicast() {
			fault("ipv6 delegated-prefix", p.String()+" cannot be a subscriber's")
		}
		for _, both := range []struct {
			fixed bool
			pool  string
			leaf  string
			text  string
		}{
			{user.Address.IsValid(), user.Pool, "ip pool", "the user has a fixed ip address"},
			{user.Address6.IsValid(), user.Pool6, "ipv6 address pool", "the user has a fixed ipv6 address"},
			{user.Prefix.IsValid(), user.PrefixPool, "ipv6 prefix pool", "the user has a fixed ipv6 prefix"},
			{user.Delegated.IsValid(), user.DelegatedPool, "ipv6 delegated pool", "the user has a fixed ipv6 delegated-prefix"},
		} {
			if both.fixed && both.pool != "" {
				fault(both.leaf, both.text)
			}
		}
	}
	return faults
}
