// Command umlexec starts a user-mode-linux kernel on hosts whose CPU has AMX.
//
// The kernel of Debian 12's package saves the guest's floating point state through the ptrace
// register set NT_X86_XSTATE into a buffer that is too small for AMX's 8 KiB of tiles; the host
// then refuses to restore it ("ptrace set fp regs failed, errno = 14") and the guest panics at its
// first process. When that register set is not there at start, the guest kernel falls back to
// the classic x87/SSE one. A seccomp filter, kept over exec, hides it.
//
// usage: umlexec LINUX ARGUMENT...
package main

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	ptraceGetRegset = 0x4204
	ntX86XState     = 0x202
	// Offsets in struct seccomp_data.
	offsetNumber = 0
	offsetArg0   = 16
	offsetArg2   = 32
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: umlexec LINUX ARGUMENT...")
		os.Exit(2)
	}
	runtime.LockOSThread() // the filter is this thread's, and so is the exec
	if err := hideXState(); err != nil {
		fmt.Fprintln(os.Stderr, "umlexec: install filter:", err)
		os.Exit(1)
	}
	err := unix.Exec(os.Args[1], os.Args[1:], os.Environ())
	fmt.Fprintln(os.Stderr, "umlexec: exec:", err)
	os.Exit(1)
}

// hideXState makes ptrace(PTRACE_GETREGSET, ..., NT_X86_XSTATE) fail with EINVAL from now on.
func hideXState() error {
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	unless := func(value uint32, skip uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: value, Jf: skip}
	}
	filter := []unix.SockFilter{
		load(offsetNumber), unless(unix.SYS_PTRACE, 5),
		load(offsetArg0), unless(ptraceGetRegset, 3),
		load(offsetArg2), unless(ntX86XState, 1),
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EINVAL)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
}
