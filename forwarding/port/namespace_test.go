package port

import (
	"bytes"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
	"vbng/forwarding/wire"
)

const insideNamespace = "VBNG_TEST_INSIDE_NAMESPACE"

// inNamespace runs the calling test once more in a user and network namespace of its own, where it is
// root over no devices but those it makes. Outside it returns false.
func inNamespace(t *testing.T) bool {
	t.Helper()
	if os.Getenv(insideNamespace) != "" {
		return true
	}
	command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	command.Env = append(os.Environ(), insideNamespace+"=1")
	command.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
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

// bench is a port's arena and pool.
type bench struct{ pool *packet.Pool }

func newBench() *bench {
	const buffers = 256
	return &bench{pool: packet.NewPool(packet.NewArena(make([]byte, buffers*packet.Stride), buffers), 0, buffers)}
}

// send transmits frames, at most a vector of them.
func (b *bench) send(t *testing.T, p Port, frames ...[]byte) {
	t.Helper()
	v := &packet.Vector{}
	for _, f := range frames {
		index, ok := b.pool.Take()
		if !ok {
			t.Fatal("no buffer")
		}
		v.Index[v.N], v.Offset[v.N] = index, index*packet.Stride+packet.Headroom
		v.Length[v.N] = uint32(copy(b.pool.Arena.Memory[v.Offset[v.N]:], f))
		v.N++
	}
	p.Transmit(b.pool, v)
}

// receive waits until n frames that keep says yes to have come, for at most two seconds.
func (b *bench) receive(t *testing.T, p Port, n int, keep func([]byte) bool) [][]byte {
	t.Helper()
	var frames [][]byte
	for deadline := time.Now().Add(2 * time.Second); len(frames) < n && time.Now().Before(deadline); {
		v := &packet.Vector{}
		p.Receive(b.pool, v)
		for i := range v.N {
			f := b.pool.Arena.Memory[v.Offset[i]:][:v.Length[i]]
			if keep(f) {
				frames = append(frames, bytes.Clone(f))
			}
			b.pool.Give(v.Index[i])
		}
		if v.N == 0 {
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(p.Descriptor()), Events: unix.POLLIN}}, 20)
		}
	}
	if len(frames) != n {
		t.Fatalf("received %d frames, want %d; counters %+v", len(frames), n, p.Counters())
	}
	return frames
}

// ours tells test frames from what the kernel sends on its own (IPv6 router solicitations and the like).
func ours(f []byte) bool { return bytes.Contains(f, []byte("vbng-test")) }

func addVeth(t *testing.T, name, peer string, mtu int) {
	t.Helper()
	attributes := netlink.NewLinkAttrs()
	attributes.Name, attributes.MTU = name, mtu
	if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: attributes, PeerName: peer, PeerMTU: uint32(mtu)}); err != nil {
		t.Skipf("this kernel makes no veth device: %v", err)
	}
}

func removeDevice(t *testing.T, name string) {
	t.Helper()
	link, err := netlink.LinkByName(name)
	if err == nil {
		err = netlink.LinkDel(link)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func openAFPacket(t *testing.T, e entry.Port) *AFPacket {
	t.Helper()
	e.Driver = entry.DriverAFPacket
	p, err := OpenAFPacket(e)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// ethernet returns a broadcast frame with tags (TPID, VLAN pairs), told apart by ordinal.
func ethernet(ordinal byte, payloadBytes int, tags ...uint16) []byte {
	f := []byte{255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 9}
	for i := 0; i+1 < len(tags); i += 2 {
		f = append(f, byte(tags[i]>>8), byte(tags[i]), byte(tags[i+1]>>8), byte(tags[i+1]))
	}
	f = append(f, 0x88, 0x63, 'v', 'b', 'n', 'g', '-', 't', 'e', 's', 't', ordinal)
	return append(f, make([]byte, payloadBytes)...)
}

func TestAFPacketCarriesTags(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	addVeth(t, "left", "right", 1600)
	left, right := openAFPacket(t, entry.Port{ID: 1, Device: "left"}), openAFPacket(t, entry.Port{ID: 2, Device: "right"})
	b := newBench()
	sent := [][]byte{
		ethernet(0, 60),
		ethernet(1, 60, 0x8100, 100),
		ethernet(2, 60, 0x88a8, 100, 0x8100, 7),
		ethernet(3, 60, 0x9100, 4094, 0x8100, 1),
		ethernet(4, 1500, 0x88a8, 100, 0x8100, 7),
		ethernet(5, 60, 0x8100, 0x6000|5), // priority 3
	}
	b.send(t, left, sent...)
	for i, got := range b.receive(t, right, len(sent), ours) {
		if !bytes.Equal(got, sent[i]) {
			t.Errorf("frame %d:\ngot  %x\nwant %x", i, got, sent[i])
		}
	}
	if s := left.State(); !s.Up || s.MTU != 1600 || s.MAC == (entry.MAC{}) || s.Err != "" {
		t.Errorf("state %+v", s)
	}
	v := &packet.Vector{}
	if left.Receive(b.pool, v); v.N != 0 && ours(b.pool.Arena.Memory[v.Offset[0]:][:v.Length[0]]) {
		t.Error("a port receives what it sent")
	}
	if c := left.Counters(); c.OutputPackets != uint64(len(sent)) || c.OutputDrops != 0 {
		t.Errorf("counters %+v", c)
	}
}

// A worker that is held up for a while finds every frame in the ring, however thinly they come.
func TestAFPacketKeepsFramesOfAStall(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	addVeth(t, "left", "right", 1500)
	left, right := openAFPacket(t, entry.Port{ID: 1, Device: "left"}), openAFPacket(t, entry.Port{ID: 2, Device: "right"})
	b := newBench()
	const ticks, perTick = 60, 20
	for i := range ticks {
		for range perTick {
			b.send(t, left, ethernet(byte(i), 256))
		}
		time.Sleep(5 * time.Millisecond) // the kernel retires a block
	}
	b.receive(t, right, ticks*perTick, ours)
	if c := right.Counters(); c.InputDrops != 0 {
		t.Errorf("counters %+v", c)
	}
}

// A device that was down and is up again wakes its worker for frames only.
func TestAFPacketDeviceDownAndUp(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	addVeth(t, "left", "right", 1500)
	left, right := openAFPacket(t, entry.Port{ID: 1, Device: "left"}), openAFPacket(t, entry.Port{ID: 2, Device: "right"})
	link, err := netlink.LinkByName("right")
	if err == nil {
		err = netlink.LinkSetDown(link)
	}
	if err != nil {
		t.Fatal(err)
	}
	if s := right.State(); s.Up || s.Err != "" {
		t.Errorf("state of a device that is down: %+v", s)
	}
	if err := netlink.LinkSetUp(link); err != nil {
		t.Fatal(err)
	}
	if s := right.State(); !s.Up {
		t.Errorf("state of a device that is up again: %+v", s)
	}
	b := newBench()
	b.send(t, left, ethernet(1, 60)) // the sender's socket may have an error of its own
	b.send(t, left, ethernet(2, 60))
	b.receive(t, right, 1, func(f []byte) bool { return ours(f) && f[23] == 2 })
	poll := []unix.PollFd{{Fd: int32(right.Descriptor()), Events: unix.POLLIN}}
	if _, _ = unix.Poll(poll, 0); poll[0].Revents&unix.POLLERR != 0 {
		t.Error("the descriptor of an idle port polls readable")
	}
}

func TestAFPacketMTU(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	addVeth(t, "left", "right", 1400)
	left, right := openAFPacket(t, entry.Port{ID: 1, Device: "left"}), openAFPacket(t, entry.Port{ID: 2, Device: "right", MTU: 1500})
	if s := right.State(); s.MTU != 1500 {
		t.Errorf("MTU %d: the device was not raised to the port's", s.MTU)
	}
	b := newBench()
	b.send(t, left, ethernet(0, 60), ethernet(1, 1500), ethernet(2, 60)) // the second is too long
	got := b.receive(t, right, 2, ours)
	if !bytes.Equal(got[1], ethernet(2, 60)) {
		t.Errorf("got %x behind the frame that is too long", got[1])
	}
	if c := left.Counters(); c.OutputPackets != 2 || c.OutputDrops != 1 {
		t.Errorf("counters %+v", c)
	}
	for _, d := range left.Drops() {
		if (d.Count != 0) != (d.Reason == "too-long-for-device") {
			t.Errorf("drop %+v", d)
		}
	}
}

// address gives a device an IPv4 address, and a neighbour that need not be asked for its MAC address.
func address(t *testing.T, device, prefix, neighbor string) netlink.Link {
	t.Helper()
	link, err := netlink.LinkByName(device)
	if err != nil {
		t.Fatal(err)
	}
	a, err := netlink.ParseAddr(prefix)
	if err == nil {
		err = netlink.AddrAdd(link, a)
	}
	if err == nil && neighbor != "" {
		err = netlink.NeighAdd(&netlink.Neigh{LinkIndex: link.Attrs().Index, State: netlink.NUD_PERMANENT,
			IP: net.ParseIP(neighbor), HardwareAddr: net.HardwareAddr{2, 0, 0, 0, 0, 1}})
	}
	if err != nil {
		t.Fatal(err)
	}
	return link
}

// The kernel leaves checksums of a veth to a device that does not exist; the port finishes them.
func TestAFPacketCompletesChecksums(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	addVeth(t, "left", "right", 1500)
	left := openAFPacket(t, entry.Port{ID: 1, Device: "left"})
	openAFPacket(t, entry.Port{ID: 2, Device: "right"}) // sets it up
	address(t, "right", "10.9.0.1/24", "10.9.0.2")
	connection, err := net.Dial("udp4", "10.9.0.2:9")
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if _, err := connection.Write([]byte("vbng-test of odd len")); err != nil {
		t.Fatal(err)
	}
	frame := newBench().receive(t, left, 1, ours)[0]
	ip := wire.IPv4(frame[wire.EthernetLength:])
	datagram := wire.UDP(ip.Payload())
	if !ip.Valid() || !ip.ChecksumOK() || datagram.Checksum() == 0 || !datagram.ChecksumOK(ip.Source(), ip.Destination()) {
		t.Errorf("frame leaves with a wrong checksum: %x", frame)
	}
}

func TestTUN(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	if tun, err := os.OpenFile("/dev/net/tun", os.O_RDWR, 0); err != nil {
		t.Skipf("this user may not make TUN devices: %v", err)
	} else {
		tun.Close()
	}
	p, err := OpenTUN(entry.Port{ID: 1, Driver: entry.DriverTUN, Device: "vrf0", MTU: 1400})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if s := p.State(); !s.Up || s.MTU != 1400 {
		t.Errorf("state %+v", s)
	}
	address(t, "vrf0", "10.9.0.1/24", "")
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(10, 9, 0, 1), Port: 4000})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	b, message := newBench(), []byte("vbng-test")
	if _, err := socket.WriteTo(message, &net.UDPAddr{IP: net.IPv4(10, 9, 0, 2), Port: 5000}); err != nil {
		t.Fatal(err)
	}
	ip := wire.IPv4(b.receive(t, p, 1, ours)[0])
	if !ip.Valid() || ip.Destination() != [4]byte{10, 9, 0, 2} || !wire.UDP(ip.Payload()).ChecksumOK(ip.Source(), ip.Destination()) {
		t.Errorf("got %x", []byte(ip))
	}
	answer := make([]byte, wire.IPv4Length+wire.UDPLength+len(message))
	copy(answer[wire.IPv4Length+wire.UDPLength:], message)
	n := wire.PutIPv4(answer, ip.Destination(), ip.Source(), wire.IPProtocolUDP, 64, 1, wire.UDPLength+len(message))
	wire.PutUDP(answer[n:], ip.Destination(), ip.Source(), 5000, 4000, len(message))
	b.send(t, p, answer)
	_ = socket.SetReadDeadline(time.Now().Add(2 * time.Second))
	got := make([]byte, 100)
	if n, err := socket.Read(got); err != nil || !bytes.Equal(got[:n], message) {
		t.Errorf("the kernel received %q (%v)", got[:n], err)
	}
}

func TestTAPNeedsAnAddress(t *testing.T) {
	if _, err := OpenTUN(entry.Port{ID: 1, Driver: entry.DriverTAP, Device: "tap0"}); err == nil {
		t.Error("a TAP without MAC address was opened")
	}
}

// A device that appears later is taken up, and one that vanishes is waited for; a sleeper on the
// descriptor notices.
func TestHotPlugOfADevice(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	p, err := NewOpener(slog.Default()).Open(entry.Port{ID: 1, Driver: entry.DriverAFPacket, Device: "left"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	h, b := p.(*HotPlug), newBench()
	if s := h.State(); s.Up || s.Err == "" {
		t.Errorf("state without device %+v", s)
	}
	b.send(t, h, ethernet(0, 60))
	for range 2 {
		addVeth(t, "left", "right", 1500)
		right := openAFPacket(t, entry.Port{ID: 2, Device: "right"})
		if !h.Watch() || h.State().Err != "" {
			t.Fatalf("state with device %+v", h.State())
		}
		b.send(t, right, ethernet(1, 60))
		b.receive(t, h, 1, ours)
		removeDevice(t, "left")
		if !h.Watch() || h.State().Err == "" {
			t.Fatalf("state after removal %+v", h.State())
		}
		ready, _ := unix.Poll([]unix.PollFd{{Fd: int32(h.Descriptor()), Events: unix.POLLIN}}, 0)
		if ready != 0 {
			t.Error("the descriptor of a port without device polls readable")
		}
	}
	if c := h.Counters(); c.InputPackets < 2 || c.OutputDrops != 1 {
		t.Errorf("counters over two devices %+v", c)
	}
}
