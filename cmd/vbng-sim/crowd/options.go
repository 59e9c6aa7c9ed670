package crowd

import (
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"vbng/cmd/vbng-sim/frame"
	"vbng/cmd/vbng-sim/pppoe"
	"vbng/cmd/vbng-sim/traffic"
)

const maxSubscribers = 1 << 20

// Bounds of --mru, in bytes: of RFC 2516 section 7, and of jumbo frames.
const (
	standardMRU = 1492
	maxMRU      = traffic.MaxBytes - 8
)

// options is what the command line says.
type options struct {
	kind *kind

	access, internet device // internet without name: there is none

	count, first    int
	user, password  string
	method          pppoe.Method
	service         string
	mru             int // bytes; of PPPoE
	vlans           vlanPlan
	macBase         frame.MAC
	echoInterval    time.Duration
	setupsPerSecond float64 // 0: as fast as the window permits
	window          int
	reconnect       bool

	ipv6, assigned, delegated bool // ask for an address by DHCPv6, for a prefix

	noIPv4, broadcast     bool // the rest is of IPoE
	hostname, vendorClass string
	clientID              string
	circuit, remote       string // patterns of option 82

	address, gateway   netip.Addr // invalid: no IPv4 there
	address6, gateway6 netip.Addr
	internetMAC        frame.MAC
	sizes              []int // of IP packets, bytes
	maxLossPercent     float64
	steps              []step

	json, details, quiet bool
}

// userName puts the subscriber's number into the pattern.
func (o *options) userName(i int) string {
	return strings.ReplaceAll(o.user, "%d", strconv.Itoa(o.first+i))
}

// raw is the options that need more than the flag package does.
type raw struct {
	access, internet, auth         string
	svlan, cvlan, tpid             string
	shared                         bool
	macBase, internetMAC           string
	address, gateway, sizes        string
	address6, gateway6             string
	script, hold                   string
	packetsPerSecond, trafficWords string
}

// parseOptions reads the command line; usage goes to errors if it is wrong.
func parseOptions(k *kind, arguments []string, errors io.Writer) (*options, error) {
	o, r := &options{kind: k}, &raw{}
	f := flag.NewFlagSet("vbng-sim "+k.command, flag.ContinueOnError)
	f.SetOutput(errors)
	f.Usage = func() { usage(k, f) }
	o.register(f)
	r.register(f)
	if k == &pppoeKind {
		f.StringVar(&r.auth, "auth", "any", "authentication `METHOD`s that are accepted: pap, chap or any")
	}
	if err := f.Parse(arguments); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("%q is not an option", f.Arg(0))
	}
	for _, read := range []func(*raw) error{
		o.readDevices, o.readSubscribers, o.readFamilies, o.readInternet, o.readTraffic, o.readScript,
	} {
		if err := read(r); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func (o *options) register(f *flag.FlagSet) {
	f.IntVar(&o.count, "count", 1, "number of `SUBSCRIBERS`")
	f.IntVar(&o.first, "first", 1, "`NUMBER` of the first subscriber in names")
	if o.kind == &ipoeKind {
		o.registerIPoE(f)
	} else {
		o.registerPPPoE(f)
	}
	f.BoolVar(&o.ipv6, "ipv6", false, "IPv6 as well: a router advertisement, and an address made from its prefix")
	f.BoolVar(&o.assigned, "ipv6-na", false, "ask for an address by DHCPv6, too; includes --ipv6")
	f.BoolVar(&o.delegated, "ipv6-pd", false, "ask for a prefix by DHCPv6, too; includes --ipv6")
	f.Float64Var(&o.setupsPerSecond, "rate", 0, "begin at most `N` set-ups per second; 0: no such bound")
	f.IntVar(&o.window, "window", 256, "at most `N` set-ups (and hang-ups) unfinished at a time")
	f.BoolVar(&o.reconnect, "reconnect", false, "dial again a second after a session ended")
	f.Float64Var(&o.maxLossPercent, "max-loss", 0, "loss in `PERCENT` per direction that is no fault")
	f.BoolVar(&o.json, "json", false, "write the summary as JSON")
	f.BoolVar(&o.details, "details", false, "with a line (or JSON object) per subscriber")
	f.BoolVar(&o.quiet, "quiet", false, "write no steps and no progress")
}

func (o *options) registerPPPoE(f *flag.FlagSet) {
	f.StringVar(&o.user, "user", "sim%d", "user `NAME`; %d stands for the subscriber's number")
	f.StringVar(&o.password, "password", "sim", "`PASSWORD` of all")
	f.StringVar(&o.service, "service", "", "Service-Name to ask for, a `TEXT`")
	f.IntVar(&o.mru, "mru", standardMRU, "largest PPP packet, `BYTES`; beyond 1492 the router is asked for it (RFC 4638)")
	f.DurationVar(&o.echoInterval, "echo-interval", 0, "send LCP echoes of our own every `DURATION`, end after 3 unanswered")
}

func (r *raw) register(f *flag.FlagSet) {
	f.StringVar(&r.access, "interface", "", "access device, `[NS:]DEV`")
	f.StringVar(&r.internet, "internet", "", "device behind the router, `[NS:]DEV`; without it there is no traffic")
	f.StringVar(&r.address, "internet-address", "", "our `ADDRESS/LENGTH` there; the kernel must not have it too")
	f.StringVar(&r.gateway, "gateway", "", "the router's `ADDRESS` there")
	f.StringVar(&r.internetMAC, "internet-mac", "02:49:00:00:00:01", "our `MAC` address there")
	f.StringVar(&r.address6, "internet-address6", "", "our IPv6 `ADDRESS/LENGTH` there")
	f.StringVar(&r.gateway6, "gateway6", "", "the router's IPv6 `ADDRESS` there")
	f.StringVar(&r.svlan, "svlan", "", "outer VLAN, `FIRST[-LAST]`")
	f.StringVar(&r.cvlan, "cvlan", "", "inner VLAN, `FIRST[-LAST]`")
	f.StringVar(&r.tpid, "outer-tpid", "0x8100", "`TPID` of the outer tag: 0x8100, 0x88a8 or 0x9100")
	f.BoolVar(&r.shared, "vlan-shared", false, "let several subscribers share a VLAN pair")
	f.StringVar(&r.macBase, "mac-base", "02:53:00:00:00:01", "`MAC` address of the first subscriber; the others count on")
	f.StringVar(&r.sizes, "size", "256", "IP packet `BYTES`; several with commas take turns; IPv6 makes it 76 at least")
	f.StringVar(&r.packetsPerSecond, "traffic", "", "`PPS` of the default script")
	f.StringVar(&r.trafficWords, "duration", "10s", "`DURATION` of that traffic")
	f.StringVar(&r.hold, "hold", "", "`DURATION` (or forever) for which the default script keeps the sessions")
	f.StringVar(&r.script, "script", "", "`STEPS` to run instead of the default script")
}

func (o *options) readDevices(r *raw) (err error) {
	if r.access == "" {
		return fmt.Errorf("--interface is missing")
	}
	if o.access, err = parseDevice(r.access); err != nil {
		return fmt.Errorf("--interface: %w", err)
	}
	if r.internet == "" {
		return nil
	}
	if o.internet, err = parseDevice(r.internet); err != nil {
		return fmt.Errorf("--internet: %w", err)
	}
	return nil
}

func (o *options) readSubscribers(r *raw) (err error) {
	if o.count < 1 || o.count > maxSubscribers {
		return fmt.Errorf("--count %d: want 1 to %d", o.count, maxSubscribers)
	}
	if o.window < 1 {
		return fmt.Errorf("--window %d: want at least 1", o.window)
	}
	if o.setupsPerSecond < 0 || o.echoInterval < 0 {
		return fmt.Errorf("--rate and --echo-interval must not be negative")
	}
	const longestField = 255 // PAP counts name and password in one byte
	if len(o.userName(o.count)) > longestField || len(o.password) > longestField {
		return fmt.Errorf("--user and --password: at most %d bytes", longestField)
	}
	if o.kind == &pppoeKind {
		if o.method, err = parseMethod(r.auth); err != nil {
			return err
		}
		if o.mru < 576 || o.mru > maxMRU {
			return fmt.Errorf("--mru %d: want 576 to %d bytes", o.mru, maxMRU)
		}
	} else if err = o.checkIPoE(); err != nil {
		return err
	}
	if o.macBase, err = parseMAC(r.macBase); err != nil {
		return fmt.Errorf("--mac-base: %w", err)
	}
	tpid, err := strconv.ParseUint(r.tpid, 0, 16)
	if err != nil {
		return fmt.Errorf("--outer-tpid %q: %w", r.tpid, err)
	}
	o.vlans, err = newVLANPlan(uint16(tpid), r.svlan, r.cvlan, r.shared, o.count)
	return err
}

func parseMethod(s string) (pppoe.Method, error) {
	switch s {
	case "any":
		return pppoe.MethodAny, nil
	case "pap":
		return pppoe.MethodPAP, nil
	case "chap":
		return pppoe.MethodCHAP, nil
	}
	return 0, fmt.Errorf("--auth %q: want pap, chap or any", s)
}

func parseMAC(s string) (frame.MAC, error) {
	m, err := net.ParseMAC(s)
	if err != nil || len(m) != 6 || m[0]&1 != 0 {
		return frame.MAC{}, fmt.Errorf("%q is not a unicast MAC address", s)
	}
	return frame.MAC(m), nil
}

func (o *options) readInternet(r *raw) (err error) {
	if o.internet.name == "" {
		if r.address+r.gateway+r.address6+r.gateway6 != "" {
			return fmt.Errorf("--internet-address, --gateway and those of IPv6 need --internet")
		}
		return nil
	}
	if o.noIPv4 && r.address == "" && r.gateway == "" {
		// Nothing of IPv4 is wanted there either.
	} else if o.address, o.gateway, err = readSide("", "an IPv4", r.address, r.gateway, netip.Addr.Is4); err != nil {
		return err
	}
	if o.ipv6 || r.address6 != "" || r.gateway6 != "" {
		o.address6, o.gateway6, err = readSide("6", "an IPv6", r.address6, r.gateway6, netip.Addr.Is6)
		if err != nil {
			return err
		}
	}
	if o.internetMAC, err = parseMAC(r.internetMAC); err != nil {
		return fmt.Errorf("--internet-mac: %w", err)
	}
	return nil
}

// readSide reads our address and the router's in one family; suffix is that of the options.
func readSide(suffix, family, ours, theirs string, is func(netip.Addr) bool) (address, gateway netip.Addr, err error) {
	prefix, err := netip.ParsePrefix(ours)
	if err != nil || !is(prefix.Addr()) {
		return address, gateway, fmt.Errorf("--internet-address%s %q: want %s address with prefix length", suffix, ours, family)
	}
	gateway, err = netip.ParseAddr(theirs)
	if err != nil || !is(gateway) || !prefix.Contains(gateway) || gateway == prefix.Addr() {
		return address, gateway, fmt.Errorf("--gateway%s %q: want %s address inside %v other than our own", suffix, theirs, family, prefix.Masked())
	}
	return prefix.Addr(), gateway, nil
}

// readFamilies settles which families the subscribers want.
func (o *options) readFamilies(*raw) error {
	o.ipv6 = o.ipv6 || o.assigned || o.delegated
	if o.noIPv4 && !o.ipv6 {
		return fmt.Errorf("--no-ipv4 needs --ipv6, --ipv6-na or --ipv6-pd")
	}
	return nil
}

func (o *options) readTraffic(r *raw) error {
	for _, word := range strings.Split(r.sizes, ",") {
		size, err := strconv.Atoi(word)
		if err != nil || size < traffic.MinBytes || size > traffic.MaxBytes {
			return fmt.Errorf("--size %q: want %d to %d bytes", word, traffic.MinBytes, traffic.MaxBytes)
		}
		if o.kind == &pppoeKind && size > o.mru {
			return fmt.Errorf("--size %d is more than --mru %d", size, o.mru)
		}
		o.sizes = append(o.sizes, size)
	}
	if !(o.maxLossPercent >= 0 && o.maxLossPercent <= 100) {
		return fmt.Errorf("--max-loss %v: want 0 to 100 percent", o.maxLossPercent)
	}
	return nil
}

// readScript reads the script, or composes the default one from --traffic and --hold.
func (o *options) readScript(r *raw) (err error) {
	script := r.script
	if script == "" {
		script = "up"
		if r.packetsPerSecond != "" {
			script += "; traffic " + r.packetsPerSecond + " " + r.trafficWords
		}
		if r.hold != "" {
			script += "; hold " + r.hold
		}
	} else if r.packetsPerSecond != "" || r.hold != "" {
		return fmt.Errorf("--traffic and --hold belong to the default script, not to --script")
	}
	if o.steps, err = parseScript(script); err != nil {
		return err
	}
	for i := range o.steps {
		if s := &o.steps[i]; s.verb.needsInternet && o.internet.name == "" {
			return fmt.Errorf("step %q needs --internet", s.text)
		}
	}
	return nil
}

// usage writes the help.
func usage(k *kind, f *flag.FlagSet) {
	w := f.Output()
	fmt.Fprintf(w, `Usage: vbng-sim %s --interface [NS:]DEV [OPTIONS]

%s on an access device and, with --internet, a host behind the router with
traffic to and from each of them, and checks every packet. NS is a network namespace: a name that
"ip netns" knows, or a path such as /proc/7/ns/net.

Options:
`, k.command, k.about)
	f.VisitAll(func(o *flag.Flag) {
		value, help := flag.UnquoteUsage(o)
		if o.DefValue != "" && o.DefValue != "0" && o.DefValue != "0s" && o.DefValue != "false" {
			help += " (default " + o.DefValue + ")"
		}
		fmt.Fprintf(w, "  %-36s %s\n", "--"+o.Name+" "+value, help)
	})
	fmt.Fprint(w, "\nSteps of --script, separated by semicolons:\n")
	for i := range verbs {
		fmt.Fprintf(w, "  %-36s %s\n", verbs[i].usage(), verbs[i].help)
	}
	fmt.Fprintf(w, `
Example:
  vbng-sim %s --interface acc:access0 --count 2000 --svlan 100-103 --cvlan 1-500 \
    --internet inet:core0 --internet-address 198.51.100.3/24 --gateway 198.51.100.1 \
    --script "up; traffic 20000 60s; silence 200; expect-ended 200 60s; hold 30s; down" --json

Interrupt ends all sessions in good order. Exit status: 0 all went well, 1 something did not (the
summary names it), 2 wrong usage or no device.
`, k.command)
}
