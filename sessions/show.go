package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"vbng/control/oper"
	"vbng/forwarding/entry"
	"vbng/sessions/pool"
	"vbng/sessions/pppoe"
)

// timeFormat is how times are shown, in UTC.
const timeFormat = "2006-01-02T15:04:05Z"

// Commands returns the show and clear commands about sessions and pools.
func (m *Manager) Commands() []*oper.Command {
	detail := oper.Arg{Name: "detail", Help: "everything about each session", Flag: true, Optional: true}
	state := oper.Arg{Name: "state", Help: "state of the session", Keyword: true, Optional: true, Enum: stateNames()}
	all := oper.Arg{Name: "all", Help: "every session", Flag: true, Optional: true}
	return []*oper.Command{
		{Words: "show subscribers", Help: "sessions", Args: append([]oper.Arg{detail, state}, selectors()...), Run: m.showSubscribers},
		{Words: "show subscribers summary", Help: "how many sessions, by state, interface and profile", Run: m.showSummary},
		{Words: "show subscribers history", Help: "sessions that ended, the last one first", Run: m.showHistory},
		{Words: "show ip pool", Help: "pools of IPv4 addresses and their use", Run: m.showPools},
		{Words: "show ipv6 pool", Help: "pools of IPv6 prefixes and addresses and their use", Run: m.showPools6},
		{Words: "show dhcp leases", Help: "leases by DHCP and DHCPv6", Args: selectors(), Run: m.showLeases},
		{Words: "show dhcp statistics", Help: "DHCP, DHCPv6 and router advertisements: messages, and those not answered", Run: m.showLines},
		{Words: "show pool", Help: "address pools and their use", Run: m.showPools},
		{Words: "show pppoe", Help: "discovery, failures and ends by cause", Run: m.showPPPoE},
		{Words: "clear subscriber", Help: "end sessions", Args: append([]oper.Arg{all}, selectors()...), Run: m.clearSubscriber},
		m.debugCommand(),
	}
}

func stateNames() []string {
	var names []string
	for s := StateDiscovered; s <= StateEnding; s++ {
		names = append(names, s.String())
	}
	return names
}

// Subscriber is one session, as the table tells it.
type Subscriber struct {
	SessionID     uint64 `show:"Session" json:"session_id"`
	Username      string `show:"User" json:"username"`
	MAC           string `show:"MAC" json:"mac"`
	Port          string `show:"Port" json:"port"`
	VLAN          string `show:"VLAN" json:"vlan"`
	Access        string `show:"Access" json:"access"`
	PPPoE         uint16 `show:"PPPoE" json:"pppoe_session_id"`
	Address       string `show:"Address" json:"address"`
	IPv6          string `show:"IPv6" json:"ipv6"`
	Delegated     string `show:"Delegated" json:"delegated_prefix"`
	VRF           string `show:"VRF" json:"vrf"`
	State         string `show:"State" json:"state"`
	UptimeSeconds int64  `show:"Uptime (s)" json:"uptime_seconds"`
	InputBytes    uint64 `show:"Bytes in" json:"input_bytes"`
	OutputBytes   uint64 `show:"Bytes out" json:"output_bytes"`
}

func (m *Manager) subscriber(s *Session) Subscriber {
	usage := m.usage(s)
	return Subscriber{
		SessionID: uint64(s.id), Username: printed(s.username), MAC: s.client.mac.String(), Port: s.port,
		VLAN: s.client.place.VLAN(), Access: s.access.String(), PPPoE: s.pppoe, Address: addressText(s.ipv4()),
		IPv6: ipv6Text(s), Delegated: prefixText(s.bindings[slotDelegated].prefix), VRF: m.vrfName(s), State: s.state.String(),
		UptimeSeconds: int64(s.uptime(m.loop.Now()).Seconds()),
		InputBytes:    usage.InputBytes, OutputBytes: usage.OutputBytes,
	}
}

// VLAN prints the tags: "-", "100" or "100.7".
func (p Place) VLAN() string {
	switch {
	case p.OuterTPID == 0:
		return "-"
	case p.InnerVLAN == 0:
		return strconv.Itoa(int(p.OuterVLAN))
	}
	return fmt.Sprintf("%d.%d", p.OuterVLAN, p.InnerVLAN)
}

// printed makes a text that a client chose safe to show: what could move a terminal's cursor is quoted.
func printed(text string) string {
	for _, r := range text {
		if !strconv.IsPrint(r) {
			return strconv.Quote(text)
		}
	}
	return text
}

func addressText(a netip.Addr) string {
	if !a.IsValid() {
		return "-"
	}
	return a.String()
}

func prefixText(p netip.Prefix) string {
	if !p.IsValid() {
		return "-"
	}
	return p.String()
}

// ipv6Text is the session's advertised prefix and address, as far as it has them.
func ipv6Text(s *Session) string {
	prefix, address := s.bindings[slotPrefix].prefix, s.bindings[slotAddress6].prefix.Addr()
	switch {
	case prefix.IsValid() && address.IsValid():
		return prefix.String() + ", " + address.String()
	case prefix.IsValid():
		return prefix.String()
	}
	return addressText(address)
}

// vrfName is the VRF of a session by name.
func (m *Manager) vrfName(s *Session) string { return m.vrfNamed(s.profile.vrf) }

func (m *Manager) vrfNamed(vrf entry.VRFID) string {
	if m.needs.VRFs == nil {
		return oneVRF{}.Name(vrf)
	}
	return m.needs.VRFs.Name(vrf)
}

func (m *Manager) showSubscribers(ctx context.Context, call oper.Call) (any, error) {
	sel, _, err := parseSelection(call)
	if err != nil {
		return nil, err
	}
	if call.Has("detail") {
		return m.showDetail(ctx, sel)
	}
	rows, err := collect(ctx, m, sel, m.subscriber)
	if err != nil {
		return nil, err
	}
	return oper.Table[Subscriber]{Rows: rows, Summary: fmt.Sprintf("%d sessions", len(rows))}, nil
}

// Count is a number of something.
type Count struct {
	What  string `show:"What" json:"what"`
	Name  string `show:"Name" json:"name"`
	Count uint64 `show:"Sessions" json:"count"`
}

func (m *Manager) showSummary(ctx context.Context, _ oper.Call) (any, error) {
	type key struct{ state, port, profile string }
	rows, err := collect(ctx, m, selection{}, func(s *Session) key {
		return key{s.state.String(), s.port, s.profile.name}
	})
	if err != nil {
		return nil, err
	}
	counts := map[[2]string]uint64{}
	for _, r := range rows {
		counts[[2]string{"state", r.state}]++
		counts[[2]string{"interface", r.port}]++
		counts[[2]string{"profile", r.profile}]++
	}
	table := oper.Table[Count]{Rows: countRows(counts), Summary: fmt.Sprintf("%d sessions", len(rows))}
	return table, nil
}

func countRows(counts map[[2]string]uint64) []Count {
	rows := []Count{}
	for k, n := range counts {
		rows = append(rows, Count{What: k[0], Name: k[1], Count: n})
	}
	slices.SortFunc(rows, func(a, b Count) int { return cmp.Or(cmp.Compare(a.What, b.What), cmp.Compare(a.Name, b.Name)) })
	return rows
}

func (m *Manager) showHistory(ctx context.Context, _ oper.Call) (any, error) {
	var rows []Ended
	if err := m.ask(ctx, func() { rows = m.history.latest() }); err != nil {
		return nil, err
	}
	return oper.Table[Ended]{Rows: rows, Summary: fmt.Sprintf("%d sessions, at most %d are kept", len(rows), historySize)}, nil
}

// PoolRange is one range of a pool.
type PoolRange struct {
	Pool        string `show:"Pool" json:"pool"`
	VRF         string `show:"VRF" json:"vrf"`
	First       string `show:"First" json:"first"`
	Last        string `show:"Last" json:"last"`
	Size        uint32 `show:"Size" json:"size"`
	Used        uint32 `show:"Used" json:"used"`
	Free        uint32 `show:"Free" json:"free"`
	Reserved    uint32 `show:"Own" json:"own"`
	Quarantined uint32 `show:"Quarantined" json:"quarantined"`
	UsedPercent uint32 `show:"Used (%)" json:"used_percent"`
}

func (m *Manager) showPools(ctx context.Context, _ oper.Call) (any, error) {
	rows, outside := []PoolRange{}, 0
	err := m.ask(ctx, func() {
		users := m.current.users()
		for _, vrf := range m.vrfs() {
			pools := m.spaces[vrf].pools
			outside += pools.Outside()
			for _, u := range pools.Usage() {
				if listed(users[poolOwner(slotIPv4, u.Pool)], vrf, u.Used+u.Quarantined > 0) {
					rows = append(rows, m.poolRange(vrf, u))
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return oper.Table[PoolRange]{Rows: rows, Summary: fmt.Sprintf("%d addresses in use outside of all ranges", outside)}, nil
}

func (m *Manager) poolRange(vrf entry.VRFID, u pool.Usage) PoolRange {
	return PoolRange{
		Pool: u.Pool, VRF: m.vrfNamed(vrf), First: u.First.String(), Last: u.Last.String(), Size: u.Size, Used: u.Used, Free: u.Free,
		Reserved: u.Reserved, Quarantined: u.Quarantined, UsedPercent: uint32(uint64(u.Used) * 100 / uint64(u.Size)),
	}
}

// Event is how often something happened.
type Event struct {
	Kind  string `show:"Kind" json:"kind"`
	Name  string `show:"Name" json:"name"`
	Count uint64 `show:"Count" json:"count"`
}

func (m *Manager) showPPPoE(ctx context.Context, _ oper.Call) (any, error) {
	var rows []Event
	if err := m.ask(ctx, func() { rows = m.stats.events(m.loop.Refused()) }); err != nil {
		return nil, err
	}
	return oper.Table[Event]{Rows: rows}, nil
}

// events lists the counters: those of the protocol always, reasons and causes that occurred.
func (s *stats) events(inboxFull uint64) []Event {
	rows := []Event{
		{"discovery", "pado-sent", s.offers.Load() - s.offersWithheld.Load()},
		{"discovery", "pado-withheld-box-full", s.offersWithheld.Load()},
		{"discovery", "padr-accepted", s.requests.Load()},
		{"discovery", "pads-repeated", s.padsRepeated.Load()},
		{"discovery", "padt-received", s.terminations.Load()},
		{"discovery", "padt-received-for-no-session", s.padtsStray.Load()},
		{"discovery", "padt-sent-for-no-session", s.padtsUnknown.Load()},
		{"discovery", "padt-withheld-rate", s.padtsWithheld.Load()},
		{"discovery", "no-profile-on-port", s.noProfile.Load()},
		{"sessions", "established", s.established.Load()},
		{"control", "malformed-frame", s.malformed.Load()},
		{"control", "internal-fault", s.faults.Load()},
		{"control", "late-packet-or-answer", s.late.Load()},
		{"control", "inject-ring-full", s.injectLost.Load()},
		{"control", "inbox-full", inboxFull},
	}
	for reason := range pppoe.NumReasons {
		if n := s.refusals[reason].Load(); n > 0 {
			rows = append(rows, Event{"discovery-refused", reason.String(), n})
		}
	}
	rows = append(rows, causeRows("setup-failed", s.failures)...)
	return append(rows, causeRows("session-ended", s.ends)...)
}

func causeRows(kind string, counts map[Cause]uint64) []Event {
	var rows []Event
	for cause, n := range counts {
		rows = append(rows, Event{kind, string(cause), n})
	}
	slices.SortFunc(rows, func(a, b Event) int { return cmp.Compare(a.Name, b.Name) })
	return rows
}

// errSelectNothing keeps a clear without arguments from being a clear of all.
var errSelectNothing = errors.New("say which sessions: session-id, user, mac, ip, ipv6, access, vrf, vlan, interface, or all")

func (m *Manager) clearSubscriber(ctx context.Context, call oper.Call) (any, error) {
	sel, said, err := parseSelection(call)
	switch {
	case err != nil:
		return nil, err
	case !said && !call.Has("all"):
		return nil, errSelectNothing
	case said && call.Has("all"):
		return nil, errors.New("all and a selection do not go together")
	}
	ids, err := collect(ctx, m, sel, func(s *Session) entry.SessionID { return s.id })
	if err != nil {
		return nil, err
	}
	m.loop.Post(closing{ids: ids, cause: CauseCleared})
	return oper.Document{
		Sections: []oper.Section{{Lines: []oper.Field{{Name: "Sessions cleared", Value: strconv.Itoa(len(ids))}}}},
		Data:     map[string]int{"sessions_cleared": len(ids)},
	}, nil
}

// durationText prints a duration in whole seconds, "-" for none.
func durationText(d time.Duration) string {
	if d <= 0 {
		return "-"
	}
	return d.Truncate(time.Second).String()
}
