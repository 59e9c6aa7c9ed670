package iface

import (
	"errors"
	"fmt"
	"io"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	tcx "github.com/cilium/ebpf/link"
	"github.com/vishvananda/netlink"

	"vbng/forwarding/entry"
)

// The kernel answers some packets without a socket: echo requests, ports that nobody listens on. It looks
// the way back up by addresses alone, which two VRFs may share. So every packet from a TUN gets the mark
// of its VRF, and the answer inherits it (fwmark_reflect). The mark is set by a program at the TUN's
// ingress, which lives as long as control; without it (kernels before 6.6) such answers leave by the
// VRF with the lowest number that has the address.

// markOffset is that of the mark in the kernel's struct __sk_buff (linux/bpf.h).
const markOffset = 8

// nextProgram lets the packet go on its way (TCX_NEXT, linux/bpf.h).
const nextProgram = -1

// mark is a program on a device.
type mark struct {
	io.Closer
	index int // of the device
}

func markOf(id entry.VRFID) uint32 { return uint32(id) + 1 }

// mark puts the program on a TUN, unless it is there.
func (k *Kernel) mark(device netlink.Link, id entry.VRFID) error {
	name, index := device.Attrs().Name, device.Attrs().Index
	if m, ok := k.marks[name]; ok && m.index == index {
		return nil
	} else if ok {
		_ = m.Close() // the device was made anew
	}
	delete(k.marks, name)
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: "vrf_mark", Type: ebpf.SchedCLS, License: "GPL",
		Instructions: asm.Instructions{
			asm.Mov.Imm32(asm.R2, int32(markOf(id))),
			asm.StoreMem(asm.R1, markOffset, asm.R2, asm.Word),
			asm.Mov.Imm32(asm.R0, nextProgram),
			asm.Return(),
		}})
	if err != nil {
		return k.unmarked(name, err)
	}
	defer program.Close()
	attached, err := tcx.AttachTCX(tcx.TCXOptions{Interface: index, Program: program, Attach: ebpf.AttachTCXIngress})
	if err != nil {
		return k.unmarked(name, err)
	}
	k.marks[name] = mark{attached, index}
	return nil
}

// unmarked tells that packets of a TUN cannot be marked; that the kernel is too old for it is no fault.
func (k *Kernel) unmarked(device string, err error) error {
	if errors.Is(err, ebpf.ErrNotSupported) {
		return nil
	}
	return fmt.Errorf("mark packets of %s: %w", device, err)
}
