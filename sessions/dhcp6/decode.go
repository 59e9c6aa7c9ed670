package dhcp6

import "errors"

// ErrNotBuilt is returned by what is declared only.
var ErrNotBuilt = errors.New("dhcp6: not built")

// Decode reads a client's message, a whole UDP payload, and takes off the envelopes of relay agents. The
// caller sets Unicast and From.
func Decode(payload []byte) (*Request, error) { return nil, ErrNotBuilt }
