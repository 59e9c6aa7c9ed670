package port

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"vbng/forwarding/packet"
)

// Offsets in struct tpacket_block_desc and struct tpacket3_hdr (Linux packet_mmap).
const (
	blockStatus = 8
	blockCount  = 12
	blockFirst  = 16

	headerNext     = 0
	headerCaptured = 12
	headerLength   = 16
	headerStatus   = 20
	headerFrame    = 24
	headerTCI      = 32
	headerTPID     = 36
	headerBytes    = 48 // a struct sockaddr_ll follows
	addressType    = headerBytes + 10
)

// packetRing is the kernel's ring of blocks, and where we stand in it.
type packetRing struct {
	memory []byte
	block  int // that is ours, or will be next
	left   int // frames not yet taken from it
	at     int // of the next one, in memory
}

func (r *packetRing) open(socket int) error {
	if err := unix.SetsockoptInt(socket, unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V3); err != nil {
		return err
	}
	request := &unix.TpacketReq3{
		Block_size: ringBlockBytes, Block_nr: ringBlocks,
		Frame_size: ringFrameBytes, Frame_nr: ringBlocks * ringBlockBytes / ringFrameBytes,
		Retire_blk_tov: ringRetireMillis,
	}
	if err := unix.SetsockoptTpacketReq3(socket, unix.SOL_PACKET, unix.PACKET_RX_RING, request); err != nil {
		return err
	}
	memory, err := unix.Mmap(socket, 0, ringBlocks*ringBlockBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	r.memory = memory
	return nil
}

func (r *packetRing) close() {
	if r.memory != nil {
		_ = unix.Munmap(r.memory)
		r.memory = nil
	}
}

func (r *packetRing) status() *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Pointer(&r.memory[r.block*ringBlockBytes+blockStatus]))
}

// next returns the header of the next frame, nil when the kernel has handed over none.
func (r *packetRing) next() []byte {
	for r.left == 0 {
		if r.status().Load()&unix.TP_STATUS_USER == 0 {
			return nil
		}
		start := r.block * ringBlockBytes
		r.left = int(binary.NativeEndian.Uint32(r.memory[start+blockCount:]))
		r.at = start + int(binary.NativeEndian.Uint32(r.memory[start+blockFirst:]))
		if r.left == 0 {
			r.giveBack()
		}
	}
	return r.memory[r.at:]
}

// advance is called when the frame that next returned is done with.
func (r *packetRing) advance() {
	r.at += int(binary.NativeEndian.Uint32(r.memory[r.at+headerNext:]))
	r.left--
	if r.left == 0 {
		r.giveBack()
	}
}

func (r *packetRing) giveBack() {
	r.status().Store(unix.TP_STATUS_KERNEL)
	r.block = (r.block + 1) % ringBlocks
}

// Receive implements Port.
func (p *AFPacket) Receive(pool *packet.Pool, v *packet.Vector) int {
	packets, bytes := 0, 0
	for v.N < packet.VectorSize {
		header := p.receive.next()
		if header == nil {
			break
		}
		if header[addressType] == unix.PACKET_OUTGOING {
			p.receive.advance()
			continue
		}
		if !p.fits(header) {
			p.receive.advance()
			continue
		}
		buffer, length, ok := p.take(pool, header)
		if !ok {
			break // the frame waits in the ring
		}
		p.receive.advance()
		v.Index[v.N], v.Offset[v.N], v.Length[v.N] = buffer, packet.Start(buffer), uint32(length)
		v.N++
		packets, bytes = packets+1, bytes+length
	}
	p.tally.input(packets, bytes)
	return packets
}

// take copies a frame into a buffer, or into a chain of them by way of a scratch that holds it in one piece.
func (p *AFPacket) take(pool *packet.Pool, header []byte) (buffer uint32, length int, ok bool) {
	if binary.NativeEndian.Uint32(header[headerCaptured:])+tagBytes <= packet.MaxFrame {
		if buffer, ok = pool.Take(); !ok {
			return 0, 0, false
		}
		start := packet.Start(buffer)
		return buffer, copyFrame(pool.Arena.Memory[start:start+packet.MaxFrame], header), true
	}
	length = copyFrame(p.long[:], header)
	if buffer, ok = pool.TakeChain(length); ok {
		pool.Arena.Fill(buffer, p.long[:length], nil)
	}
	return buffer, length, ok
}

const tagBytes = 4

// fits tells whether a frame, with the tag that may come back into it, fits a chain; else it is dropped.
func (p *AFPacket) fits(header []byte) bool {
	captured := binary.NativeEndian.Uint32(header[headerCaptured:])
	length := binary.NativeEndian.Uint32(header[headerLength:])
	if captured == length && length >= 14 && length+tagBytes <= packet.MaxChained {
		return true
	}
	p.overlong.Add(1)
	p.tally.inputDrops.Add(1)
	return false
}

// copyFrame copies a frame out of the ring. The kernel has taken its outer tag out, which is put back, and
// may have left its checksum to a device that will never see it.
func copyFrame(to, header []byte) (length int) {
	at := int(binary.NativeEndian.Uint16(header[headerFrame:]))
	frame := header[at : at+int(binary.NativeEndian.Uint32(header[headerCaptured:]))]
	status := binary.NativeEndian.Uint32(header[headerStatus:])
	if status&unix.TP_STATUS_VLAN_VALID == 0 {
		length = copy(to, frame)
	} else {
		tpid := uint16(0x8100)
		if status&unix.TP_STATUS_VLAN_TPID_VALID != 0 {
			tpid = binary.NativeEndian.Uint16(header[headerTPID:])
		}
		copy(to, frame[:12])
		binary.BigEndian.PutUint16(to[12:], tpid)
		binary.BigEndian.PutUint16(to[14:], uint16(binary.NativeEndian.Uint32(header[headerTCI:])))
		length = 16 + copy(to[16:], frame[12:])
	}
	if status&unix.TP_STATUS_CSUMNOTREADY != 0 {
		completeChecksum(to[:length])
	}
	return length
}
