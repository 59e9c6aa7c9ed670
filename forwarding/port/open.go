package port

import (
	"fmt"
	"log/slog"

	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
)

// Opener opens ports that exist outside of the process, and holds what the ports of one forwarder share.
type Opener struct {
	log *slog.Logger
	xdp xdpMemory
}

// NewOpener returns an opener; Use must be called before an AF_XDP port is opened.
func NewOpener(log *slog.Logger) *Opener { return &Opener{log: log} }

// Use makes the arena of the forwarder's buffers known, which AF_XDP ports share with the kernel.
func (o *Opener) Use(a *packet.Arena) { o.xdp.use(a) }

// Open opens a port. Kernel devices may come and go, so they are hot-plugged: a device that is missing is
// no error, but a state. Memory ports have no outside.
func (o *Opener) Open(e entry.Port) (Port, error) {
	switch e.Driver {
	case entry.DriverAFPacket, entry.DriverTUN, entry.DriverTAP, entry.DriverAFXDP:
		return NewHotPlug(e, o.openDevice)
	case entry.DriverPCAP:
		return OpenPCAP(e)
	}
	return nil, fmt.Errorf("open port %d: driver %v cannot be opened here", e.ID, e.Driver)
}

func (o *Opener) openDevice(e entry.Port) (Port, error) {
	switch e.Driver {
	case entry.DriverAFPacket:
		return openedOr(OpenAFPacket(e))
	case entry.DriverAFXDP:
		return openedOr(openAFXDP(e, &o.xdp, o.log))
	}
	return openedOr(OpenTUN(e))
}

// openedOr keeps a nil pointer from becoming an interface that is not nil.
func openedOr[P Port](p P, err error) (Port, error) {
	if err != nil {
		return nil, err
	}
	return p, nil
}
