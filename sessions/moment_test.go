package sessions

import (
	"testing"
	"time"
)

// Two minutes pass between the save and the restart, and the wall clock is set meanwhile.
func TestWallClockStepsWhileControlIsAway(t *testing.T) {
	up := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	saved := moment{Wall: up.Add(time.Hour), Boot: "b1", Since: 5 * time.Hour}
	for _, tt := range []struct {
		name string
		now  moment
		want time.Duration // of the session
	}{
		{"no step", moment{saved.Wall.Add(2 * time.Minute), "b1", saved.Since + 2*time.Minute}, 62 * time.Minute},
		{"forward", moment{saved.Wall.Add(9 * time.Hour), "b1", saved.Since + 2*time.Minute}, 62 * time.Minute},
		{"backward", moment{saved.Wall.Add(-9 * time.Hour), "b1", saved.Since + 2*time.Minute}, 62 * time.Minute},
		{"another boot", moment{saved.Wall.Add(2 * time.Minute), "b2", time.Minute}, 62 * time.Minute},
		{"uptime unknown", moment{Wall: saved.Wall.Add(2 * time.Minute)}, 62 * time.Minute},
	} {
		r := record{UpAt: up, Until: up.Add(2 * time.Hour), Held: []heldRecord{{Until: up.Add(3 * time.Hour)}}, Saved: saved}
		r.settle(tt.now)
		s := &Session{upAt: r.UpAt}
		if got := s.uptime(tt.now.Wall); got != tt.want {
			t.Errorf("%s: up for %v", tt.name, got)
		}
		if got := r.Until.Sub(tt.now.Wall); got != 2*time.Hour-tt.want {
			t.Errorf("%s: lease for %v", tt.name, got)
		}
		if got := r.Held[0].Until.Sub(tt.now.Wall); got != 3*time.Hour-tt.want {
			t.Errorf("%s: binding for %v", tt.name, got)
		}
	}
}

// A record of a program that stored no moment: the wall clock is believed.
func TestRecordWithoutMoment(t *testing.T) {
	now := moment{Wall: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Boot: "b1", Since: time.Hour}
	r := record{UpAt: now.Wall.Add(-time.Minute)}
	r.settle(now)
	if got := now.Wall.Sub(r.UpAt); got != time.Minute || !r.Until.IsZero() {
		t.Errorf("%v, %v", got, r.Until)
	}
}

// The times of this process keep their monotonic reading, which is what makes durations safe.
func TestAnewIsMonotonic(t *testing.T) {
	now := time.Now()
	was := now.Add(-time.Hour).Round(0) // as from a store: wall clock alone
	if got := anew(was, now); got == got.Round(0) || now.Sub(got) != time.Hour {
		t.Errorf("%v", got)
	}
}
