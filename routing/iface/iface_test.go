package iface

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"vbng/forwarding/entry"
	"vbng/routing/rib"
)

const firstLight = `interface access0
 description Subscribers
 pppoe profile residential
!
interface core0
 ip address 198.51.100.1/24
!
interface loopback0
 ip address 100.64.0.1/32
!
`

func TestFirstLight(t *testing.T) {
	b := newBench(t, "vbng0", "access0", "core0", "loopback0")
	b.configure(t, firstLight)
	b.expect(t, "at start", b.programmed(), `put port 1 driver tun device vbng0 mtu 1500
put vrf 0 tun 1
--
put port 2 driver af-packet device access0 pppoe
--
put port 3 driver af-packet device core0
--
put interface 3 port 3 vrf 0 mtu 1500 source4 198.51.100.1
put local 198.51.100.1 interface 3
--
put route 100.64.0.1/32 vrf 0 to local
`)
	b.up(2, 2)
	b.expect(t, "access port up", b.programmed(), "")
	b.expect(t, "frames", b.sent(), "")
	b.up(3, 3)
	b.expect(t, "core port up", b.programmed(), `put route 198.51.100.0/24 vrf 0 to connected interface 3
put route 198.51.100.1/32 vrf 0 to local
`)
	announcement := "port 3 02:00:00:00:00:03 > ff:ff:ff:ff:ff:ff: 198.51.100.1 asks for 198.51.100.1"
	b.expect(t, "announcement", b.sent(), announcement)
	b.advance(10 * time.Second)
	b.expect(t, "second announcement", b.sent(), announcement)

	if name, mac, up, ok := b.Port(2); name != "access0" || mac != (entry.MAC{2, 0, 0, 0, 0, 2}) || !up || !ok {
		t.Errorf("port 2: %s %v up %v known %v", name, mac, up, ok)
	}
	if _, _, _, ok := b.Port(1); ok {
		t.Error("the TUN is told as a port")
	}
}

// TestMinimalBatches edits the configuration step by step; each step costs what differs.
func TestMinimalBatches(t *testing.T) {
	b := newBench(t, "", "core0", "core0.100", "loopback0")
	port := "interface core0\n"
	for _, step := range []struct{ name, text, want string }{
		{"a port", port, "put vrf 0\n--\nput port 1 driver af-packet device core0\n"},
		{"a description", port + " description Internet\n", ""},
		{"an address", port + " ip address 10.0.0.1/24\n", `put interface 1 port 1 vrf 0 mtu 1500 source4 10.0.0.1
put local 10.0.0.1 interface 1
--
put route 10.0.0.0/24 vrf 0 to connected interface 1
put route 10.0.0.1/32 vrf 0 to local
`},
		{"arp timeout", port + " ip address 10.0.0.1/24\n arp timeout 600\n", ""},
		{"another address of the network", port + " ip address 10.0.0.2/24\n", `put interface 1 port 1 vrf 0 mtu 1500 source4 10.0.0.2
delete local 10.0.0.1 interface 1
put local 10.0.0.2 interface 1
--
delete route 10.0.0.1/32 vrf 0 cover 10.0.0.0/24 to connected interface 1
put route 10.0.0.2/32 vrf 0 to local
`},
		{"a secondary address", port + " ip address 10.0.0.2/24\n ip address secondary 10.1.0.1/31\n", `put local 10.1.0.1 interface 1
--
put route 10.1.0.0/31 vrf 0 to connected interface 1
put route 10.1.0.1/32 vrf 0 to local
`},
		{"an MTU", port + " ip address 10.0.0.2/24\n ip address secondary 10.1.0.1/31\n mtu 1400\n", `put port 1 driver af-packet device core0 mtu 1400
--
put interface 1 port 1 vrf 0 mtu 1400 source4 10.0.0.2
`},
		{"PPPoE", port + " ip address 10.0.0.2/24\n ip address secondary 10.1.0.1/31\n mtu 1400\n pppoe profile p\n", `put port 1 driver af-packet device core0 mtu 1400 pppoe
`},
		{"no addresses", port, `put port 1 driver af-packet device core0
--
delete route 10.0.0.0/24 vrf 0
delete route 10.0.0.2/32 vrf 0
delete route 10.1.0.0/31 vrf 0
delete route 10.1.0.1/32 vrf 0
--
delete local 10.0.0.2 interface 1
delete local 10.1.0.1 interface 1
delete interface 1
`},
		{"a sub-interface", port + "!\ninterface core0.100\n encapsulation dot1q 100\n ip address 10.2.0.1/30\n", `put interface 2 port 1 vlan 0x8100:100 vrf 0 mtu 1500 source4 10.2.0.1
put local 10.2.0.1 interface 2
--
put route 10.2.0.0/30 vrf 0 to connected interface 2
put route 10.2.0.1/32 vrf 0 to local
`},
		{"its second VLAN", port + "!\ninterface core0.100\n encapsulation dot1q 100 second-dot1q 7 outer-tpid 0x88a8\n ip address 10.2.0.1/30\n", `delete route 10.2.0.0/30 vrf 0
delete route 10.2.0.1/32 vrf 0
--
delete local 10.2.0.1 interface 2
delete interface 2
--
put interface 2 port 1 vlan 0x88a8:100.7 vrf 0 mtu 1500 source4 10.2.0.1
put local 10.2.0.1 interface 2
--
put route 10.2.0.0/30 vrf 0 to connected interface 2
put route 10.2.0.1/32 vrf 0 to local
`},
		{"parent shut down", port + " shutdown\n!\ninterface core0.100\n encapsulation dot1q 100 second-dot1q 7 outer-tpid 0x88a8\n ip address 10.2.0.1/30\n", `delete route 10.2.0.0/30 vrf 0
delete route 10.2.0.1/32 vrf 0
--
delete local 10.2.0.1 interface 2
delete interface 2
--
delete port 1
`},
		{"a loopback's network", "interface loopback0\n ip address 100.64.0.1/18\n", `put route 100.64.0.0/18 vrf 0 to drop
put route 100.64.0.1/32 vrf 0 to local
`},
		{"nothing", "", "delete route 100.64.0.0/18 vrf 0\ndelete route 100.64.0.1/32 vrf 0\n"},
	} {
		b.configure(t, step.text)
		if b.ports[1] != nil && !b.ports[1].known {
			b.up(1, 1)
		}
		b.expect(t, step.name, b.programmed(), step.want)
	}
	if len(b.links) != 0 || len(b.ports) != 0 {
		t.Errorf("left: %d links, %d ports", len(b.links), len(b.ports))
	}
}

func TestPortDownAndUp(t *testing.T) {
	b := newBench(t, "", "core0")
	b.configure(t, "interface core0\n ip address 10.0.0.1/24\n")
	b.rib.SetStatic(0, []rib.StaticRoute{{Prefix: prefix("0.0.0.0/0"), Gateway: addr("10.0.0.2")}})
	b.up(1, 1)
	b.hears(1, 2, 9, "10.0.0.2", "10.0.0.1")
	b.programmed()
	b.PortState(entry.PortState{Port: 1, Up: false, MAC: entry.MAC{2, 0, 0, 0, 0, 1}, MTU: 1500})
	b.settle()
	b.expect(t, "port down", b.programmed(), `put neighbor 10.0.0.2 interface 1 unresolved
--
delete route 10.0.0.0/24 vrf 0 cover 0.0.0.0/0 to neighbor 10.0.0.2 interface 1
delete route 10.0.0.1/32 vrf 0 cover 0.0.0.0/0 to neighbor 10.0.0.2 interface 1
delete route 10.0.0.2/32 vrf 0 cover 0.0.0.0/0 to neighbor 10.0.0.2 interface 1
delete route 0.0.0.0/0 vrf 0
--
delete neighbor 10.0.0.2 interface 1
`)
	b.up(1, 1)
	b.expect(t, "port up", b.programmed(), `put route 10.0.0.0/24 vrf 0 to connected interface 1
put route 10.0.0.1/32 vrf 0 to local
--
put neighbor 10.0.0.2 interface 1 unresolved
--
put route 0.0.0.0/0 vrf 0 to neighbor 10.0.0.2 interface 1
`)
	b.configure(t, "")
	if n := len(b.forwarder.entries); n != 1 {
		t.Errorf("%d entries left, want the VRF: %v", n, b.forwarder.entries)
	}
}

// TestPortInUse: sessions stand on the port; it goes when they have gone.
func TestPortInUse(t *testing.T) {
	b := newBench(t, "", "access0")
	b.configure(t, "interface access0\n pppoe profile p\n")
	var batch entry.Batch
	batch.Put(entry.Session{ID: 1, Port: 1})
	b.forwarder.Apply(&batch, func(entry.Result) {})
	b.forwarder.loose = true
	b.programmed()
	b.configure(t, "")
	b.advance(3 * time.Second)
	b.expect(t, "while in use", b.programmed(), "")
	b.configure(t, "interface access0\n pppoe profile p\n")
	b.up(1, 1)
	b.advance(2 * time.Second)
	if got := b.row(b.settings[0]); got.State != "up" || got.Problem != "" {
		t.Errorf("wanted again while in use: state %q, problem %q", got.State, got.Problem)
	}
	b.configure(t, "")
	b.advance(time.Second)
	batch = entry.Batch{}
	batch.Delete(entry.Session{ID: 1})
	b.forwarder.Apply(&batch, func(entry.Result) {})
	b.programmed()
	b.advance(2 * time.Second)
	b.expect(t, "free", b.programmed(), "delete port 1\n")
}

func TestReplacedWhileLeaving(t *testing.T) {
	b := newBench(t, "", "core0")
	b.configure(t, "interface core0\n ip address 10.0.0.1/24\n")
	b.up(1, 1)
	// Two configurations before anything is answered.
	b.Apply(b.config, nil)
	b.Apply(nil, b.config)
	b.settle()
	b.up(1, 1)
	b.programmed()
	for _, want := range []string{"port 1 driver", "interface 1 port 1", "local 10.0.0.1", "route 10.0.0.0/24", "route 10.0.0.1/32"} {
		found := false
		for _, e := range b.forwarder.entries {
			found = found || strings.Contains(fmt.Sprint(e), want)
		}
		if !found {
			t.Errorf("no %s in %v", want, b.forwarder.entries)
		}
	}
}

func TestRefusedPortIsShown(t *testing.T) {
	b := newBench(t, "", "core0")
	b.forwarder.refuse, b.forwarder.loose = "port", true
	b.configure(t, "interface core0\n ip address 10.0.0.1/24\n")
	if got := b.row(b.settings[0]).State; got != "refused: program entry 0: port refused" {
		t.Errorf("state %q", got)
	}
	b.forwarder.refuse, b.forwarder.loose = "", false
	b.configure(t, "interface core0\n device core1\n ip address 10.0.0.1/24\n")
	b.up(1, 1)
	if got := b.row(b.settings[0]).State; got != "up" {
		t.Errorf("state %q", got)
	}
}

func TestHostState(t *testing.T) {
	b := newBench(t, "vbng0", "access0", "core0", "loopback0")
	b.configure(t, firstLight)
	b.up(1, 0)
	b.up(3, 3)
	last := b.kernel.states[len(b.kernel.states)-1]
	b.expect(t, "host", fmt.Sprint(last), "{[{0 vbng0 true 1500 [100.64.0.1 198.51.100.1] 100.64.0.1 invalid IP}] [core0]}")
	n := len(b.kernel.states)
	b.configure(t, strings.Replace(firstLight, "Subscribers", "Customers", 1))
	if len(b.kernel.states) != n {
		t.Error("a description reconfigured the kernel")
	}
	b.up(3, 3)
	if len(b.kernel.states) != n {
		t.Error("a port's unchanged state reconfigured the kernel")
	}
	b.up(1, 0) // a new forwarder has made a new TUN, with nothing on it
	if len(b.kernel.states) != n+1 {
		t.Error("the kernel was not told of its addresses again when the TUN was made anew")
	}
	b.configure(t, strings.Replace(firstLight, "interface core0\n", "interface core0\n shutdown\n", 1))
	last = b.kernel.states[len(b.kernel.states)-1]
	b.expect(t, "host", fmt.Sprint(last), "{[{0 vbng0 true 1500 [100.64.0.1] 100.64.0.1 invalid IP}] []}")
}

func TestCheck(t *testing.T) {
	for _, c := range []struct{ text, fault string }{
		{"interface a\n ip address 10.0.0.0/24\n", "interface a / ip address: 10.0.0.0/24 is the address of the network"},
		{"interface a\n ip address 10.0.0.255/24\n", "is the broadcast address"},
		{"interface a\n ip address 10.0.0.1/31\n", ""},
		{"interface a\n ip address 10.0.0.0/31\n", ""},
		{"interface a\n ip address 10.0.0.7/32\n", ""},
		{"interface a\n ip address 224.0.0.7/32\n", "no unicast"},
		{"interface a\n ip address 127.0.0.7/32\n", "never leaves a host"},
		{"interface a\n ip address 0.0.0.7/32\n", "0.0.0.0/8"},
		{"interface a\n ip address 10.0.0.1/0\n", "covers everything"},
		{"interface a\n ip address 10.0.0.1/24\n!\ninterface b\n ip address 10.0.1.1/16\n", "interface b / ip address: 10.0.1.1/16 overlaps 10.0.0.1/24 of interface a"},
		{"interface a\n ip address 10.0.0.1/24\n ip address secondary 10.0.0.2/24\n", "overlaps"},
		{"interface a\n ip address 10.0.0.1/24\n!\ninterface loopback0\n ip address 10.0.0.9/32\n", ""},
		{"interface a\n ip address 10.0.0.1/24\n!\ninterface loopback0\n ip address 10.0.0.1/32\n", "overlaps"},
		{"interface a.1\n encapsulation dot1q 1\n", "parent interface a is not configured"},
		{"interface loopback0\n!\ninterface loopback0.1\n encapsulation dot1q 1\n", "which has no port"},
		{"interface a\n!\ninterface a.1\n", "needs 'encapsulation dot1q'"},
		{"interface a\n encapsulation dot1q 5\n", "only a sub-interface (a.5) is tagged"},
		{"interface a\n!\ninterface a.1\n encapsulation dot1q 5\n encapsulation dot1q 6\n", "2 encapsulations"},
		{"interface a\n!\ninterface a.1\n encapsulation dot1q 5\n!\ninterface a.2\n encapsulation dot1q 5\n", "interface a.1 has the same VLANs"},
		{"interface a\n!\ninterface a.1\n encapsulation dot1q 5\n!\ninterface a.2\n encapsulation dot1q 5 second-dot1q 6\n", ""},
		{"interface a\n!\ninterface a.1\n encapsulation dot1q 5\n pppoe profile p\n", "subscribers are configured on the parent"},
		{"interface a\n!\ninterface a.1\n encapsulation dot1q 5\n device x\n", "belongs to the parent"},
		{"interface a\n mtu 1400\n!\ninterface a.1\n encapsulation dot1q 5\n mtu 1500\n", "more than the 1400 of its parent"},
		{"interface loopback0\n mtu 1500\n", "a loopback has no port"},
		{"interface a\n device x\n!\ninterface b\n device x\n", "x is the device of interface a already"},
		{"interface a\n mac-address 01:00:5e:00:00:01\n", "group address"},
		{"interface a\n mac-address 00:00:00:00:00:00\n", "nobody's address"},
		{"interface a\n driver tap\n", "tap needs a mac-address"},
		{"interface vbng0\n", "the name is taken"},
		{"interface a\n ip address 10.0.0.1/24\n!\nip route 0.0.0.0/0 10.0.0.1\n", "next hop 10.0.0.1 is our own address on interface a"},
	} {
		b := newBench(t, "vbng0")
		faults := b.Check(nil, b.parse(t, c.text))
		switch {
		case c.fault == "" && len(faults) > 0:
			t.Errorf("%q: refused: %v", c.text, faults)
		case c.fault != "" && (len(faults) != 1 || !strings.Contains(faults[0].Error(), c.fault)):
			t.Errorf("%q: faults %v, want one with %q", c.text, faults, c.fault)
		}
	}
}
