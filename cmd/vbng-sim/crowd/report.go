package crowd

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"vbng/cmd/vbng-sim/pppoe"
	"vbng/cmd/vbng-sim/traffic"
)

// report is the summary of a run. Its JSON names are an interface to scripts.
type report struct {
	OK     bool     `json:"ok"`
	Faults []string `json:"faults"`

	Sessions     int            `json:"sessions"`
	Up           int            `json:"up"` // that came up at least once
	UpNow        int            `json:"up_now"`
	Silent       int            `json:"silent"`
	Failed       map[string]int `json:"failed"`         // before they were up, by cause
	EndedUp      map[string]int `json:"ended_while_up"` // not by our will, by cause
	ExpectedEnds int            `json:"expected_ends"`
	Reconnects   int            `json:"reconnects"`
	FirstPADI    float64        `json:"first_padi"`    // Unix seconds
	SetupSeconds float64        `json:"setup_seconds"` // from there to the last session up
	SetupRate    float64        `json:"setup_rate"`    // sessions per second

	Traffic     directions         `json:"traffic"`
	Strays      uint64             `json:"strays"`
	OwnDrops    ports              `json:"own_drops"`
	Subscribers []subscriberReport `json:"subscribers,omitempty"`
}

type directions struct {
	Up   directionReport `json:"up"`
	Down directionReport `json:"down"`
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
		Sessions: len(c.subscribers), Up: c.everUp, UpNow: c.phases[pppoe.Up], Silent: c.phases[pppoe.Silent],
		Failed: map[string]int{}, EndedUp: map[string]int{}, ExpectedEnds: c.expectedEnds,
		Reconnects: c.reconnects, Strays: c.strays, OwnDrops: ports{Access: c.access.lost()},
		Traffic: directions{c.directionReport(traffic.Upstream), c.directionReport(traffic.Downstream)},
	}
	if c.internet != nil {
		r.OwnDrops.Internet = c.internet.link.lost()
	}
	r.FirstPADI = float64(c.start.Add(c.firstPADI).UnixMicro()) / 1e6
	if c.everUp > 0 {
		r.SetupSeconds = (c.lastUp - c.firstPADI).Seconds()
	}
	if r.SetupSeconds > 0 {
		r.SetupRate = float64(c.everUp) / r.SetupSeconds
	}
	for i := range c.subscribers {
		s := &c.subscribers[i]
		if s.Phase == pppoe.Ended && s.End.Cause != pppoe.CauseClosed {
			if s.wasUp {
				r.EndedUp[s.End.Cause.String()]++
			} else {
				r.Failed[s.End.Cause.String()]++
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

func (c *Crowd) directionReport(d traffic.Direction) directionReport {
	return directionReport{c.requested[d], c.meters[d].Count()}
}

func (s *subscriber) report() subscriberReport {
	r := subscriberReport{
		User: s.User, Phase: s.Phase.String(), Address: s.Addr.String(), SessionID: s.SessionID,
		MAC: s.MAC.String(), VLANs: s.Tags.String(),
		InPackets: s.octets.inPackets, InBytes: s.octets.inBytes,
		OutPackets: s.octets.outPackets, OutBytes: s.octets.outBytes,
	}
	if s.Phase == pppoe.Ended {
		r.End, r.Message = s.End.Cause.String(), s.End.Message
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
		fmt.Fprintf(w, "%-10s%10s%10s%8s%8s%10s%8s%8s%8s\n", "traffic", "sent", "received", "lost", "dup", "reordered", "foreign", "corrupt", "gap ms")
		writeCount(w, "up", r.Traffic.Up)
		writeCount(w, "down", r.Traffic.Down)
		if r.Traffic.Up.behind() || r.Traffic.Down.behind() {
			fmt.Fprintf(w, "the simulator did not keep the rate: up %d and down %d packets were requested\n",
				r.Traffic.Up.Requested, r.Traffic.Down.Requested)
		}
	}
	writeDrops(w, "access", r.OwnDrops.Access)
	writeDrops(w, "Internet", r.OwnDrops.Internet)
	for _, s := range r.Subscribers {
		fmt.Fprintf(w, "  %-16s %-12s %-15s session %-5d %s vlan %-9s in %d/%d out %d/%d %s %s\n", s.User, s.Phase, s.Address,
			s.SessionID, s.MAC, s.VLANs, s.InPackets, s.InBytes, s.OutPackets, s.OutBytes, s.End, s.Message)
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

func writeCount(w io.Writer, title string, n directionReport) {
	fmt.Fprintf(w, "%-10s%10d%10d%8d%8d%10d%8d%8d%8d\n", title, n.Sent, n.Received, n.Lost, n.Duplicates,
		n.Reordered, n.Foreign, n.Corrupt, n.LongestGapMS)
}

// progress is the line that a terminal shows.
func (c *Crowd) progress() string {
	up, down := c.meters[traffic.Upstream], c.meters[traffic.Downstream]
	return fmt.Sprintf("%6.1f s  up %d of %d, failed or ended %d, up sent %d missing %d, down sent %d missing %d",
		c.now.Truncate(100*time.Millisecond).Seconds(), c.phases[pppoe.Up], len(c.subscribers), c.phases[pppoe.Ended],
		up.Sent(), up.Outstanding(), down.Sent(), down.Outstanding())
}
