package rib

import "fmt"

// Source is where a route comes from. Among routes of one prefix and distance the lower source wins.
type Source uint8

// The sources.
const (
	Local      Source = 1 + iota // an address of our own
	Connected                    // the prefix of an interface
	Static                       // the operator's
	Subscriber                   // a session's address or framed route
	Host                         // a resolved neighbour on a connected prefix
	BGP                          // learned by BGP: distance 20 from another AS, 200 from our own
	Aggregate                    // a pool's prefix: what no subscriber uses is dropped here
	numSources
)

// The distances of BGP routes.
const (
	externalBGP = 20
	internalBGP = 200
)

// sources gives each source its letter, name and administrative distance. OSPF (110)
// and IS-IS (115) will stand between.
//
// A host route is learnt from the wire, so it never overrides what the operator (static) or the
// session manager (subscriber) said about the same address. An aggregate yields to every protocol
// that knows the very same prefix, yet is used (255 means "never" by convention): it only has to be
// longer than the default route, which would send unused pool addresses in a loop.
var sources = [numSources]struct {
	code     string
	name     string
	distance uint8
}{
	Local:      {"L", "local", 0},
	Connected:  {"C", "connected", 0},
	Static:     {"S", "static", 1},
	Subscriber: {"U", "subscriber", 2},
	Host:       {"H", "host", 3},
	BGP:        {"B", "bgp", externalBGP},
	Aggregate:  {"A", "aggregate", 254},
}

// String returns the source's name.
func (s Source) String() string {
	if s == 0 || s >= numSources {
		return fmt.Sprintf("source %d?", uint8(s))
	}
	return sources[s].name
}

// Code returns the letter by which show commands mark the source.
func (s Source) Code() string {
	if s == 0 || s >= numSources {
		return "?"
	}
	return sources[s].code
}

// Distance returns the source's administrative distance.
func (s Source) Distance() uint8 {
	if s >= numSources {
		return 255
	}
	return sources[s].distance
}

// sourceNames lists the sources for help and completion.
func sourceNames() []string {
	names := make([]string, 0, numSources-1)
	for s := Local; s < numSources; s++ {
		names = append(names, s.String())
	}
	return names
}
