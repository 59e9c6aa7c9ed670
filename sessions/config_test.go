package sessions

import (
	"errors"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"testing"

	"vbng/control/config"
	"vbng/sessions/pppoe"
)

// checked parses and checks, and returns the faults as text.
func checked(t *testing.T, text string) string {
	t.Helper()
	m := &Manager{cookieKey: make([]byte, cookieKeyBytes)}
	tree, faults := parseConfig(t, text)
	faults = append(faults, m.Check(nil, tree)...)
	return errors.Join(faults...).Error()
}

func TestConfigFaults(t *testing.T) {
	profile := "interface lo\n ip address 10.0.0.1/32\n!\npppoe profile p\n ip unnumbered lo\n"
	for _, c := range []struct{ name, text, want string }{
		{"last before first", "ip pool a\n range 10.0.0.9 10.0.0.1\n", "line 2: ip pool a / range 10.0.0.9 10.0.0.1: the last address 10.0.0.1 lies before"},
		{"too large", "ip pool a\n range 1.0.0.0 223.0.0.0\n", "at most 16777216 addresses"},
		{"multicast", "ip pool a\n range 224.0.0.1 224.0.0.9\n", "cannot be subscribers'"},
		{"overlap in a pool", "ip pool a\n range 10.0.0.1 10.0.0.9\n range 10.0.0.9 10.0.0.12\n", "line 3: ip pool a / range 10.0.0.9 10.0.0.12: overlaps ip pool a / range 10.0.0.1 10.0.0.9"},
		{"overlap of pools", "ip pool a\n range 10.0.0.1 10.0.0.9\n!\nip pool b\n range 10.0.0.0 10.0.0.1\n", "overlaps ip pool b"},
		{"no such interface", "pppoe profile p\n ip unnumbered nowhere\n", `"nowhere" is not defined`},
		{"interface without address", "interface lo\n!\npppoe profile p\n ip unnumbered lo\n", "line 4: pppoe profile p / ip unnumbered: interface lo has no ip address"},
		{"no unnumbered", "pppoe profile p\n", "ip unnumbered"},
		{"no such pool", profile + " ip pool nowhere\n", `"nowhere" is not defined`},
		{"no such profile", "interface x\n pppoe profile nowhere\n", `"nowhere" is not defined`},
		{"unknown method", profile + " authentication eap\n", "chap, pap"},
		{"method twice", profile + " authentication chap chap\n", "twice"},
		{"large mru", profile + " mru 9000\n", "576 to 8992"},
		{"VLAN ranges overlap", "interface x\n subscriber vlans 100-199.any\n subscriber vlans 150.7\n", "overlaps subscriber vlans"},
		{"no VLAN range", "interface x\n subscriber vlans 200-100\n", "expected untagged"},
		{"template", "ipoe profile q\n username {nobody}\n", "expected one of"},
		{"pieces too long", "ipv6 pool a\n prefix 2001:db8::/64 length 48\n", "ipv6 pool a / prefix 2001:db8::/64"},
		{"IPv6 pools overlap", "ipv6 pool a\n prefix 2001:db8::/32 length 56\n!\nipv6 pool b\n prefix 2001:db8:7::/48 length 64\n", "overlaps ipv6 pool a"},
		{"pool of another kind", "ipv6 pool a\n prefix 2001:db8::/32 length 56\n!\n" + profile + " ipv6 prefix pool a\n", "which do not fit"},
		{"lifetimes", profile + " ipv6 preferred-lifetime 9000\n", "longer than the valid lifetime"},
		{"small mss", profile + " tcp mss 99\n", "expected 0, or 536"},
		{"names too long", profile + many(20), "names are too long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := checked(t, c.text); !strings.Contains(got, c.want) {
				t.Errorf("faults:\n%s\nwant %q", got, c.want)
			}
		})
	}
}

func many(services int) string {
	var text strings.Builder
	for i := range services {
		text.WriteString(" service-name " + strings.Repeat(string(rune('a'+i)), 60) + "\n")
	}
	return text.String()
}

// TestSampleConfigurationIsUnderstood reads our part of the shipped sample.
func TestSampleConfigurationIsUnderstood(t *testing.T) {
	text, err := os.ReadFile("../etc/vbng.conf")
	if err != nil {
		t.Fatal(err)
	}
	tree, faults := parseConfig(t, ours(string(text)))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	s, err := parseSettings(tree, make([]byte, cookieKeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	p := s.ports["access0"].pppoe
	if p == nil || p.local.String() != "100.64.0.1" || p.pools[slotIPv4] != "residential" || p.echoSeconds == 0 || p.perClient != 1 || len(p.link.Auth) != 2 {
		t.Fatalf("profile %+v", p)
	}
	if len(s.pools) != 1 || len(s.own) != 2 {
		t.Fatalf("pools %+v, own %v", s.pools, s.own)
	}
}

// ours returns the blocks of a configuration that this package's schema knows, without what others
// declare in them.
func ours(text string) string {
	var kept []string
	for _, block := range strings.Split(text, "\n!\n") {
		for _, begin := range []string{"hostname", "interface", "ip pool", "pppoe profile"} {
			if strings.HasPrefix(block, begin) {
				kept = append(kept, regexp.MustCompile(`(?m)^ description .*\n`).ReplaceAllString(block, ""))
			}
		}
	}
	return strings.Join(kept, "\n!\n")
}

func TestDefaults(t *testing.T) {
	tree, faults := parseConfig(t, "interface lo\n ip address 10.0.0.1/32\n!\npppoe profile p\n ip unnumbered lo\n")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	s, err := parseSettings(tree, make([]byte, cookieKeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	p := s.profiles["p"]
	if p.link.Name != "vbng" || p.mtu != 1492 || p.link.MRU != 1492 || p.echoSeconds != 30 || p.echoMisses != 3 || s.boxLimit != 65536 {
		t.Fatalf("profile %+v, limit %d", p, s.boxLimit)
	}
}

func TestNilTreeIsEmpty(t *testing.T) {
	w := newWorld(t, "")
	w.m.needs.Log = slog.New(slog.DiscardHandler)
	var none *config.Tree
	if faults := w.m.Check(nil, none); len(faults) > 0 {
		t.Fatal(faults)
	}
	w.m.Apply(nil, none)
	w.drain()
}

// RFC 4638: what is beyond 1492 has to be asked for, and is given as far as the profile goes.
func TestMaxPayload(t *testing.T) {
	tree, faults := parseConfig(t, "interface lo\n ip address 10.0.0.1/32\n!\npppoe profile p\n ip unnumbered lo\n mru 1600\n")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	s, err := parseSettings(tree, make([]byte, cookieKeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	p := s.profiles["p"]
	for agreed, want := range map[uint16]uint16{0: 1492, 1500: 1500, 1600: 1600} {
		if got := p.linkFor(pppoe.Request{MaxPayload: agreed}).MRU; got != want {
			t.Errorf("agreed on %d, MRU %d, want %d", agreed, got, want)
		}
	}
	p.link.MRU = 1400
	if got := p.linkFor(pppoe.Request{}).MRU; got != 1400 {
		t.Errorf("MRU %d", got)
	}
}
