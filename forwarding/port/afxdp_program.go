package port

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"vbng/forwarding/entry"
)

const (
	xdpPass = 2
	// queueOffset is where struct xdp_md holds rx_queue_index.
	queueOffset = 16
	// programHasFrags is BPF_F_XDP_HAS_FRAGS: the program runs for frames of several fragments as well, which
	// lets it be attached to a device whose MTU exceeds a page.
	programHasFrags = 1 << 5
)

// xdpProgram sends every frame of a device to the socket of its receive queue; without one the kernel's own
// stack gets it. It is detached when the link is closed, also by the end of the process.
type xdpProgram struct {
	sockets *ebpf.Map // by queue
	program *ebpf.Program
	link    link.Link
}

// load makes the map and the program. frags says whether it may see frames of several fragments.
func (p *xdpProgram) load(queues int) (err error) {
	p.sockets, err = ebpf.NewMap(&ebpf.MapSpec{Name: "vbng_sockets", Type: ebpf.XSKMap, KeySize: 4, ValueSize: 4, MaxEntries: uint32(queues)})
	if err != nil {
		return fmt.Errorf("make XDP socket map: %w", err)
	}
	spec := &ebpf.ProgramSpec{
		Name: "vbng_receive", Type: ebpf.XDP, License: "Dual MIT/GPL", Flags: programHasFrags,
		Instructions: asm.Instructions{
			asm.LoadMem(asm.R2, asm.R1, queueOffset, asm.Word),
			asm.LoadMapPtr(asm.R1, p.sockets.FD()),
			asm.Mov.Imm(asm.R3, xdpPass),
			asm.FnRedirectMap.Call(),
			asm.Return(),
		},
	}
	p.program, err = ebpf.NewProgram(spec)
	if errors.Is(err, unix.EINVAL) { // a kernel before 5.18
		spec.Flags = 0
		p.program, err = ebpf.NewProgram(spec)
	}
	if err != nil {
		return fmt.Errorf("load XDP program: %w", err)
	}
	return nil
}

// attach runs the program on a device and returns the mode that the device took.
func (p *xdpProgram) attach(index int, mode entry.XDPMode) (entry.XDPMode, error) {
	try := func(flags link.XDPAttachFlags) (err error) {
		p.link, err = link.AttachXDP(link.XDPOptions{Program: p.program, Interface: index, Flags: flags})
		return err
	}
	var refusal error
	if mode != entry.XDPGeneric {
		if refusal = try(link.XDPDriverMode); refusal == nil {
			return entry.XDPNative, nil
		}
	}
	// A device that is busy has a program of somebody else's, or of a forwarder that is just ending: no
	// reason to take the slower mode for good.
	if mode == entry.XDPNative || errors.Is(refusal, unix.EBUSY) {
		return 0, refusal
	}
	if err := try(link.XDPGenericMode); err != nil {
		return 0, errors.Join(refusal, err)
	}
	return entry.XDPGeneric, nil
}

func (p *xdpProgram) close() {
	if p.link != nil {
		_ = p.link.Close()
	}
	if p.program != nil {
		_ = p.program.Close()
	}
	if p.sockets != nil {
		_ = p.sockets.Close()
	}
	*p = xdpProgram{}
}
