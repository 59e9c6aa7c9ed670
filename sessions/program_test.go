package sessions

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vbng/aaa"
	"vbng/forwarding/entry"
)

var update = flag.Bool("update", false, "write the golden files")

// TestProgramGolden keeps what the forwarder is told in each stage of a session's life, as text.
func TestProgramGolden(t *testing.T) {
	stages := []struct {
		name   string
		change func(s *Session)
	}{
		{"request admitted", func(s *Session) {}},
		{"LCP up with a small peer", func(s *Session) {
			s.lcpUp, s.localMagic, s.peerMagic, s.peerMRU = true, 0x01020304, 0x05060708, 1400
		}},
		{"granted", func(s *Session) {
			s.grant = &aaa.Grant{}
			s.bindings[slotIPv4] = binding{prefix: single(addr("100.64.0.2")), live: true}
		}},
		{"nothing new", func(s *Session) {}},
		{"LCP down", func(s *Session) { s.lcpUp = false }},
		{"LCP up with other numbers", func(s *Session) { s.lcpUp, s.localMagic, s.peerMRU = true, 0x11111111, 1492 }},
		{"echo without own requests", func(s *Session) { s.profile.echoSeconds = 0 }},
		{"ending", func(s *Session) { s.state = StateEnding }},
	}
	for name, place := range map[string]Place{
		"untagged": {Port: 1},
		"vlan":     {Port: 1, OuterTPID: 0x8100, OuterVLAN: 7},
		"qinq":     {Port: 300, OuterTPID: 0x88a8, OuterVLAN: 4094, InnerVLAN: 1},
	} {
		s := &Session{
			id: 9, client: client{place: place, mac: entry.MAC{2, 1, 2, 3, 4, 5}}, ownMAC: routerMAC, pppoe: 0x1234,
			profile: &profile{mtu: 1492, echoSeconds: 10, echoMisses: 3},
		}
		var text strings.Builder
		known := program{}
		for _, stage := range stages {
			stage.change(s)
			next := compile(s)
			text.WriteString("# " + stage.name + "\n" + subtract(known, next).String())
			known = next
		}
		golden(t, "program-"+name, text.String())
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; -update writes it anew:\n%s", path, got)
	}
}
