package iface

import (
	"fmt"
	"strings"
	"testing"
)

// TestSameAddressInTwoVRFs: interfaces in VRFs of their own may have the same addresses and neighbours.
func TestSameAddressInTwoVRFs(t *testing.T) {
	b := newBench(t, "vbng0", "vbng1", "core0", "core1")
	b.configure(t, `vrf red
!
interface core0
 ip address 10.0.0.1/24
!
interface core1
 vrf red
 ip address 10.0.0.1/24
!
`)
	b.expect(t, "VRFs", b.forwarder.batches[0], `put port 1 driver tun device vbng0 mtu 1500
put vrf 0 tun 1
put port 2 driver tun device vbng1 mtu 1500
put vrf 1 tun 2
`)
	b.up(3, 3)
	b.up(4, 4)
	b.programmed()
	for _, id := range []uint32{3, 4} {
		b.hears(entryID(id), 1, 7, "10.0.0.7", "10.0.0.1")
	}
	b.expect(t, "a neighbour in each", b.programmed(), `put neighbor 10.0.0.7 interface 3 mac 06:00:00:00:00:07
--
put route 10.0.0.7/32 vrf 0 to neighbor 10.0.0.7 interface 3
--
put neighbor 10.0.0.7 interface 4 mac 06:00:00:00:00:07
--
put route 10.0.0.7/32 vrf 1 to neighbor 10.0.0.7 interface 4
`)
}

// TestMoveToAnotherVRF: an interface leaves its VRF with all it has there, then comes up in the other one.
func TestMoveToAnotherVRF(t *testing.T) {
	b := newBench(t, "", "core0", "loopback0")
	const text = "vrf red\n!\ninterface core0\n%s ip address 10.0.0.1/24\n!\ninterface loopback0\n%[1]s ip address 10.9.0.1/32\n!\n"
	b.configure(t, fmt.Sprintf(text, ""))
	b.up(1, 1)
	b.hears(1, 1, 7, "10.0.0.7", "10.0.0.1")
	b.programmed()
	b.configure(t, fmt.Sprintf(text, " vrf red\n"))
	b.expect(t, "moved", lines(b.forwarder.entriesText()), lines(`interface 1 port 1 vrf 1 mtu 1500 source4 10.0.0.1
local 10.0.0.1 interface 1
port 1 driver af-packet device core0
route 10.0.0.0/24 vrf 1 to connected interface 1
route 10.0.0.1/32 vrf 1 to local
route 10.9.0.1/32 vrf 1 to local
vrf 0
vrf 1`))
	b.programmed()
	b.configure(t, strings.ReplaceAll(fmt.Sprintf(text, ""), "vrf red\n!\n", ""))
	if got := b.forwarder.entriesText(); strings.Contains(got, "vrf 1") {
		t.Errorf("the VRF that is no longer configured is still there:\n%s", got)
	}
	if b.domains[1] != nil {
		t.Error("the VRF is still known")
	}
}
