package bench

import (
	"encoding/binary"
	"math/rand/v2"

	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
)

const (
	// templateCount is over a million; number n enters at port n / (count / accessPorts).
	templateCount = 1 << 20
	templateBytes = 64
	// sampleEvery is how many packets share one byte-for-byte comparison.
	sampleEvery = 1024

	upstreamHeader   = 14 + 8 + 6 + 2 // Ethernet, two tags, PPPoE, PPP
	downstreamHeader = 14
	// numberOffset is where, behind the IP header's start, a packet carries the number of its template:
	// behind IP 20 and UDP 8.
	numberOffset = 28
	fcsBytes     = 4
	gapBytes     = 20 // preamble and inter-frame gap
)

// template is the first bytes of a frame.
type template [templateBytes]byte

// templates is the traffic of a scenario.
type templates struct {
	perPort     int
	head        []template
	leaves      []uint8 // by which port id
	samples     [][]byte
	inputHeader int // bytes before the IP header
	frameBytes  int // without FCS
	first       int // id of the first input port
}

// newTemplates draws sessions and destinations uniformly. sizeBytes is the length of the frame that the
// engine receives, FCS included.
func newTemplates(w *world, o options, r *rand.Rand) (*templates, error) {
	t := &templates{
		perPort: o.templates / accessPorts, leaves: make([]uint8, o.templates), samples: make([][]byte, o.templates/sampleEvery+1),
		inputHeader: downstreamHeader, frameBytes: o.sizeBytes - fcsBytes, first: firstCore,
	}
	if o.upstream {
		t.inputHeader, t.first = upstreamHeader, firstAccess
	}
	var err error
	if t.head, err = packet.NewSlab[template](o.templates); err != nil {
		return nil, err
	}
	d := drawing{w: w, m: newModel(w), r: r, onPort: sessionsOnPorts(w)}
	draw := d.downstream
	if o.upstream {
		draw = d.upstream
	}
	frame := make([]byte, t.frameBytes)
	for i := range o.templates {
		fillPayload(frame)
		out, port := draw(frame, i/t.perPort, i)
		copy(t.head[i][:], frame)
		t.leaves[i] = uint8(port)
		if i%sampleEvery == 0 {
			t.samples[i/sampleEvery] = out
		}
	}
	return t, nil
}

// drawing draws frames, and has the model say what becomes of them.
type drawing struct {
	w      *world
	m      *model
	r      *rand.Rand
	onPort [accessPorts][]int // sessions
}

func (d *drawing) upstream(frame []byte, port, number int) (out []byte, leaves entry.PortID) {
	from := d.onPort[port][d.r.IntN(len(d.onPort[port]))]
	putUpstream(frame, d.w, from, destination(d.w, d.r), number)
	return d.m.upstream(frame[upstreamHeader:])
}

func (d *drawing) downstream(frame []byte, port, number int) (out []byte, leaves entry.PortID) {
	to := d.r.IntN(len(d.w.sessions))
	putDownstream(frame, d.w.coreMAC[port], destination(d.w, d.r), d.w.sessions[to].address, number)
	return d.m.downstream(frame[downstreamHeader:], to)
}

func sessionsOnPorts(w *world) (on [accessPorts][]int) {
	for i, s := range w.sessions {
		on[s.port] = append(on[s.port], i)
	}
	return on
}

// destination is a random address of a random prefix.
func destination(w *world, r *rand.Rand) uint32 {
	x := w.routes[r.IntN(len(w.routes))]
	return x.address | uint32(uint64(r.Uint32())&(1<<(32-x.length)-1))
}

// fillPayload writes what every buffer holds behind the headers.
func fillPayload(frame []byte) {
	for i := range frame {
		frame[i] = byte(i*7 + i>>8)
	}
}

func putUpstream(frame []byte, w *world, from int, to uint32, number int) {
	s := w.sessions[from]
	copy(frame[0:], w.accessMAC[s.port][:])
	copy(frame[6:], s.mac[:])
	be := binary.BigEndian
	be.PutUint16(frame[12:], tpids[s.port])
	be.PutUint16(frame[14:], s.outer)
	be.PutUint16(frame[16:], 0x8100)
	be.PutUint16(frame[18:], s.inner)
	be.PutUint16(frame[20:], 0x8864)
	be.PutUint16(frame[22:], 0x1100)
	be.PutUint16(frame[24:], s.id)
	be.PutUint16(frame[26:], uint16(len(frame)-28))
	be.PutUint16(frame[28:], 0x0021)
	putIP(frame[upstreamHeader:], s.address, to, number)
}

func putDownstream(frame []byte, mac entry.MAC, from, to uint32, number int) {
	copy(frame[0:], mac[:])
	copy(frame[6:], []byte{2, 0, 0, 0, 0, 1})
	binary.BigEndian.PutUint16(frame[12:], 0x0800)
	putIP(frame[downstreamHeader:], from, to, number)
}

// putIP writes a UDP packet that carries a template's number.
func putIP(ip []byte, from, to uint32, number int) {
	be := binary.BigEndian
	clear(ip[:28])
	ip[0], ip[8], ip[9] = 0x45, 64, 17
	be.PutUint16(ip[2:], uint16(len(ip)))
	be.PutUint16(ip[4:], uint16(number))
	be.PutUint32(ip[12:], from)
	be.PutUint32(ip[16:], to)
	be.PutUint16(ip[10:], headerChecksum(ip[:20]))
	be.PutUint16(ip[20:], uint16(1024+number%60000))
	be.PutUint16(ip[22:], 443)
	be.PutUint16(ip[24:], uint16(len(ip)-20))
	be.PutUint32(ip[numberOffset:], uint32(number))
}
