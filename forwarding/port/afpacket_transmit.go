package port

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"vbng/forwarding/packet"
)

// sendBatch is a vector in the form that sendmmsg takes.
type sendBatch struct {
	headers [packet.VectorSize]messageHeader
	vectors [packet.VectorSize][packet.MaxChain]unix.Iovec
	parts   [packet.MaxChain][]byte // scratch
}

// messageHeader is struct mmsghdr.
type messageHeader struct {
	header unix.Msghdr
	sent   uint32
	_      [4]byte
}

// Transmit implements Port. The kernel copies, so all buffers come back at once.
func (p *AFPacket) Transmit(pool *packet.Pool, v *packet.Vector) {
	for i := range v.N {
		n := pool.Arena.Parts(v.Index[i], v.Offset[i], v.Length[i], &p.send.parts)
		for j, part := range p.send.parts[:n] {
			p.send.vectors[i][j].Base = unsafe.SliceData(part)
			p.send.vectors[i][j].SetLen(len(part))
		}
		p.send.headers[i].header.Iov = &p.send.vectors[i][0]
		p.send.headers[i].header.SetIovlen(n)
	}
	packets, bytes := 0, 0
	for next := 0; next < v.N; {
		sent, errno := p.sendFrom(next, v.N)
		for i := next; i < next+sent; i++ {
			bytes += int(v.Length[i])
		}
		packets += sent
		next += sent
		if next < v.N && errno != 0 {
			next = p.dropFrom(next, v.N, errno)
		}
	}
	p.tally.output(packets, bytes)
	for i := range v.N {
		pool.Give(v.Index[i])
	}
}

// sendFrom sends messages next up to n; errno is why not even the first of them went.
func (p *AFPacket) sendFrom(next, n int) (sent int, errno unix.Errno) {
	r, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, uintptr(p.transmitter),
		uintptr(unsafe.Pointer(&p.send.headers[next])), uintptr(n-next), unix.MSG_DONTWAIT, 0, 0)
	if errno == unix.EINTR {
		return 0, 0
	}
	if errno != 0 {
		return 0, errno
	}
	return int(r), 0
}

// dropFrom gives up the frame that failed, and those behind it where they would fail as well; it
// returns where to go on.
func (p *AFPacket) dropFrom(next, n int, errno unix.Errno) int {
	if errno == unix.EMSGSIZE || errno == unix.EINVAL {
		p.tooLongForDevice.Add(1)
		p.tally.outputDrops.Add(1)
		return next + 1
	}
	p.busy.Add(uint64(n - next))
	p.tally.outputDrops.Add(uint64(n - next))
	return n
}
