package iface

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"vbng/forwarding/wire"
)

const insideNamespace = "VBNG_TEST_INSIDE_NAMESPACE"

// inNamespace runs the calling test once more in a network namespace of its own, where it is root: by a user
// namespace if it has to. Outside it returns false.
func inNamespace(t *testing.T) bool {
	t.Helper()
	if os.Getenv(insideNamespace) != "" {
		return true
	}
	command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	command.Env = append(os.Environ(), insideNamespace+"=1")
	command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Getuid() != 0 {
		command.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
	}
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Start(); err != nil {
		t.Skipf("this kernel gives no user and network namespace: %v", err)
	}
	if err := command.Wait(); err != nil {
		t.Errorf("inside the namespace: %v\n%s", err, output.String())
	} else if bytes.Contains(output.Bytes(), []byte("--- SKIP")) {
		t.Skipf("inside the namespace:\n%s", output.String())
	}
	return false
}

// host is a kernel with a TUN, whose other end we hold, and the port core0, at whose cable we sit.
type host struct {
	t     *testing.T
	tun   int // descriptor
	cable int // packet socket on the other end of core0
	mac   [6]byte
}

func newHost(t *testing.T) *host {
	t.Helper()
	tun, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("no TUN devices for this user: %v", err)
	}
	h := &host{t: t, tun: tun}
	request, err := unix.NewIfreq("vbng0")
	h.must(err)
	request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	h.must(unix.IoctlIfreq(tun, unix.TUNSETIFF, request))
	attributes := netlink.NewLinkAttrs()
	attributes.Name = "core0"
	if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: attributes, PeerName: "cable"}); err != nil {
		t.Skipf("this kernel makes no veth device: %v", err)
	}
	for _, name := range []string{"lo", "core0", "cable"} {
		link, err := netlink.LinkByName(name)
		h.must(err)
		h.must(netlink.LinkSetUp(link))
		switch name {
		case "core0":
			copy(h.mac[:], link.Attrs().HardwareAddr)
		case "cable":
			all := int(binary.BigEndian.Uint16(binary.NativeEndian.AppendUint16(nil, unix.ETH_P_ALL)))
			h.cable, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_NONBLOCK, all)
			h.must(err)
			h.must(unix.Bind(h.cable, &unix.SockaddrLinklayer{Protocol: uint16(all), Ifindex: link.Attrs().Index}))
		}
	}
	return h
}

func (h *host) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// arrives waits for something on a descriptor that match says yes to.
func (h *host) arrives(descriptor int, wait time.Duration, match func([]byte) bool) bool {
	b := make([]byte, 2048)
	for deadline := time.Now().Add(wait); time.Now().Before(deadline); {
		n, err := unix.Read(descriptor, b)
		if err != nil {
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(descriptor), Events: unix.POLLIN}}, 10)
			continue
		}
		if match(b[:n]) {
			return true
		}
	}
	return false
}

// echo returns an echo request to one of our addresses.
func echo(to string, sequence uint16) []byte {
	b := make([]byte, wire.IPv4Length+wire.ICMPLength+8)
	wire.PutICMPEcho(b[wire.IPv4Length:], wire.ICMPEchoRequest, 1, sequence, 8)
	wire.PutIPv4(b, [4]byte{203, 0, 113, 9}, netip.MustParseAddr(to).As4(), wire.IPProtocolICMP, 64, 0, wire.ICMPLength+8)
	return b
}

func echoReply(from string, sequence uint16) func([]byte) bool {
	return func(b []byte) bool {
		p := wire.IPv4(b)
		return p.Valid() && p.Source() == netip.MustParseAddr(from).As4() && p.Protocol() == wire.IPProtocolICMP &&
			wire.ICMP(p.Payload()).Type() == wire.ICMPEchoReply && wire.ICMP(p.Payload()).Sequence() == sequence
	}
}

// frame sends a frame to core0's MAC address over its cable.
func (h *host) frame(etherType uint16, payload []byte) {
	b := make([]byte, wire.EthernetLength)
	wire.PutEthernet(b, h.mac, [6]byte{6, 0, 0, 0, 0, 1}, etherType)
	_, err := unix.Write(h.cable, append(b, payload...))
	h.must(err)
}

func (h *host) arpAnswered(wait time.Duration) bool {
	a := make([]byte, wire.ARPLength)
	wire.PutARP(a, wire.ARPRequest, [6]byte{6, 0, 0, 0, 0, 1}, [4]byte{198, 51, 100, 9}, [6]byte{}, [4]byte{198, 51, 100, 1})
	h.frame(wire.TypeARP, a)
	return h.arrives(h.cable, wait, func(b []byte) bool {
		e := wire.Ethernet(b)
		return e.Valid() && e.Type() == wire.TypeARP && wire.ARP(e.Payload()).Operation() == wire.ARPReply
	})
}

// ours lists the rules of our tables and of the local one.
func (h *host) ours() string {
	rules, err := netlink.RuleList(netlink.FAMILY_V4)
	h.must(err)
	var keys []string
	for _, r := range rules {
		if ourTable(r.Table) || r.Table == unix.RT_TABLE_LOCAL {
			keys = append(keys, ruleKey(&r))
		}
	}
	return strings.Join(keys, ", ")
}

const (
	bareRule   = "priority 0 table 255"
	boundRules = "priority 1000 iif vbng0 table 10000, priority 1000 oif vbng0 table 10000, priority 2000 table 255"
)

func TestKernel(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	h := newHost(t)
	kept := memory{}
	k, err := NewKernel(KernelOptions{Settings: kept})
	h.must(err)
	leftover := netlink.NewRule()
	leftover.Table, leftover.Priority, leftover.Src = hostTable+7, fromPriority, single(addr("192.0.2.77"))
	h.must(netlink.RuleAdd(leftover))

	// Without quiet the kernel would speak beside us: this shows that the test can see it.
	vrf := HostVRF{TUN: "vbng0", Open: true, MTU: 1400, Addresses: []netip.Addr{addr("100.64.0.1"), addr("198.51.100.1"), addr("2001:db8::1")},
		Source4: addr("100.64.0.1"), Source6: addr("2001:db8::1")}
	state := HostState{VRFs: []HostVRF{vrf}}
	h.must(k.Configure(state))
	reversePath := k.file("ipv4/conf/%s/rp_filter", "core0")
	before, err := os.ReadFile(reversePath)
	h.must(err)
	h.must(os.WriteFile(reversePath, []byte("0"), 0))
	if !h.arpAnswered(2 * time.Second) {
		t.Error("the kernel does not answer ARP even when it may: the test sees nothing")
	}
	h.must(os.WriteFile(reversePath, before, 0))

	state.Quiet = []string{"core0"}
	for range 2 { // idempotent
		h.must(k.Configure(state))
	}
	if got, want := h.ours(), boundRules+", priority 10000 from 100.64.0.1/32 table 10000, priority 10000 from 198.51.100.1/32 table 10000"; !sameWords(got, want) {
		t.Errorf("rules %s, want %s", got, want)
	}
	if h.arpAnswered(300 * time.Millisecond) {
		t.Error("the kernel answers ARP on our port")
	}
	h.frame(wire.TypeIPv4, echo("198.51.100.1", 1))
	for n, a := range []string{"198.51.100.1", "100.64.0.1"} {
		_, err := unix.Write(h.tun, echo(a, uint16(10+n)))
		h.must(err)
		reply := func(b []byte) bool {
			if echoReply("198.51.100.1", 1)(b) {
				t.Error("the kernel took a packet from our port")
			}
			return echoReply(a, uint16(10+n))(b)
		}
		if !h.arrives(h.tun, 2*time.Second, reply) {
			t.Errorf("no echo reply from %s through the TUN", a)
		}
	}

	state.VRFs[0].Addresses = vrf.Addresses[:1]
	state.VRFs[0].Source6 = netip.Addr{}
	h.must(k.Configure(state))
	if got, want := h.ours(), boundRules+", priority 10000 from 100.64.0.1/32 table 10000"; !sameWords(got, want) {
		t.Errorf("rules %s, want %s", got, want)
	}
	// The next control, which did not see what this one changed, gives it back.
	k, err = NewKernel(KernelOptions{Settings: kept})
	h.must(err)
	h.must(k.Clear())
	if got := h.ours(); got != bareRule {
		t.Errorf("rules left: %s", got)
	}
	link, err := netlink.LinkByName("vbng0")
	h.must(err)
	if left, err := netlink.AddrList(link, netlink.FAMILY_ALL); err != nil || len(left) > 0 {
		t.Errorf("addresses left: %v, error %v", left, err)
	}
	if after, err := os.ReadFile(reversePath); err != nil || !bytes.Equal(before, after) {
		t.Errorf("rp_filter of the port is %q, was %q", after, before)
	}
	if len(kept) > 0 {
		t.Errorf("settings still remembered: %v", kept)
	}
}

// sameWords compares lists whose order the kernel chooses.
func sameWords(a, b string) bool {
	x, y := strings.Split(a, ", "), strings.Split(b, ", ")
	for _, w := range x {
		if !strings.Contains(b, w) {
			return false
		}
	}
	return len(x) == len(y)
}

// memory is a Memory that forgets nothing.
type memory map[string]string

func (m memory) Put(key, value []byte) { m[string(key)] = string(value) }
func (m memory) Delete(key []byte)     { delete(m, string(key)) }
func (m memory) ForEach(f func(key, value []byte) error) error {
	for key, value := range m {
		if err := f([]byte(key), []byte(value)); err != nil {
			return err
		}
	}
	return nil
}
