package entry

// Key identifies an entry among all entries. It is comparable, holds no pointers, and orders nothing.
type Key struct {
	Kind   Kind
	Family uint8 // of Addr: 4, 6 or 0
	Bits   uint8 // prefix length of a route
	ID     uint64
	Addr   [16]byte
}

// KeyOf returns the key of an entry.
func KeyOf(e Entry) Key {
	switch e := e.(type) {
	case Port:
		return Key{Kind: KindPort, ID: uint64(e.ID)}
	case VRF:
		return Key{Kind: KindVRF, ID: uint64(e.ID)}
	case Interface:
		return Key{Kind: KindInterface, ID: uint64(e.ID)}
	case Local:
		k := Key{Kind: KindLocal, ID: uint64(e.Interface)}
		k.Family, k.Addr = flatten(e.Addr)
		return k
	case Neighbor:
		k := Key{Kind: KindNeighbor, ID: uint64(e.Interface)}
		k.Family, k.Addr = flatten(e.Addr)
		return k
	case Session:
		return Key{Kind: KindSession, ID: uint64(e.ID)}
	case Echo:
		return Key{Kind: KindEcho, ID: uint64(e.Session)}
	case Group:
		return Key{Kind: KindGroup, ID: uint64(e.ID)}
	case Route:
		k := Key{Kind: KindRoute, ID: uint64(e.VRF), Bits: uint8(e.Prefix.Bits())}
		k.Family, k.Addr = flatten(e.Prefix.Addr())
		return k
	case Policer:
		return Key{Kind: KindPolicer, ID: uint64(e.Class)}
	case Capture:
		return Key{Kind: KindCapture, ID: uint64(e.ID)}
	}
	return Key{}
}
