package bench

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"text/tabwriter"

	"vbng/forwarding"
)

// result is one line of the report. The names are fixed: other programs read them.
type result struct {
	Scenario         string  `json:"scenario"`
	SizeBytes        int     `json:"size_bytes"`
	Sessions         int     `json:"sessions"`
	Routes           int     `json:"routes"`
	Workers          int     `json:"workers"`
	Mpps             float64 `json:"mpps"`
	NsPerPacket      float64 `json:"ns_per_packet"`
	GbpsWire         float64 `json:"gbps_wire"`
	AllocsPerPacket  float64 `json:"allocs_per_packet"`
	Drops            uint64  `json:"drops"`
	Verified         uint64  `json:"verified"`
	RatioToRxtx      float64 `json:"ratio_to_rxtx"`
	RatioToMemory    float64 `json:"ratio_to_memory"`
	RatioToReference float64 `json:"ratio_to_reference"`
}

// referenceMpps is the rate that ratio_to_reference is taken from.
const referenceMpps = 2.0

// config is the command line.
type config struct {
	scenario string
	json     bool
	options  options
}

// Main is the command `vbng-sim bench`. It returns the exit status.
func Main(args []string) int {
	c, err := parse(args, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "vbng-sim bench:", err)
		return 2
	}
	if err := c.run(os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "vbng-sim bench:", err)
		return 1
	}
	return 0
}

func parse(args []string, help io.Writer) (*config, error) {
	c := &config{}
	f := flag.NewFlagSet("vbng-sim bench", flag.ContinueOnError)
	f.SetOutput(help)
	f.StringVar(&c.scenario, "scenario", "both", "upstream, downstream or both")
	f.IntVar(&c.options.sizeBytes, "size", 256, "bytes of a received frame, FCS included")
	f.IntVar(&c.options.sessions, "sessions", 32768, "PPPoE sessions")
	f.IntVar(&c.options.routes, "routes", 500000, "prefixes, besides one /32 per session")
	f.IntVar(&c.options.packets, "packets", 20_000_000, "packets per run")
	f.IntVar(&c.options.runs, "runs", 5, "runs, of which the median counts")
	f.IntVar(&c.options.cpu, "cpu", runtime.NumCPU()-1, "CPU that the worker is pinned to")
	f.Uint64Var(&c.options.seed, "seed", 1, "of the random world")
	f.StringVar(&c.options.profile, "cpuprofile", "", "write a CPU profile of the last scenario's measured runs to this `FILE`")
	f.BoolVar(&c.json, "json", false, "print JSON")
	f.Usage = func() {
		fmt.Fprint(help, "Usage: vbng-sim bench [OPTIONS]\n\nMeasures the forwarding engine on one core, on in-memory ports. The time of a packet\n"+
			"includes writing its headers from one of a million templates, and checking it when it leaves.\n\n")
		f.PrintDefaults()
	}
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	return c, c.check(f.NArg())
}

func (c *config) check(rest int) error {
	o := &c.options
	switch {
	case rest > 0:
		return errors.New("there are words behind the options")
	case c.scenario != "upstream" && c.scenario != "downstream" && c.scenario != "both":
		return fmt.Errorf("scenario %q is not upstream, downstream or both", c.scenario)
	case o.sizeBytes < templateBytes+fcsBytes || o.sizeBytes > 1500:
		return fmt.Errorf("size %d is not within %d and 1500", o.sizeBytes, templateBytes+fcsBytes)
	case o.sessions < accessPorts || o.sessions > 1<<20-1:
		return fmt.Errorf("%d sessions are not within %d and %d", o.sessions, accessPorts, 1<<20-1)
	case o.routes < 1 || o.routes > 2_000_000:
		return fmt.Errorf("%d routes are not within 1 and 2000000", o.routes)
	case o.packets < sampleEvery:
		return fmt.Errorf("%d packets are fewer than %d", o.packets, sampleEvery)
	case o.runs < 1:
		return errors.New("there must be a run")
	case o.cpu < 0 || o.cpu >= runtime.NumCPU():
		return fmt.Errorf("there is no CPU %d", o.cpu)
	}
	return nil
}

func (c *config) run(out, progress io.Writer) error {
	// As in the forwarder process: workers spin, and the collector would only get in their way.
	debug.SetGCPercent(-1)
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), 4))
	memory, err := memoryRate(c.options.cpu)
	if err != nil {
		return fmt.Errorf("calibrate memory: %w", err)
	}
	fmt.Fprintf(progress, "memory calibration: %.1f million random 64-byte reads per second\n", memory)
	var results []result
	for _, name := range []string{"upstream", "downstream"} {
		if c.scenario != name && c.scenario != "both" {
			continue
		}
		r, err := c.one(name, memory, progress)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		results = append(results, r)
	}
	if c.json {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(results)
	}
	return table(out, results)
}

// one measures one scenario.
func (c *config) one(name string, memory float64, progress io.Writer) (result, error) {
	o := c.options
	o.upstream, o.templates = name == "upstream", templateCount
	o.limits = forwarding.DefaultLimits()
	o.limits.Sessions, o.limits.Routes = max(o.limits.Sessions, o.sessions), max(o.limits.Routes, o.routes+o.sessions)
	s, err := prepare(o)
	if err != nil {
		return result{}, err
	}
	defer func() {
		s.local.Close()
		debug.FreeOSMemory()
	}()
	x, err := s.measure()
	if err != nil {
		return result{}, err
	}
	x.rxtxNanos, err = rxtxBesides(s, o)
	if err != nil {
		return result{}, fmt.Errorf("calibrate ports: %w", err)
	}
	fmt.Fprintf(progress, "%s: the worker's thread ran %.1f ns per packet, out of %.1f; %.1f in the fastest run\n", name, x.cpuNanos, x.nanosPerPacket, x.fastestNanos)
	fmt.Fprintf(progress, "%s: rxtx calibration: %.1f million packets per second\n", name, 1e3/x.rxtxNanos)
	mpps := 1e3 / x.nanosPerPacket
	return result{
		Scenario: name, SizeBytes: o.sizeBytes, Sessions: o.sessions, Routes: o.routes, Workers: 1,
		Mpps: mpps, NsPerPacket: x.nanosPerPacket, GbpsWire: mpps * float64(o.sizeBytes+gapBytes) * 8 / 1e3,
		AllocsPerPacket: float64(x.allocations) / float64(o.runs*o.packets), Drops: x.drops, Verified: x.verified,
		RatioToRxtx: x.rxtxNanos / x.nanosPerPacket, RatioToMemory: mpps / memory, RatioToReference: mpps / referenceMpps,
	}, nil
}

// rxtxBesides calibrates the ports on the worker's CPU, while the worker is stopped.
func rxtxBesides(s *scenario, o options) (float64, error) {
	s.local.Close()
	return rxtx(s.traffic.t, o)
}

func table(out io.Writer, results []result) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "scenario\tMpps\tns/packet\tGbps on the wire\tallocs/packet\tdrops\tverified\tof rxtx\tof memory\tof reference\t")
	for _, r := range results {
		fmt.Fprintf(w, "%s\t%.2f\t%.1f\t%.1f\t%g\t%d\t%d\t%.2f\t%.3f\t%.1f\t\n", r.Scenario, r.Mpps, r.NsPerPacket, r.GbpsWire,
			r.AllocsPerPacket, r.Drops, r.Verified, r.RatioToRxtx, r.RatioToMemory, r.RatioToReference)
	}
	return w.Flush()
}
