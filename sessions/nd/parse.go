package nd

import "errors"

// ErrNotBuilt is returned by what is declared only.
var ErrNotBuilt = errors.New("nd: not built")

// Parse reads an IPv6 packet, from the IP header on, and checks what RFC 4861 demands of the message:
// hop limit 255, code 0, checksum, lengths of options, addresses. Bytes behind its length are padding.
func Parse(packet []byte) (Message, error) { return Message{}, ErrNotBuilt }
