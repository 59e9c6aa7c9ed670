package pool

// Crossing says that the use of a pool has crossed its threshold.
type Crossing struct {
	Pool    string
	Above   bool // reached it; else fallen 5 points below it, or the threshold is gone
	Percent int  // the use now
}

// recoverPoints is how far the use must fall below the threshold before it counts as below: a pool that
// breathes around its threshold warns once.
const recoverPoints = 5

// alarm watches the use of one pool.
type alarm struct {
	percent int // 0: never
	above   bool
}

// look compares the use with the threshold and returns a crossing, if there is one.
func (a *alarm) look(pool string, used, size uint64) (Crossing, bool) {
	percent := percentOf(used, size)
	switch {
	case !a.above && a.percent > 0 && percent >= a.percent:
		a.above = true
	case a.above && (a.percent == 0 || percent < max(a.percent-recoverPoints, 1)):
		a.above = false
	default:
		return Crossing{}, false
	}
	return Crossing{Pool: pool, Above: a.above, Percent: percent}, true
}

// percentOf rounds down; an empty pool is full.
func percentOf(used, size uint64) int {
	switch {
	case size == 0:
		return 100
	case size > 1<<56: // used * 100 must not overflow
		return int(used / (size / 100))
	}
	return int(used * 100 / size)
}
