package clock

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Boot returns what tells which run of the machine this is, and how long ago it began, sleep included. No step of
// the wall clock moves that, and another process reads the same: two processes of one boot can tell the time between
// them. An empty identifier means that the kernel does not say.
func Boot() func() (id string, since time.Duration) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		text = nil
	}
	id := strings.TrimSpace(string(text))
	return func() (string, time.Duration) {
		var t unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
			return "", 0
		}
		return id, time.Duration(t.Nano())
	}
}
