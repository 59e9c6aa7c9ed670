package port

import (
	"fmt"

	"vbng/forwarding/entry"
)

// Open opens a port that exists outside of the process. Kernel devices may come and go, so they are
// hot-plugged: a device that is missing is no error, but a state. Memory ports have no outside.
func Open(e entry.Port) (Port, error) {
	switch e.Driver {
	case entry.DriverAFPacket, entry.DriverTUN, entry.DriverTAP:
		return NewHotPlug(e, openDevice)
	case entry.DriverPCAP:
		return OpenPCAP(e)
	}
	return nil, fmt.Errorf("open port %d: driver %v cannot be opened here", e.ID, e.Driver)
}

func openDevice(e entry.Port) (Port, error) {
	if e.Driver == entry.DriverAFPacket {
		return openedOr(OpenAFPacket(e))
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
