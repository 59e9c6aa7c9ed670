// Command bench runs the engine's benchmark over a matrix of cases and draws the result.
//
//	go run ./etc/bench -sim bin/vbng-sim -out docs/performance
//
// It writes results.json, as vbng-sim prints it, and one SVG per plot.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// result is what the plots need of a line of vbng-sim bench --json.
type result struct {
	Scenario         string  `json:"scenario"`
	SizeBytes        int     `json:"size_bytes"`
	Sessions         int     `json:"sessions"`
	Routes           int     `json:"routes"`
	Mpps             float64 `json:"mpps"`
	GbpsWire         float64 `json:"gbps_wire"`
	RatioToMemory    float64 `json:"ratio_to_memory"`
	RatioToReference float64 `json:"ratio_to_reference"`
}

const (
	usualSize     = 256
	usualSessions = 32768
	usualRoutes   = 500000
)

func main() {
	sim := flag.String("sim", "bin/vbng-sim", "the benchmark program")
	out := flag.String("out", "docs/performance", "folder for results and plots")
	packets := flag.Int("packets", 10_000_000, "packets per run")
	redraw := flag.Bool("redraw", false, "draw the results that are there, measure nothing")
	flag.Parse()
	if err := run(*sim, *out, *packets, *redraw); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(sim, out string, packets int, redraw bool) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	file := filepath.Join(out, "results.json")
	if !redraw {
		if err := measure(sim, file, packets); err != nil {
			return err
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read results: %w", err)
	}
	var all []result
	if err := json.Unmarshal(text, &all); err != nil {
		return fmt.Errorf("read results: %w", err)
	}
	return draw(all, out)
}

// measure runs every case once and keeps the program's own JSON objects.
func measure(sim, file string, packets int) error {
	var all []json.RawMessage
	for _, c := range cases() {
		command := exec.Command(sim, "bench", "--json", "--scenario", "both", "--packets", strconv.Itoa(packets),
			"--size", strconv.Itoa(c.SizeBytes), "--sessions", strconv.Itoa(c.Sessions), "--routes", strconv.Itoa(c.Routes))
		command.Stderr = os.Stderr
		text, err := command.Output()
		if err != nil {
			return fmt.Errorf("run %v: %w", command.Args, err)
		}
		var lines []json.RawMessage
		if err := json.Unmarshal(text, &lines); err != nil {
			return fmt.Errorf("read output of %v: %w", command.Args, err)
		}
		all = append(all, lines...)
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// cases are the usual one and those that differ from it in one thing.
func cases() []result {
	var all []result
	for _, sessions := range []int{1024, 4096, 16384, usualSessions, 65536} {
		all = append(all, result{SizeBytes: usualSize, Sessions: sessions, Routes: usualRoutes})
	}
	for _, size := range []int{128, 512, 1024, 1500} {
		all = append(all, result{SizeBytes: size, Sessions: usualSessions, Routes: usualRoutes})
	}
	for _, routes := range []int{1000, 10000, 100000} {
		all = append(all, result{SizeBytes: usualSize, Sessions: usualSessions, Routes: routes})
	}
	return all
}

func draw(all []result, out string) error {
	plots := []plot{
		{file: "sessions.svg", title: "256-byte frames, 500,000 routes, one core", x: "PPPoE sessions", y: "Mpps", line: referenceMpps, lineName: "published reference, 2.0 Mpps per core",
			keep:  func(r result) bool { return r.SizeBytes == usualSize && r.Routes == usualRoutes },
			point: func(r result) (float64, float64) { return float64(r.Sessions), r.Mpps }},
		{file: "routes.svg", title: "256-byte frames, 32,768 sessions, one core", x: "routes", y: "Mpps", line: referenceMpps, lineName: "published reference, 2.0 Mpps per core",
			keep:  func(r result) bool { return r.SizeBytes == usualSize && r.Sessions == usualSessions },
			point: func(r result) (float64, float64) { return float64(r.Routes), r.Mpps }},
		{file: "size.svg", title: "32,768 sessions, 500,000 routes, one core", x: "bytes per frame", y: "Gbit/s on the wire",
			keep:  func(r result) bool { return r.Sessions == usualSessions && r.Routes == usualRoutes },
			point: func(r result) (float64, float64) { return float64(r.SizeBytes), r.GbpsWire }},
	}
	for _, p := range plots {
		for _, scenario := range []string{"upstream", "downstream"} {
			s := series{name: scenario}
			for _, r := range all {
				if r.Scenario == scenario && p.keep(r) {
					x, y := p.point(r)
					s.points = append(s.points, point{x, y})
				}
			}
			slices.SortFunc(s.points, func(a, b point) int { return int(a.x - b.x) })
			p.series = append(p.series, s)
		}
		if err := os.WriteFile(filepath.Join(out, p.file), p.svg(), 0o644); err != nil {
			return fmt.Errorf("write plot: %w", err)
		}
	}
	return nil
}

// referenceMpps is the published figure that the engine is compared with.
const referenceMpps = 2.0
