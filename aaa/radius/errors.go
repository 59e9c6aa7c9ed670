package radius

import "errors"

// Errors of an accounting exchange.
var (
	// ErrNoAnswer: every server was tried and none answered; trying again later is worth while.
	ErrNoAnswer = errors.New("no RADIUS server answered")
	// ErrUnsendable: the record does not fit into a RADIUS packet and never will.
	ErrUnsendable = errors.New("not expressible in RADIUS")
)

// Faults of a datagram that was received.
var (
	errMalformed            = errors.New("malformed packet")
	errUnexpectedCode       = errors.New("unexpected packet code")
	errResponse             = errors.New("wrong Response Authenticator")
	errMessageAuthenticator = errors.New("wrong Message-Authenticator")
	errUnsigned             = errors.New("no Message-Authenticator")
)

var errQueueFull = errors.New("too many requests wait for an identifier")
