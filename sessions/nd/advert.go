package nd

// AppendRouterAdvert appends the IPv6 packet of a to b.
func AppendRouterAdvert(b []byte, a RouterAdvert) []byte { return b }

// AppendNeighborAdvert appends the IPv6 packet of a to b.
func AppendNeighborAdvert(b []byte, a NeighborAdvertisement) []byte { return b }
