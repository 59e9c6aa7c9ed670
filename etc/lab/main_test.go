//go:build lab

package lab

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestMain(m *testing.M) {
	sweep()
	os.Exit(m.Run())
}

// sweep removes the namespaces, and the processes in them, of test runs that ended without cleaning up:
// a test binary that runs into its time limit calls no Cleanup.
func sweep() {
	namespaces, _ := filepath.Glob("/run/netns/" + namespacePrefix + "*")
	for _, path := range namespaces {
		ns := filepath.Base(path)
		owner, _, _ := strings.Cut(strings.TrimPrefix(ns, namespacePrefix), "-")
		if _, err := os.Stat("/proc/" + owner); err == nil {
			continue // another run, under way
		}
		pids, _ := exec.Command("ip", "netns", "pids", ns).Output()
		for _, word := range strings.Fields(string(pids)) {
			if pid, err := strconv.Atoi(word); err == nil {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		exec.Command("ip", "netns", "del", ns).Run()
	}
}

// long marks a test that -short leaves out. CI runs without these, to stay within its time: what they test is
// scale, and every kind of change. "make lab" runs them all.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes minutes: left out by -short")
	}
}
