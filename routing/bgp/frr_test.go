//go:build lab

//go:debug multipathtcp=0

package bgp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"vbng/control/clock"
	"vbng/control/config"
	"vbng/control/oper"
	"vbng/control/schema"
	"vbng/forwarding/entry"
	"vbng/routing/policy"
	"vbng/routing/rib"
)

// bgpd is FRR's daemon, the neighbour that we did not write.
const bgpd = "/usr/lib/frr/bgpd"

// insideVariable tells a test process that it runs in the router's namespace, and where its files are.
const insideVariable = "VBNG_BGP_TEST_DIR"

// TestAgainstFRR runs this test's process again in a network namespace of its own, joined by a veth with
// another one in which FRR runs.
func TestAgainstFRR(t *testing.T) {
	if dir := os.Getenv(insideVariable); dir != "" {
		inside(t, dir)
		return
	}
	if os.Getuid() != 0 {
		t.Skip("needs root to make network namespaces")
	}
	for _, tool := range []string{bgpd, "vtysh", "ip"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("needs %s (apt-get install frr iproute2)", tool)
		}
	}
	dir := folderOfFRR(t)
	ours, theirs := fmt.Sprintf("bgp-r-%d", os.Getpid()), fmt.Sprintf("bgp-f-%d", os.Getpid())
	for _, ns := range []string{ours, theirs} {
		if out, err := exec.Command("ip", "netns", "add", ns).CombinedOutput(); err != nil {
			t.Skipf("no network namespace: %v: %s", err, out)
		}
		t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", ns).Run() })
	}
	shell(t, fmt.Sprintf(`ip -n %[1]s link add r0 type veth peer name f0 netns %[2]s
ip -n %[1]s link set lo up; ip -n %[1]s link set r0 up; ip -n %[2]s link set lo up; ip -n %[2]s link set f0 up
ip -n %[1]s addr add 192.0.2.1/24 dev r0; ip -n %[2]s addr add 192.0.2.2/24 dev f0; ip -n %[2]s addr add 192.0.2.3/24 dev f0
ip -n %[1]s addr add 2001:db8::1/64 dev r0 nodad; ip -n %[2]s addr add 2001:db8::2/64 dev f0 nodad`, ours, theirs))
	startFRR(t, dir, theirs)
	child := exec.Command("ip", "netns", "exec", ours, os.Args[0], "-test.run", "^TestAgainstFRR$", "-test.v", "-test.timeout", "240s")
	child.Env = append(os.Environ(), insideVariable+"="+dir)
	out, err := child.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}

// folderOfFRR makes a folder that FRR, which gives up being root, may use.
func folderOfFRR(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "bgp-frr-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	shell(t, "chown frr "+dir)
	return dir
}

func shell(t *testing.T, script string) {
	t.Helper()
	if out, err := exec.Command("sh", "-ec", script).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
}

// startFRR starts bgpd with 1,000 prefixes of each family.
func startFRR(t *testing.T, dir, ns string) {
	t.Helper()
	var c strings.Builder
	c.WriteString(`log stdout
router bgp 65001
 bgp router-id 192.0.2.2
 no bgp ebgp-requires-policy
 no bgp network import-check
 bgp graceful-restart
 timers bgp 3 9
 neighbor 192.0.2.1 remote-as 65000
 neighbor 192.0.2.1 timers connect 1
 neighbor 192.0.2.1 advertisement-interval 0
 neighbor 2001:db8::1 remote-as 65000
 neighbor 2001:db8::1 timers connect 1
 neighbor 2001:db8::1 advertisement-interval 0
 neighbor 2001:db8::1 capability extended-nexthop
 address-family ipv4 unicast
  no neighbor 2001:db8::1 activate
`)
	for i := range 1000 {
		fmt.Fprintf(&c, "  network %v\n", prefix4(i))
	}
	c.WriteString(" exit-address-family\n address-family ipv6 unicast\n  neighbor 2001:db8::1 activate\n")
	for i := range 1000 {
		fmt.Fprintf(&c, "  network %v\n", prefix6(i))
	}
	c.WriteString(" exit-address-family\n")
	file := filepath.Join(dir, "bgpd.conf")
	if err := os.WriteFile(file, []byte(c.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	d := exec.Command("ip", "netns", "exec", ns, bgpd, "-Z", "-n", "-f", file, "-i", filepath.Join(dir, "bgpd.pid"),
		"--vty_socket", dir, "-u", "frr", "-g", "frr", "-P", "0")
	log, err := os.Create(filepath.Join(dir, "bgpd.log"))
	if err != nil {
		t.Fatal(err)
	}
	d.Stdout, d.Stderr = log, log
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = d.Process.Kill()
		_ = d.Wait()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("bgpd: %.4000s", text)
		}
	})
}

func prefix4(i int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i), 0}), 24)
}

func prefix6(i int) netip.Prefix {
	a := [16]byte{0x2a, 0, 0, 1, byte(i >> 8), byte(i)}
	return netip.PrefixFrom(netip.AddrFrom16(a), 48)
}

// fakeRIB remembers what it is told.
type fakeRIB struct {
	mu     sync.Mutex
	paths  map[netip.Prefix]rib.Path
	most   int // the most paths it ever had
	tell   func(rib.Announce)
	routes []rib.Announce
}

func (r *fakeRIB) UpdateBGP(_ entry.VRFID, put []rib.Path, withdrawn []netip.Prefix) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range put {
		r.paths[p.Prefix] = p
	}
	for _, p := range withdrawn {
		delete(r.paths, p)
	}
	r.most = max(r.most, len(r.paths))
}

func (r *fakeRIB) FlushBGP(entry.VRFID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.paths)
}

func (r *fakeRIB) Watch(_ entry.VRFID, tell func(rib.Announce)) func() {
	for _, a := range r.routes {
		tell(a)
	}
	r.tell = tell
	return func() {}
}

func (r *fakeRIB) count(f family) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for p := range r.paths {
		if familyOf(p.Addr()) == f {
			n++
		}
	}
	return n
}

func (r *fakeRIB) get(p netip.Prefix) (rib.Path, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	path, ok := r.paths[p]
	return path, ok
}

type oneVRF struct{}

func (oneVRF) ID(string) entry.VRFID { return 0 }

// world is the router and its neighbour as the steps of the test see them.
type world struct {
	t    *testing.T
	dir  string
	rib  *fakeRIB
	bgp  *BGP
	root *schema.Node
	tree *config.Tree
}

const head = `interface core0
 ip address 192.0.2.1/24
!
ip prefix-list few
 seq 10 permit 10.0.0.0/16 ge 24 le 24
 seq 20 deny 10.0.0.0/8 le 32
!
ip prefix-list pools
 seq 10 permit 100.64.0.0/10 le 32
!
route-map mark
 seq 10 permit
  match ip prefix-list pools
  set community 65000:7
  set metric 42
 !
!
router bgp 65000
 router-id 192.0.2.1
 timers keepalive 3
 timers hold 9
`

const tail = ` redistribute aggregate route-map mark
!
`

func (w *world) configure(body string) {
	w.t.Helper()
	tree, faults := config.Parse(w.root, head+body+tail)
	for _, f := range faults {
		w.t.Fatal(f)
	}
	for _, f := range append(check(tree), w.effects(tree)...) {
		w.t.Fatal(f)
	}
	w.bgp.Apply(w.tree, tree)
	w.tree = tree
}

func (w *world) effects(*config.Tree) []error { return nil }

func (w *world) until(what string, holds func() bool) {
	w.t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if holds() {
			return
		}
	}
	summary, _ := w.bgp.showSummary(w.t.Context(), oper.Call{})
	w.t.Fatalf("not within 30 s: %s\n%+v\n%s", what, summary, w.vtysh("show bgp summary"))
}

func (w *world) vtysh(commands ...string) string {
	args := []string{"--vty_socket", w.dir}
	for _, c := range commands {
		args = append(args, "-c", c)
	}
	out, _ := exec.Command("vtysh", args...).CombinedOutput()
	return string(out)
}

func (w *world) frr(lines ...string) string {
	return w.vtysh(append([]string{"configure terminal", "router bgp 65001"}, lines...)...)
}

func (w *world) established(addr string) bool {
	var answer struct {
		State string `json:"bgpState"`
	}
	all := map[string]json.RawMessage{}
	if json.Unmarshal([]byte(w.vtysh("show bgp neighbors "+addr+" json")), &all) != nil {
		return false
	}
	return json.Unmarshal(all[addr], &answer) == nil && answer.State == "Established"
}

// sessions returns how often FRR's session with us has come up.
func (w *world) sessions() int {
	var answer struct {
		Established int `json:"connectionsEstablished"`
	}
	all := map[string]json.RawMessage{}
	_ = json.Unmarshal([]byte(w.vtysh("show bgp neighbors 192.0.2.1 json")), &all)
	_ = json.Unmarshal(all["192.0.2.1"], &answer)
	return answer.Established
}

const (
	plain4 = " neighbor 192.0.2.2\n  remote-as 65001\n  address-family ipv4 unicast\n   activate\n"
	plain6 = " neighbor 2001:db8::2\n  remote-as 65001\n  address-family ipv6 unicast\n   activate\n  !\n !\n"
	end4   = "  !\n !\n"
)

func inside(t *testing.T, dir string) {
	var text bytes.Buffer
	var mu sync.Mutex
	log := slog.New(slog.NewTextHandler(&lockedWriter{&mu, &text}, &slog.HandlerOptions{Level: slog.LevelInfo}))
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		if t.Failed() {
			t.Logf("log:\n%s", text.String())
		}
	})
	before := runtime.NumGoroutine()
	pool := netip.MustParsePrefix("100.64.0.0/16")
	w := &world{t: t, dir: dir, rib: &fakeRIB{paths: map[netip.Prefix]rib.Path{}, routes: []rib.Announce{
		{Prefix: pool, Source: rib.Aggregate}, {Prefix: netip.MustParsePrefix("192.0.2.0/24"), Source: rib.Connected},
	}}}
	w.bgp = New(Needs{Clock: clock.Real{}, Log: log, Routes: w.rib, VRFs: oneVRF{}, Device: func(entry.VRFID) string { return "" }})
	var err error
	w.root, err = schema.Merge(Schema(), policy.Schema(), []*schema.Node{{
		Name: "interface", Kind: schema.List, Mode: "config-if", Help: "interface",
		Keys:     []*schema.Node{{Name: "name", Kind: schema.Leaf, Help: "name", Type: schema.Name()}},
		Children: []*schema.Node{{Name: "ip address", Kind: schema.Leaf, Help: "address", Type: schema.InterfacePrefix4()}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.run(before, pool)
}

type lockedWriter struct {
	mu *sync.Mutex
	to *bytes.Buffer
}

func (w *lockedWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(b)
}

func (w *world) run(before int, pool netip.Prefix) {
	t := w.t
	w.configure(plain4 + end4 + plain6)
	w.until("1,000 prefixes of each family", func() bool { return w.rib.count(ipv4) == 1000 && w.rib.count(ipv6) == 1000 })
	if p, _ := w.rib.get(prefix4(7)); len(p.NextHops) != 1 || p.NextHops[0] != netip.MustParseAddr("192.0.2.2") || p.Internal {
		t.Errorf("IPv4 path %+v", p)
	}
	if p, _ := w.rib.get(prefix6(7)); len(p.NextHops) != 1 || p.NextHops[0] != netip.MustParseAddr("2001:db8::2") {
		t.Errorf("IPv6 path %+v", p)
	}
	settled := make(chan struct{})
	w.bgp.Settled(func() { close(settled) })
	w.until("settled", func() bool {
		select {
		case <-settled:
			return true
		default:
			return false
		}
	})
	seen := func() string { return w.vtysh("show bgp ipv4 unicast " + pool.String()) }
	w.until("the aggregate at FRR", func() bool { return strings.Contains(seen(), "metric 42") })
	if strings.Contains(seen(), "65000:7") {
		t.Error("communities are sent without send-community")
	}
	if out := w.vtysh("show bgp ipv4 unicast 192.0.2.0/24"); strings.Contains(out, "65000") {
		t.Errorf("the connected prefix is announced: %s", out)
	}
	up := w.sessions()

	// Changes that keep the session: description, filters, timers, limits, networks.
	w.configure(strings.Replace(plain4, "remote-as 65001\n", "remote-as 65001\n  description \"the other side\"\n  send-community\n  timers keepalive 2\n", 1) +
		"   prefix-list in few\n   default-originate\n   maximum-prefix 5000\n" + end4 + plain6 + " network 192.0.2.0/24\n maximum-paths 4\n")
	w.until("256 prefixes behind the list", func() bool { return w.rib.count(ipv4) == 256 })
	w.until("community at FRR", func() bool { return strings.Contains(seen(), "65000:7") })
	w.until("network at FRR", func() bool { return strings.Contains(w.vtysh("show bgp ipv4 unicast 192.0.2.0/24"), "65000") })
	w.until("default route at FRR", func() bool { return strings.Contains(w.vtysh("show bgp ipv4 unicast 0.0.0.0/0"), "192.0.2.1") })
	w.configure(plain4 + "   prefix-list out few\n" + end4 + plain6)
	w.until("1,000 prefixes again", func() bool { return w.rib.count(ipv4) == 1000 })
	w.until("no aggregate behind the list", func() bool { return strings.Contains(seen(), "not in table") })
	w.until("no default route", func() bool { return strings.Contains(w.vtysh("show bgp ipv4 unicast 0.0.0.0/0"), "not in table") })
	if n := w.sessions(); n != up {
		t.Errorf("sessions made anew: %d, then %d", up, n)
	}

	// Withdrawal, one by one and by the loss of the session.
	w.frr("address-family ipv4 unicast", "no network "+prefix4(3).String())
	w.until("one withdrawn", func() bool { _, there := w.rib.get(prefix4(3)); return !there && w.rib.count(ipv4) == 999 })
	w.rib.tell(rib.Announce{Prefix: pool, Source: rib.Aggregate, Withdrawn: true})
	w.configure(plain4 + end4 + plain6)
	w.rib.tell(rib.Announce{Prefix: pool, Source: rib.Aggregate})
	w.until("the aggregate again", func() bool { return strings.Contains(seen(), "metric 42") })
	w.frr("neighbor 192.0.2.1 shutdown")
	w.until("no IPv4 path", func() bool { return w.rib.count(ipv4) == 0 && w.rib.count(ipv6) == 1000 })
	w.frr("no neighbor 192.0.2.1 shutdown")
	w.until("999 again", func() bool { return w.rib.count(ipv4) == 999 })

	w.limits()
	w.md5()
	w.shows()
	w.gone(before)
}

// limits: nothing beyond maximum-prefix reaches the RIB.
func (w *world) limits() {
	w.configure(" neighbor 192.0.2.2\n  remote-as 65001\n  shutdown\n  address-family ipv4 unicast\n   activate\n" + end4 + plain6)
	w.until("shut down", func() bool { return w.rib.count(ipv4) == 0 })
	w.rib.mu.Lock()
	w.rib.most = 0
	w.rib.mu.Unlock()
	w.configure(plain4 + "   maximum-prefix 100\n" + end4 + plain6)
	w.until("limit noticed", func() bool {
		answer, _ := w.bgp.showSummary(w.t.Context(), oper.Call{})
		return strings.Contains(fmt.Sprint(answer), "maximum-prefix")
	})
	if n := w.rib.count(ipv4); n != 0 {
		w.t.Errorf("%d prefixes of a neighbour beyond its limit", n)
	}
	w.rib.mu.Lock()
	if w.rib.most > 1000+100 {
		w.t.Errorf("the RIB has seen %d prefixes", w.rib.most)
	}
	w.rib.mu.Unlock()
	w.configure(plain4 + "   maximum-prefix 2000\n" + end4 + plain6)
	if _, err := w.bgp.clear(w.t.Context(), oper.Call{Args: map[string]string{"neighbor": "192.0.2.2"}}); err != nil {
		w.t.Error(err)
	}
	w.until("back after clear", func() bool { return w.rib.count(ipv4) == 999 })
}

// md5: a session with the same key on both sides, none with another key or none at all.
func (w *world) md5() {
	keyed := strings.Replace(plain4, "remote-as 65001\n", "remote-as 65001\n  password same\n", 1)
	w.frr("neighbor 192.0.2.1 password same")
	w.configure(keyed + end4 + plain6)
	w.until("MD5 session", func() bool { return w.established("192.0.2.1") && w.rib.count(ipv4) == 999 })
	w.frr("neighbor 192.0.2.1 password other")
	w.until("lost with another key", func() bool { return w.rib.count(ipv4) == 0 && !w.established("192.0.2.1") })
	for range 40 { // two seconds, in which both sides try
		time.Sleep(50 * time.Millisecond)
		if w.established("192.0.2.1") {
			w.t.Fatal("a session with two keys")
		}
	}
	w.frr("no neighbor 192.0.2.1 password")
	w.configure(plain4 + end4 + plain6)
	w.until("without keys again", func() bool { return w.established("192.0.2.1") && w.rib.count(ipv4) == 999 })
}

// shows runs every show command.
func (w *world) shows() {
	for words, args := range map[string]map[string]string{
		"show bgp summary":   {"family": "ipv4"},
		"show bgp":           {"prefix": prefix4(9).String()},
		"show bgp neighbors": {"neighbor": "192.0.2.2", "routes": "received-routes"},
		"clear bgp":          {"neighbor": "192.0.2.2", "soft": "true"},
	} {
		for _, c := range w.bgp.Commands() {
			if c.Words != words {
				continue
			}
			answer, err := c.Run(w.t.Context(), oper.Call{Args: args})
			if err != nil {
				w.t.Errorf("%s: %v", words, err)
			}
			w.t.Logf("%s: %.600s", words, fmt.Sprintf("%+v", answer))
		}
	}
	for _, args := range []map[string]string{{}, {"neighbor": "192.0.2.2", "routes": "advertised-routes"}} {
		answer, err := w.bgp.showNeighbors(w.t.Context(), oper.Call{Args: args})
		if err != nil {
			w.t.Error(err)
		}
		w.t.Logf("%.1500s", fmt.Sprintf("%+v", answer))
	}
}

// gone: nothing is left when BGP is taken away.
func (w *world) gone(before int) {
	speakers := w.bgp.all()
	w.bgp.Apply(w.tree, config.New(w.root))
	for _, s := range speakers {
		<-s.ended
	}
	if n := w.rib.count(ipv4) + w.rib.count(ipv6); n != 0 {
		w.t.Errorf("%d paths are left: %v", n, maps.Keys(w.rib.paths))
	}
	w.until("no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
	if out, _ := exec.Command("ss", "-Hltn").CombinedOutput(); strings.Contains(string(out), ":179") {
		w.t.Errorf("a listener is left: %s", out)
	}
	if w.t.Failed() {
		stack := make([]byte, 1<<16)
		w.t.Logf("%s", stack[:runtime.Stack(stack, true)])
	}
}
