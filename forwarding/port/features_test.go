package port

import (
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A device that takes tags of both kinds out of frames is told not to.
func TestTagOffloadsAreSwitchedOff(t *testing.T) {
	if !inOwnNetwork(t) {
		return
	}
	addVeth(t, "left", "right", 1600)
	socket, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(socket)
	d := device{"left", socket}
	offloads, err := d.findFeatures(tagOffloads[:])
	if err != nil {
		t.Fatal(err)
	}
	if before, _, err := d.activeFeatures(); err != nil || before.common(offloads) != offloads {
		t.Skipf("a new veth has not all offloads of tags: %v of %v, %v", before.common(offloads), offloads, err)
	}
	if err := d.noTagOffloads(); err != nil {
		t.Fatal(err)
	}
	if after, _, err := d.activeFeatures(); err != nil || after.common(offloads) != (featureSet{}) {
		t.Errorf("still on: %v, %v", after.common(offloads), err)
	}
	out, err := exec.Command("ethtool", "-k", "left").Output()
	for _, line := range strings.Split(string(out), "\n") {
		if err == nil && strings.Contains(line, "vlan") && strings.Contains(line, ": on") {
			t.Errorf("ethtool says %q", line)
		}
	}
}

// A device without the calls, such as none at all, has no offloads to switch off.
func TestNoFeatures(t *testing.T) {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(socket)
	if err := (device{"nowhere0", socket}).noTagOffloads(); err != nil {
		t.Error(err)
	}
	if found, err := (device{"lo", socket}).findFeatures([]string{"no-such-feature"}); err != nil || found != (featureSet{}) {
		t.Errorf("found %v, %v", found, err)
	}
}
