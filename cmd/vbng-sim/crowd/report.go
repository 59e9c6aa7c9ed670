package crowd

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"vbng/cmd/vbng-sim/life"
	"vbng/cmd/vbng-sim/traffic"
)

// report is the summary of a run. Its JSON names are an interface to scripts.
type report struct {
	OK     bool     `json:"ok"`
	Faults []string `json:"faults"`

	Sessions      int            `json:"sessions"`
	Up            int            `json:"up"` // that came up at least once
	UpNow         int            `json:"up_now"`
	Silent        int            `json:"silent"`
	Failed        map[string]int `json:"failed"`         // before they were up, by cause
	EndedUp       map[string]int `json:"ended_while_up"` // not by our will, by cause
	ExpectedEnds  int            `json:"expected_ends"`
	Reconnects    int            `json:"reconnects"`
	FirstPADI     float64        `json:"first_padi,omitempty"`     // Unix seconds; of PPPoE
	FirstDiscover float64        `json:"first_discover,omitempty"` // the same of IPoE
	SetupSeconds  float64        `json:"setup_seconds"`            // from there to the last session up
	SetupRate     float64        `json:"setup_rate"`               // sessions per second

	Traffic     directions            `json:"traffic"`
	Families    map[string]flowReport `json:"families"` // the same by flow, and all of IPv6
	Strays      uint64                `json:"strays"`
	OwnDrops    ports                 `json:"own_drops"`
	Subscribers []subscriberReport    `json:"subscribers,omitempty"`
}

type directions struct {
	Up   directionReport `json:"up"`
	Down directionReport `json:"down"`
}

// flowReport is a part of the traffic; what was requested is known of the whole only.
type flowReport struct {
	Up   traffic.Count `json:"up"`
	Down traffic.Count `json:"down"`
}

func (f flowReport) plus(o flowReport) flowReport {
	return flowReport{Up: f.Up.Plus(o.Up), Down: f.Down.Plus(o.Down)}
}

type directionReport struct {
	Requested uint64 `json:"requested"` // packets, by the rate and duration of the traffic steps
	traffic.Count
}

// behind reports whether the simulator did not keep the rate that was asked of it.
func (r directionReport) behind() bool {
	const tolerated = 0.99
	return float64(r.Sent) < tolerated*float64(r.Requested)
}

type ports struct {
	Access   portDrops `json:"access"`
	Internet portDrops `json:"internet"`
}

// subscriberReport counts inner IP packets and bytes as the router has to: in is from the subscriber.
type subscriberReport struct {
	User       string `json:"user"`
	Phase      string `json:"phase"`
	End        string `json:"end,omitempty"`
	Message    string `json:"message,omitempty"`
	Address    string `json:"address"`
	SLAAC      string `json:"slaac,omitempty"`
	Assigned   string `json:"ia_na,omitempty"`
	Delegated  string `json:"ia_pd,omitempty"`
	SessionID  uint16 `json:"session_id"`
	MAC        string `json:"mac"`
	VLANs      string `json:"vlans"`
	InPackets  uint64 `json:"in_packets"`
	InBytes    uint64 `json:"in_bytes"`
	OutPackets uint64 `json:"out_packets"`
	OutBytes   uint64 `json:"out_bytes"`
}

// report sums up what has happened so far.
func (c *Crowd) report() report {
	r := report{
		Sessions: len(c.subscribers), Up: c.everUp, UpNow: c.stages[life.Up], Silent: c.stages[life.Silent],
		Failed: map[string]int{}, EndedUp: map[string]int{}, ExpectedEnds: c.expectedEnds,
		Reconnects: c.reconnects, Strays: c.strays, OwnDrops: ports{Access: c.access.lost()},
	}
	c.reportTraffic(&r)
	if c.internet != nil {
		r.OwnDrops.Internet = c.internet.link.lost()
	}
	first := &r.FirstPADI
	if c.options.kind == &ipoeKind {
		first = &r.FirstDiscover
	}
	*first = float64(c.start.Add(c.firstFrame).UnixMicro()) / 1e6
	if c.everUp > 0 {
		r.SetupSeconds = (c.lastUp - c.firstFrame).Seconds()
	}
	if r.SetupSeconds > 0 {
		r.SetupRate = float64(c.everUp) / r.SetupSeconds
	}
	for i := range c.subscribers {
		s := &c.subscribers[i]
		if s.state.Stage == life.Ended && !s.state.Closed {
			if s.wasUp {
				r.EndedUp[s.state.Cause]++
			} else {
				r.Failed[s.state.Cause]++
			}
		}
		if c.options.details {
			r.Subscribers = append(r.Subscribers, s.report())
		}
	}
	r.Faults = c.findFaults(&r)
	r.OK = len(r.Faults) == 0
	return r
}

// reportTraffic adds up the meters. Flows without a packet are left out of the parts.
func (c *Crowd) reportTraffic(r *report) {
	const allOfIPv6 = "ipv6"
	r.Families = map[string]flowReport{}
	var whole, six flowReport
	for f := range traffic.Flow(traffic.Flows) {
		part := flowReport{c.meters[traffic.Upstream][f].Count(), c.meters[traffic.Downstream][f].Count()}
		if part == (flowReport{}) {
			continue
		}
		r.Families[f.String()] = part
		whole = whole.plus(part)
		if f != traffic.IPv4 {
			six = six.plus(part)
			r.Families[allOfIPv6] = six
		}
	}
	r.Traffic = directions{
		directionReport{c.requested[traffic.Upstream], whole.Up},
		directionReport{c.requested[traffic.Downstream], whole.Down},
	}
}

// text writes an address or prefix; empty: there is none.
func text(a interface {
	IsValid() bool
	String() string
}) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}

func (s *subscriber) report() subscriberReport {
	a := s.Addresses()
	r := subscriberReport{
		User: s.id.User, Phase: s.state.Phase, Address: text(a.IPv4), SessionID: s.SessionID(),
		SLAAC: text(a.SLAAC), Assigned: text(a.Assigned), Delegated: text(a.Delegated),
		MAC: s.id.MAC.String(), VLANs: s.id.Tags.String(),
		InPackets: s.octets.inPackets, InBytes: s.octets.inBytes,
		OutPackets: s.octets.outPackets, OutBytes: s.octets.outBytes,
	}
	if s.state.Stage == life.Ended {
		r.End, r.Message = s.state.Cause, s.state.Message
	}
	return r
}

// findFaults says in words what went wrong.
func (c *Crowd) findFaults(r *report) []string {
	faults := append([]string{}, c.problems...)
	add := func(format string, arguments ...any) { faults = append(faults, fmt.Sprintf(format, arguments...)) }
	if n := sum(r.Failed); n > 0 {
		add("%d subscribers failed to come up: %v", n, r.Failed)
	}
	if n := c.startedCount() - r.Up - sum(r.Failed); n > 0 && !c.options.reconnect {
		add("%d subscribers never came up", n)
	}
	if n := c.routerEnds - c.expectedEnds; n > 0 && !c.options.reconnect {
		add("%d sessions ended unexpectedly: %v", n, r.EndedUp)
	}
	if c.strays > 0 {
		add("%d frames came to a subscriber's MAC address on VLANs that are not its own", c.strays)
	}
	for d, count := range []traffic.Count{r.Traffic.Up.Count, r.Traffic.Down.Count} {
		faults = append(faults, c.trafficFaults(traffic.Direction(d), count)...)
	}
	return faults
}

func (c *Crowd) startedCount() int {
	if c.starter == nil {
		return 0
	}
	return c.starter.next
}

func (c *Crowd) trafficFaults(d traffic.Direction, n traffic.Count) (faults []string) {
	if !n.Faultless() {
		faults = append(faults, fmt.Sprintf("%v: %d foreign, %d corrupt, %d duplicate packets", d, n.Foreign, n.Corrupt, n.Duplicates))
	}
	if float64(n.Lost)*100 > c.options.maxLossPercent*float64(n.Sent) {
		faults = append(faults, fmt.Sprintf("%v: %d of %d packets lost, %.4f %%", d, n.Lost, n.Sent, lossPercent(n)))
	}
	if n.DeadFlows > 0 {
		faults = append(faults, fmt.Sprintf("%v: nothing arrived on %d flows", d, n.DeadFlows))
	}
	return faults
}

func lossPercent(n traffic.Count) float64 {
	if n.Sent == 0 {
		return 0
	}
	return float64(n.Lost) * 100 / float64(n.Sent)
}

func sum(counts map[string]int) (n int) {
	for _, v := range counts {
		n += v
	}
	return n
}

// writeJSON writes the report for scripts.
func (r report) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// writeReport writes JSON to a file, by way of another name so that nobody reads half of it. What is no
// file but stands there as a device or a pipe is written to: it must not be replaced.
func writeReport(path string, r report) error {
	if path == standardOutput {
		return r.writeJSON(os.Stdout)
	}
	if there, err := os.Stat(path); err == nil && !there.Mode().IsRegular() {
		return r.writeInto(path)
	}
	f, err := os.Create(path + ".new")
	if err != nil {
		return fmt.Errorf("create report: %w", err)
	}
	defer f.Close()
	if err := r.writeJSON(f); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("publish report: %w", err)
	}
	return nil
}

func (r report) writeInto(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("open report: %w", err)
	}
	defer f.Close()
	if err := r.writeJSON(f); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// writeText writes the report for people.
func (r report) writeText(w io.Writer) {
	fmt.Fprintf(w, "sessions  %d, up %d in %.2f s (%.0f per second), up now %d, silent %d\n",
		r.Sessions, r.Up, r.SetupSeconds, r.SetupRate, r.UpNow, r.Silent)
	writeCauses(w, "failed", r.Failed)
	writeCauses(w, "ended while up", r.EndedUp)
	if r.Traffic.Up.Sent+r.Traffic.Down.Sent > 0 {
		fmt.Fprintf(w, "%-16s%10s%10s%8s%8s%10s%8s%8s%8s\n", "traffic", "sent", "received", "lost", "dup", "reordered", "foreign", "corrupt", "gap ms")
		r.writeCounts(w)
		if r.Traffic.Up.behind() || r.Traffic.Down.behind() {
			fmt.Fprintf(w, "the simulator did not keep the rate: up %d and down %d packets were requested\n",
				r.Traffic.Up.Requested, r.Traffic.Down.Requested)
		}
	}
	writeDrops(w, "access", r.OwnDrops.Access)
	writeDrops(w, "Internet", r.OwnDrops.Internet)
	for _, s := range r.Subscribers {
		fmt.Fprintf(w, "  %-16s %-12s %-15s %s %s %s session %-5d %s vlan %-9s in %d/%d out %d/%d %s %s\n", s.User, s.Phase, s.Address,
			s.SLAAC, s.Assigned, s.Delegated, s.SessionID, s.MAC, s.VLANs, s.InPackets, s.InBytes, s.OutPackets, s.OutBytes, s.End, s.Message)
	}
	for _, f := range r.Faults {
		fmt.Fprintf(w, "FAULT     %s\n", f)
	}
}

func writeCauses(w io.Writer, title string, causes map[string]int) {
	if len(causes) > 0 {
		fmt.Fprintf(w, "%s: %v\n", title, causes)
	}
}

func writeDrops(w io.Writer, title string, d portDrops) {
	if d.Send+d.Receive > 0 {
		fmt.Fprintf(w, "the simulator itself dropped on its %s port: %d to send, %d received %q\n", title, d.Send, d.Receive, d.Reasons)
	}
}

// writeCounts writes a line per direction, and per part of it if there are several.
func (r report) writeCounts(w io.Writer) {
	writeCount(w, "up", r.Traffic.Up.Count)
	writeCount(w, "down", r.Traffic.Down.Count)
	if len(r.Families) < 2 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(r.Families)) {
		writeCount(w, " "+name+" up", r.Families[name].Up)
		writeCount(w, " "+name+" down", r.Families[name].Down)
	}
}

func writeCount(w io.Writer, title string, n traffic.Count) {
	fmt.Fprintf(w, "%-16s%10d%10d%8d%8d%10d%8d%8d%8d\n", title, n.Sent, n.Received, n.Lost, n.Duplicates,
		n.Reordered, n.Foreign, n.Corrupt, n.LongestGapMS)
}

// progress is the line that a terminal shows.
func (c *Crowd) progress() string {
	return fmt.Sprintf("%6.1f s  up %d of %d, failed or ended %d, up sent %d missing %d, down sent %d missing %d",
		c.now.Truncate(100*time.Millisecond).Seconds(), c.stages[life.Up], len(c.subscribers), c.stages[life.Ended],
		c.sentOf(traffic.Upstream), c.outstandingOf(traffic.Upstream),
		c.sentOf(traffic.Downstream), c.outstandingOf(traffic.Downstream))
}
