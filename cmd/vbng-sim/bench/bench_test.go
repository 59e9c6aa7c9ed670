package bench

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"vbng/forwarding"
)

// smallOptions is a world that is ready in no time.
func smallOptions(upstream bool) options {
	return options{
		upstream: upstream, sizeBytes: 128, sessions: 200, routes: 3000, packets: 20_000, runs: 2, seed: 3, templates: 1 << 13,
		limits: forwarding.Limits{Sessions: 256, Routes: 4096, Routes6: 256, Neighbors: 128, Interfaces: 16, Ports: 8, VRFs: 1, Groups: 8, Buffers: 1024},
	}
}

// TestEngineAgreesWithTheModel lets every packet of a small world through, both ways.
func TestEngineAgreesWithTheModel(t *testing.T) {
	for _, upstream := range []bool{true, false} {
		s, err := prepare(smallOptions(upstream))
		if err != nil {
			t.Fatal(err)
		}
		x, err := s.measure()
		s.local.Close()
		if err != nil {
			t.Fatalf("upstream %v: %v", upstream, err)
		}
		if x.drops != 0 || x.verified < 2*20_000/sampleEvery-2 {
			t.Errorf("upstream %v: %d drops, %d verified", upstream, x.drops, x.verified)
		}
	}
}

// TestWrongPacketsAreNoticed changes what the model expects: a benchmark that cannot fail proves nothing.
func TestWrongPacketsAreNoticed(t *testing.T) {
	for name, spoil := range map[string]func(*templates){
		"port":  func(x *templates) { x.leaves[17]++ },
		"bytes": func(x *templates) { x.samples[1][20] ^= 1 },
	} {
		s, err := prepare(smallOptions(true))
		if err != nil {
			t.Fatal(err)
		}
		spoil(s.traffic.t)
		if _, err := s.measure(); err == nil {
			t.Errorf("%s: the error went unnoticed", name)
		}
		s.local.Close()
	}
}

func TestModelChecksum(t *testing.T) {
	header := []byte{0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0, 0, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8, 0, 0xc7}
	if got := headerChecksum(header); got != 0xb861 {
		t.Errorf("%04x", got)
	}
}

func TestCommandLine(t *testing.T) {
	c, err := parse([]string{"--scenario", "upstream", "--size", "256", "--sessions", "32768", "--routes", "500000", "--json"}, io.Discard)
	if err != nil || !c.json || c.options.runs != 5 || c.options.packets*c.options.runs != 100_000_000 {
		t.Errorf("%+v %v", c, err)
	}
	for _, bad := range [][]string{{"--scenario", "sideways"}, {"--size", "60"}, {"--sessions", "0"}, {"--routes", "0"}, {"extra"}, {"--runs", "0"}} {
		if _, err := parse(bad, io.Discard); err == nil {
			t.Errorf("%v accepted", bad)
		}
	}
}

func TestJSONFields(t *testing.T) {
	encoded, err := json.Marshal(result{})
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(encoded, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"scenario", "size_bytes", "sessions", "routes", "workers", "mpps", "ns_per_packet", "gbps_wire", "allocs_per_packet",
		"drops", "verified", "ratio_to_rxtx", "ratio_to_memory", "ratio_to_reference",
	} {
		if _, ok := fields[name]; !ok {
			t.Errorf("%s is missing", name)
		}
		delete(fields, name)
	}
	if len(fields) != 0 {
		t.Errorf("more fields than promised: %v", fields)
	}
	var out bytes.Buffer
	if err := table(&out, []result{{Scenario: "upstream"}}); err != nil || out.Len() == 0 {
		t.Errorf("table: %v", err)
	}
}
