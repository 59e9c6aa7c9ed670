// Package sample is a small configuration language for tests of what stands on schemas: it has every
// kind of node and every type, in the shapes that the router uses.
package sample

import "vbng/control/schema"

// Schema returns the root of the sample language, merged from four groups of nodes.
func Schema() (*schema.Node, error) { return schema.Merge(Groups()...) }

// Groups returns the nodes of the sample language as four subsystems would declare them.
func Groups() [][]*schema.Node {
	leaf := func(name, help string, of schema.Type) *schema.Node {
		return &schema.Node{Name: name, Kind: schema.Leaf, Help: help, Type: of}
	}
	key := func(name, help string, of schema.Type) []*schema.Node { return []*schema.Node{leaf(name, help, of)} }
	iface := key("name", "interface name", schema.Name())
	system := []*schema.Node{
		{Name: "hostname", Kind: schema.Leaf, Help: "name of this router", Type: schema.String(63, `[A-Za-z0-9-]+`, "HOSTNAME"), Default: "vbng"},
		{Name: "engine", Kind: schema.Container, Help: "packet engine", Mode: "config-engine", Children: []*schema.Node{
			{Name: "workers", Kind: schema.Leaf, Help: "number of workers", Type: schema.Uint(1, 64, ""), Default: "1", Effect: "after a restart"},
		}},
		{Name: "ip ttl", Kind: schema.Container, Help: "time to live", Children: []*schema.Node{
			leaf("initial", "of own packets", schema.Uint(1, 255, "hops")),
			{Name: "expire silent", Kind: schema.Flag, Help: "send no time exceeded"},
		}},
	}
	routing := []*schema.Node{
		{Name: "interface", Kind: schema.List, Help: "interface", Mode: "config-if", Keys: iface, Children: []*schema.Node{
			leaf("description", "free text", schema.Text()),
			leaf("mac", "own address", schema.MAC()),
			leaf("ip address", "address and prefix length", schema.InterfacePrefix4()),
			{Name: "shutdown", Kind: schema.Flag, Help: "take it down"},
		}},
		{Name: "ip route", Kind: schema.List, Help: "static route",
			Keys: []*schema.Node{leaf("prefix", "destination", schema.Prefix4()), leaf("next-hop", "next hop", schema.Addr4())},
			Children: []*schema.Node{
				leaf("distance", "administrative distance", schema.Uint(1, 255, "")),
				leaf("tag", "tags", schema.Words(schema.Uint(1, 9, ""), 1, 2)),
				{Name: "discard", Kind: schema.Flag, Help: "drop"},
				leaf("name", "free text", schema.Text()),
			}},
	}
	sessions := []*schema.Node{
		{Name: "interface", Kind: schema.List, Help: "interface", Mode: "config-if", Keys: iface, Children: []*schema.Node{
			{Name: "pppoe profile", Kind: schema.Leaf, Help: "profile of PPPoE sessions", Type: schema.Name(), Ref: "pppoe profile"},
			{Name: "vlan", Kind: schema.List, Help: "VLAN", Mode: "config-if-vlan", Keys: key("id", "VLAN identifier", schema.VLAN()), Children: []*schema.Node{
				leaf("description", "free text", schema.Text()),
			}},
		}},
		{Name: "ip pool", Kind: schema.List, Help: "address pool", Mode: "config-pool", Keys: key("name", "pool name", schema.Name()), Children: []*schema.Node{
			{Name: "range", Kind: schema.List, Help: "addresses", Ordered: true,
				Keys: []*schema.Node{leaf("first", "first address", schema.Addr4()), leaf("last", "last address", schema.Addr4())}},
		}},
		{Name: "pppoe profile", Kind: schema.List, Help: "PPPoE profile", Mode: "config-pppoe", Keys: key("name", "profile name", schema.Name()), Children: []*schema.Node{
			leaf("ac-name", "name in PADO", schema.Name()),
			{Name: "authentication", Kind: schema.Leaf, Help: "methods in order", Type: schema.Words(schema.Enum("chap", "pap"), 1, 0), Default: "chap"},
			{Name: "ip unnumbered", Kind: schema.Leaf, Help: "interface whose address is ours", Type: schema.Name(), Ref: "interface"},
			{Name: "ip pool", Kind: schema.Leaf, Help: "pool of addresses", Type: schema.Name(), Ref: "ip pool", Effect: "new sessions only"},
			leaf("dns", "servers told to the peer", schema.Words(schema.Addr4(), 1, 2)),
			{Name: "echo-interval", Kind: schema.Leaf, Help: "LCP echo", Type: schema.Uint(0, 3600, "seconds"), Default: "30"},
			{Name: "echo-misses", Kind: schema.Leaf, Help: "lost echoes", Type: schema.Uint(1, 255, ""), Default: "3"},
		}},
	}
	aaa := []*schema.Node{
		{Name: "aaa", Kind: schema.Container, Help: "authentication and accounting", Mode: "config-aaa", Children: []*schema.Node{
			leaf("authentication", "sources in order", schema.Words(schema.Enum("local", "radius"), 1, 2)),
		}},
		{Name: "user", Kind: schema.List, Help: "local user", Mode: "config-user", Keys: key("name", "user name", schema.String(253, "", "NAME")), Children: []*schema.Node{
			{Name: "password", Kind: schema.Leaf, Help: "password", Type: schema.Secret(), Required: true},
			leaf("ip address", "fixed address", schema.Addr4()),
		}},
		{Name: "radius server", Kind: schema.List, Help: "RADIUS server", Mode: "config-radius", Keys: key("name", "server name", schema.Name()), Children: []*schema.Node{
			leaf("address", "its address", schema.Addr()),
			leaf("secret", "shared secret", schema.Secret()),
		}},
	}
	return [][]*schema.Node{system, routing, sessions, aaa}
}

// Text is a configuration in the sample language.
const Text = `! A small PPPoE access router.
hostname bng1
!
engine
 workers 2
!
interface access0
 description "Subscribers, floor 2"
 pppoe profile residential
!
interface core0
 description Internet
 ip address 198.51.100.1/24
!
interface loopback0
 ip address 100.64.0.1/32
!
ip route 0.0.0.0/0 198.51.100.2
!
ip pool residential
 range 100.64.0.2 100.64.63.254
!
pppoe profile residential
 ac-name bng1
 authentication chap pap
 ip unnumbered loopback0
 ip pool residential
 dns 9.9.9.9 149.112.112.112
 echo-interval 10
!
aaa
 authentication local
!
user alice
 password wonderland
!
`
