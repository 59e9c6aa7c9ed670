package sessions

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"vbng/control/oper"
	"vbng/forwarding/entry"
	"vbng/sessions/dhcp4"
	"vbng/sessions/dhcp6"
	"vbng/sessions/pool"
)

// PoolPrefix is one line of an IPv6 pool.
type PoolPrefix struct {
	Pool        string `show:"Pool" json:"pool"`
	VRF         string `show:"VRF" json:"vrf"`
	Prefix      string `show:"Prefix" json:"prefix"`
	Length      int    `show:"Length" json:"length"`
	Size        uint64 `show:"Size" json:"size"`
	Used        uint64 `show:"Used" json:"used"`
	Own         uint64 `show:"Own" json:"own"`
	Quarantined uint64 `show:"Quarantined" json:"quarantined"`
	UsedPercent uint64 `show:"Used (%)" json:"used_percent"`
}

func (m *Manager) showPools6(ctx context.Context, _ oper.Call) (any, error) {
	rows, outside := []PoolPrefix{}, 0
	err := m.ask(ctx, func() {
		users := m.current.users()
		for _, vrf := range m.vrfs() {
			prefixes := m.spaces[vrf].prefixes
			outside += prefixes.Outside()
			for _, u := range prefixes.Usage() {
				if listed(users[poolOwner(slotPrefix, u.Pool)], vrf, u.Used+u.Quarantined > 0) {
					rows = append(rows, m.poolPrefix(vrf, u))
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return oper.Table[PoolPrefix]{Rows: rows, Summary: fmt.Sprintf("%d prefixes in use outside of all pools", outside)}, nil
}

func (m *Manager) poolPrefix(vrf entry.VRFID, u pool.Usage6) PoolPrefix {
	row := PoolPrefix{Pool: u.Pool, VRF: m.vrfNamed(vrf), Prefix: u.Prefix.String(), Length: u.Length, Size: u.Size, Used: u.Used, Own: u.Own, Quarantined: u.Quarantined}
	if u.Size > 0 {
		row.UsedPercent = uint64(float64(u.Used) / float64(u.Size) * 100)
	}
	return row
}

// LeaseRow is one lease.
type LeaseRow struct {
	SessionID uint64 `show:"Session" json:"session_id"`
	Protocol  string `show:"Protocol" json:"protocol"`
	Prefix    string `show:"Address" json:"address"`
	MAC       string `show:"MAC" json:"mac"`
	Username  string `show:"User" json:"username"`
	Hostname  string `show:"Host name" json:"hostname"`
	Port      string `show:"Port" json:"port"`
	VLAN      string `show:"VLAN" json:"vlan"`
	State     string `show:"State" json:"state"`
	Seconds   int64  `show:"Left (s)" json:"left_seconds"`
}

func (m *Manager) showLeases(ctx context.Context, call oper.Call) (any, error) {
	sel, _, err := parseSelection(call)
	if err != nil {
		return nil, err
	}
	groups, err := collect(ctx, m, sel, m.leaseRows)
	if err != nil {
		return nil, err
	}
	rows := slices.Concat(append(groups, []LeaseRow{})...)
	return oper.Table[LeaseRow]{Rows: rows, Summary: fmt.Sprintf("%d leases", len(rows))}, nil
}

// leaseRows returns what a session holds by DHCP.
func (m *Manager) leaseRows(s *Session) []LeaseRow {
	protocols := [numSlots]string{slotIPv4: "DHCP", slotAddress6: "DHCPv6 IA_NA", slotDelegated: "DHCPv6 IA_PD"}
	if len(s.profile.relays) > 0 {
		protocols[slotIPv4] = "DHCP relay"
	}
	if s.link != nil {
		protocols[slotIPv4] = ""
	}
	var rows []LeaseRow
	for x := range numSlots {
		b := &s.bindings[x]
		if !b.held() || protocols[x] == "" {
			continue
		}
		row := LeaseRow{
			SessionID: uint64(s.id), Protocol: protocols[x], Prefix: b.prefix.String(), MAC: s.client.mac.String(),
			Username: printed(s.username), Hostname: printed(s.dialled.Hostname), Port: s.port, VLAN: s.client.place.VLAN(),
			State: b.state(),
		}
		if b.prefix.IsSingleIP() {
			row.Prefix = b.prefix.Addr().String()
		}
		if !b.until.IsZero() {
			row.Seconds = max(0, int64(b.until.Sub(m.loop.Now()).Seconds()))
		}
		rows = append(rows, row)
	}
	return rows
}

func (m *Manager) showLines(ctx context.Context, _ oper.Call) (any, error) {
	var rows []Event
	if err := m.ask(ctx, func() { rows = m.stats.lines() }); err != nil {
		return nil, err
	}
	return oper.Table[Event]{Rows: rows}, nil
}

// lines lists the counters of what subscribers say in IP: the messages always, reasons that occurred.
func (s *stats) lines() []Event {
	rows := []Event{
		{"dhcp", "received", s.heard4.Load()},
		{"dhcp", "sent", s.sent4.Load()},
		{"dhcp", "malformed", s.malformed4.Load()},
		{"dhcp-relay", "to-servers", s.relayedUp.Load()},
		{"dhcp-relay", "from-servers", s.relayedDown.Load()},
		{"dhcp-relay", "from-servers-for-no-session", s.relayStray.Load()},
		{"dhcp-relay", "refused", s.relayRefused.Load()},
		{"dhcp-relay", "socket-error", s.relayLost.Load()},
		{"dhcpv6", "received", s.heard6.Load()},
		{"dhcpv6", "sent", s.sent6.Load()},
		{"dhcpv6", "malformed", s.malformed6.Load()},
		{"router-advertisement", "solicited", s.solicits.Load()},
		{"router-advertisement", "sent", s.advertsSent.Load()},
		{"router-advertisement", "malformed-solicitation", s.malformedND.Load()},
		{"router-advertisement", "other-neighbour-discovery", s.ignoredND.Load()},
		{"line", "too-fast", s.paced.Load()},
		{"line", "ipv6-not-granted", s.no6.Load()},
		{"line", "refused-lately", s.refusedAgain.Load()},
		{"line", "line-not-told", s.lineUntold.Load()}, {"line", "from-another-line", s.otherLine.Load()},
		{"line", "too-many-await-authorization", s.pendingFull.Load()},
	}
	for reason := range dhcp4.NumReasons {
		if n := s.ignored4[reason].Load(); n > 0 {
			rows = append(rows, Event{"dhcp-not-answered", reason.String(), n})
		}
	}
	for reason := range dhcp6.NumReasons {
		if n := s.ignored6[reason].Load(); n > 0 {
			rows = append(rows, Event{"dhcpv6-not-answered", reason.String(), n})
		}
	}
	withheld := []Event{}
	for what, n := range s.withheldSlots {
		withheld = append(withheld, Event{"not-given", what, n})
	}
	slices.SortFunc(withheld, func(a, b Event) int { return strings.Compare(a.Name, b.Name) })
	return append(rows, withheld...)
}
