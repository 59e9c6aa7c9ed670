package dhcp4

import "errors"

// ErrNotBuilt is returned by what is declared only.
var ErrNotBuilt = errors.New("dhcp4: not built")

// Decode reads a client's message, a whole UDP payload.
func Decode(payload []byte) (*Request, error) { return nil, ErrNotBuilt }
