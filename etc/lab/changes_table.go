//go:build lab

package lab

// change is what an operator can do to a running router. undo takes it back; without it the router goes one revision
// back. A change that is alone is not made together with the others.
type change struct {
	what, do, undo string
	alone, lossy   bool
}

// routerChanges concern the router itself, its ports and its routes.
func routerChanges() []change {
	return []change{
		{what: "hostname", do: "hostname other"},
		{what: "logging level", do: "logging level debug"},
		{what: "logging buffered", do: "logging buffered 50"},
		{what: "logging host", do: "logging host 192.0.2.10 vrf management level warning", undo: "no logging host 192.0.2.10"},
		{what: "logging host by TCP", do: "logging host 198.51.100.2 transport tcp port 6514", undo: "no logging host 198.51.100.2"},
		{what: "engine settings", do: "engine\nmode poll\nlimit routes 100000\nlimit sessions 4096\nlimit neighbors 1024\nlimit groups 128\nlimit routes6 4096\nlimit buffers 16384\ncpu 0\n!"},
		{what: "interface description", do: "interface core0\ndescription \"Towards the Internet\"\n!\ninterface access0\ndescription Subscribers\n!"},
		{what: "arp timeout", do: "interface core0\narp timeout 60\n!"},
		{what: "IPv6 address added", do: "interface core0\nipv6 address 2001:db8:fffe::1/64\n!", undo: "interface core0\nno ipv6 address 2001:db8:fffe::1/64\n!"},
		{what: "link-local address", do: "interface core0\nipv6 address fe80::1 link-local\n!"},
		{what: "ipv6 enable", do: "interface spare0\nipv6 enable\n!", undo: "interface spare0\nno ipv6 enable\n!"},
		{what: "secondary address", do: "interface core0\nip address secondary 10.8.0.1/24\n!", undo: "interface core0\nno ip address secondary 10.8.0.1/24\n!"},
		{what: "secondary address on the subscribers' loopback", do: "interface loopback0\nip address secondary 100.64.8.1/32\n!"},
		{what: "primary address of another interface", do: "interface spare0\nip address 10.10.0.1/24\n!"},
		{what: "MTU raised", do: "interface core0\nmtu 1600\n!", undo: "interface core0\nno mtu\n!"},
		{what: "MTU raised, access port", do: "interface access0\nmtu 1590\n!"},
		{what: "TCP MSS", do: "interface core0\nip tcp adjust-mss 1400\n!"},
		{what: "verify source, any", do: "interface spare0\nip verify unicast source reachable-via any\n!"},
		{what: "verify source, rx, on the traffic's port", do: "interface core0\nip verify unicast source reachable-via rx\n!"},
		{what: "static neighbours", do: "interface core0\nip arp 198.51.100.77 mac 02:00:00:00:00:77\nipv6 neighbor 2001:db8:ffff::77 mac 02:00:00:00:00:77\n!",
			undo: "interface core0\nno ip arp 198.51.100.77\nno ipv6 neighbor 2001:db8:ffff::77\n!"},
		{what: "sub-interface on the core", do: "interface core0.300\nencapsulation dot1q 300\nip address 10.30.0.1/24\n!", undo: "no interface core0.300"},
		{what: "sub-interface on the access port", do: "interface access0.300\nencapsulation dot1q 300 second-dot1q 7\nip address 10.31.0.1/24\n!", undo: "no interface access0.300"},
		{what: "loopback", do: "interface loopback9\nip address 10.99.0.1/32\nipv6 address 2001:db8:99::1/128\n!", undo: "no interface loopback9"},
		{what: "port, IPoE on it", do: "interface spare2\nipoe profile home\n!", undo: "no interface spare2"},
		{what: "port, shut down", do: "interface spare0\nshutdown\n!", undo: "interface spare0\nno shutdown\n!"},
		{what: "VRF with an interface", do: "vrf red\ndescription Customers\nip route 10.77.0.0/16 10.32.0.9\n!\ninterface core0.301\nencapsulation dot1q 301\nvrf red\nip address 10.32.0.1/24\n!",
			undo: "no interface core0.301\nno vrf red"},
		{what: "another port's VRF", do: "vrf blue\n!\ninterface spare0\nvrf blue\n!"},
		{what: "another port's driver", do: "interface spare0\ndriver af-xdp\nxdp-mode generic\n!"},
		{what: "another port's device", do: "interface spare0\ndevice spare2\n!"},
		{what: "another port's MAC address", do: "interface spare0\nmac-address 02:00:00:00:99:01\n!"},
		{what: "static route", do: "ip route 10.50.0.0/16 198.51.100.2", undo: "no ip route 10.50.0.0/16 198.51.100.2"},
		{what: "static route, IPv6", do: "ipv6 route 2001:db8:50::/48 " + InternetAddr6, undo: "no ipv6 route 2001:db8:50::/48 " + InternetAddr6},
		{what: "the traffic's route: distance", do: "ip route 203.0.113.0/24 198.51.100.9 distance 20"},
		{what: "the traffic's route: next hop replaced", do: "ip route 203.0.113.0/24 198.51.100.10\nno ip route 203.0.113.0/24 198.51.100.9",
			undo: "ip route 203.0.113.0/24 198.51.100.9\nno ip route 203.0.113.0/24 198.51.100.10", alone: true},
		{what: "the traffic's route: second next hop", do: "ip route 203.0.113.0/24 198.51.100.10", undo: "no ip route 203.0.113.0/24 198.51.100.10"},
		{what: "the traffic's route: dead second next hop", do: "ip route 203.0.113.0/24 10.9.0.66", undo: "no ip route 203.0.113.0/24 10.9.0.66"},
		{what: "the traffic's route, IPv6: second next hop", do: "ipv6 route 2001:db8:f1::/48 2001:db8:ffff::10", undo: "no ipv6 route 2001:db8:f1::/48 2001:db8:ffff::10"},
		{what: "the traffic's route, IPv6: next hop replaced", do: "ipv6 route 2001:db8:f1::/48 2001:db8:ffff::10\nno ipv6 route 2001:db8:f1::/48 2001:db8:ffff::9", alone: true},
		{what: "more special route beside the traffic's", do: "ip route 203.0.113.0/28 198.51.100.10", undo: "no ip route 203.0.113.0/28 198.51.100.10"},
		{what: "blackhole of an unused prefix", do: "ip route 10.66.0.0/16 blackhole\nipv6 route 2001:db8:66::/48 blackhole"},
		{what: "prefix lists", do: "ip prefix-list a\nseq 10 permit 0.0.0.0/0 le 24\n!\nipv6 prefix-list a\nseq 10 permit ::/0 le 48\n!"},
		{what: "route map", do: "ip prefix-list b\nseq 10 permit 10.0.0.0/8\n!\nroute-map out\nseq 10 permit\nmatch ip prefix-list b\nset metric 7\n!\n!"},
		{what: "BGP", do: "router bgp 65000\nrouter-id 198.51.100.1\nneighbor 198.51.100.2\nremote-as 65001\naddress-family ipv4 unicast\nactivate\n!\n!\nredistribute aggregate\nredistribute connected\n!", undo: "no router bgp 65000"},
		{what: "BGP in a VRF", do: "vrf green\n!\nrouter bgp 65000\nrouter-id 198.51.100.1\nvrf green\nneighbor 10.40.0.2\nremote-as 65001\naddress-family ipv4 unicast\nactivate\n!\n!\n!\n!", alone: true},
	}
}

// subscriberChanges concern subscribers: pools, profiles, authorization.
func subscriberChanges() []change {
	return []change{
		{what: "subscriber limit", do: "subscriber limit 1000"},
		{what: "subscriber limit below what is up", do: "subscriber limit 10"},
		{what: "pool: range added", do: "ip pool residential\nrange 100.65.0.1 100.65.0.254\n!", undo: "ip pool residential\nno range 100.65.0.1 100.65.0.254\n!"},
		{what: "pool: range in use removed", do: "ip pool residential\nno range 100.64.0.2 100.64.7.254\nrange 100.66.0.1 100.66.3.254\n!", alone: true},
		{what: "pool: threshold", do: "ip pool residential\nthreshold 1\n!"},
		{what: "pool: new", do: "ip pool other\nrange 100.67.0.1 100.67.0.254\n!", undo: "no ip pool other"},
		{what: "IPv6 pool: prefix added", do: "ipv6 pool pd\nprefix 2001:db8:d000::/40 length 56\n!"},
		{what: "IPv6 pool: prefix in use replaced", do: "ipv6 pool ra\nno prefix 2001:db8:a000::/48\nprefix 2001:db8:a100::/48 length 64\n!", alone: true},
		{what: "IPv6 pool: threshold", do: "ipv6 pool na\nthreshold 50\n!"},
		{what: "IPv6 pool: new", do: "ipv6 pool more\nprefix 2001:db8:e000::/40 length 56\n!", undo: "no ipv6 pool more"},
		{what: "PPPoE profile: names", do: "pppoe profile residential\nac-name other\nservice-name gold\nservice-name silver\n!"},
		{what: "PPPoE profile: authentication", do: "pppoe profile residential\nauthentication pap\n!"},
		{what: "PPPoE profile: MTU and MRU", do: "pppoe profile residential\nmtu 1480\nmru 1480\n!"},
		{what: "PPPoE profile: echo", do: "pppoe profile residential\necho-interval 30\necho-misses 5\n!"},
		{what: "PPPoE profile: PPP timers", do: "pppoe profile residential\nppp timeout 5\nppp max-configure 5\nppp auth-timeout 5\n!"},
		{what: "PPPoE profile: limits below what is up", do: "pppoe profile residential\nsessions per-port limit 5\nsessions per-vlan limit 1\nsessions per-mac limit 2\n!"},
		{what: "PPPoE profile: name servers", do: "pppoe profile residential\ndns 1.1.1.1\nipv6 dns 2001:db8::99\n!"},
		{what: "PPPoE profile: TCP MSS", do: "pppoe profile residential\ntcp mss 1300\n!"},
		{what: "PPPoE profile: another pool", do: "ip pool p2\nrange 100.68.0.1 100.68.0.254\n!\npppoe profile residential\nip pool p2\n!"},
		{what: "PPPoE profile: IPv6 pools removed", do: "pppoe profile residential\nno ipv6 prefix pool\nno ipv6 address pool\nno ipv6 delegated pool\n!"},
		{what: "PPPoE profile: IPv6 timers", do: "pppoe profile residential\nipv6 preferred-lifetime 600\nipv6 valid-lifetime 1200\nipv6 ra interval 60\nipv6 ra lifetime 600\n!"},
		{what: "PPPoE profile: unnumbered to another loopback", do: "interface loopback1\nip address 100.64.100.1/32\n!\npppoe profile residential\nip unnumbered loopback1\n!"},
		{what: "PPPoE profile: AAA group", do: "aaa group locals\nauthentication local\naccounting none\n!\npppoe profile residential\naaa group locals\n!"},
		{what: "PPPoE profile: another for the port", do: "interface access0\npppoe profile gold\n!"},
		{what: "PPPoE profile: new", do: "pppoe profile silver\nip unnumbered loopback0\n!", undo: "no pppoe profile silver"},
		{what: "IPoE profile: user name and password", do: "ipoe profile home\nusername {mac}@{outer-vlan}\npassword other\n!"},
		{what: "IPoE profile: lease, domain", do: "ipoe profile home\nlease-time 600\ndomain example.org\n!"},
		{what: "IPoE profile: MTU, TCP MSS", do: "ipoe profile home\nmtu 1400\ntcp mss 1300\n!"},
		{what: "IPoE profile: limits below what is up", do: "ipoe profile home\nsessions per-port limit 5\nsessions per-vlan limit 1\nsessions per-mac limit 1\n!"},
		{what: "IPoE profile: name servers", do: "ipoe profile home\ndns 1.1.1.1\nipv6 dns 2001:db8::99\n!"},
		{what: "IPoE profile: relay", do: "ipoe profile home\ndhcp relay server 198.51.100.2\ndhcp relay circuit-id {port}\ndhcp relay remote-id {mac}\n!"},
		{what: "IPoE profile: IPv6 pools removed, timers", do: "ipoe profile home\nno ipv6 prefix pool\nno ipv6 address pool\nno ipv6 delegated pool\nipv6 ra interval 60\n!"},
		{what: "IPoE profile: AAA group", do: "aaa group lines\nauthentication radius\nradius server main\n!\nipoe profile home\naaa group lines\n!"},
		{what: "IPoE profile: new", do: "ipoe profile other\nip unnumbered loopback0\n!"},
		{what: "subscriber vlans: new range", do: "interface access0\nsubscriber vlans 400-499.any pppoe residential ipoe home\n!", undo: "interface access0\nno subscriber vlans 400-499.any\n!"},
		{what: "subscriber vlans: range in use, other profile", do: "interface access0\nsubscriber vlans 102-103.any pppoe residential\n!"},
		{what: "subscriber vlans: range in use split", do: "interface access0\nno subscriber vlans 102-103.any\nsubscriber vlans 102.any pppoe gold\nsubscriber vlans 103.1-4094 pppoe gold\n!", alone: true},
		{what: "subscriber vlans: range removed, the port's profile serves on", do: "interface access0\nno subscriber vlans 102-103.any\n!", alone: true},
		{what: "RADIUS: another server", do: "radius server second\naddress 192.0.2.11\nsecret other\nvrf management\n!", undo: "no radius server second"},
		{what: "RADIUS: timers", do: "radius server main\ntimeout 5\nretransmit 1\ndead-time 10\n!"},
		{what: "RADIUS: secret", do: "radius server main\nsecret another\n!"},
		{what: "RADIUS: source address", do: "radius server main\nsource-address 192.0.2.1\n!"},
		{what: "RADIUS: ports, legacy", do: "radius server main\nauth-port 1645\nacct-port 1646\nlegacy\n!"},
		{what: "RADIUS: address and VRF", do: "radius server main\naddress 198.51.100.2\nno vrf\n!"},
		{what: "RADIUS: server in use removed", do: "radius server second\naddress 192.0.2.11\nsecret other\nvrf management\n!\nno radius server main", alone: true},
		{what: "AAA: order of methods", do: "aaa\nauthentication local radius\n!"},
		{what: "AAA: local only", do: "aaa\nauthentication local\n!", alone: true},
		{what: "AAA: interim interval", do: "aaa\ninterim-interval 120\n!"},
		{what: "AAA: accounting off", do: "aaa\nno accounting\n!", alone: true},
		{what: "AAA: accounting-on", do: "aaa\naccounting-on\n!"},
		{what: "AAA: identity", do: "aaa\nnas-identifier other\nnas-ip-address 192.0.2.2\nnas-ipv6-address 2001:db8::1\n!"},
		{what: "AAA: new group", do: "aaa group new\nauthentication radius local\naccounting radius\nradius server main\n!", undo: "no aaa group new"},
		{what: "user: added", do: "user carol\npassword secret\nip address 100.64.7.7\nsession-timeout 3600\n!", undo: "no user carol"},
		{what: "user: password", do: "user spare\npassword changed\n!"},
		{what: "user: removed", do: "no user spare", alone: true},
	}
}

// interruptions open the traffic's own port anew, or move it: packets are lost meanwhile, sessions are not.
func interruptions() []change {
	return []change{
		{what: "the core port's driver", do: "interface core0\ndriver af-xdp\nxdp-mode generic\n!"},
		{what: "the access port's driver", do: "interface access0\ndriver af-xdp\nxdp-mode generic\n!"},
		{what: "the core port's MAC address", do: "interface core0\nmac-address 02:00:00:00:99:02\n!"},
		{what: "the core port shut down", do: "interface core0\nshutdown\n!", undo: "interface core0\nno shutdown\n!"},
		{what: "the core's VRF", do: "vrf other\n!\ninterface core0\nvrf other\n!"},
		{what: "the core's primary address and the subscribers' gateway", do: "interface core0\nip address 198.51.100.7/24\n!\ninterface loopback0\nip address 100.64.0.254/32\n!"},
		{what: "the traffic's route", do: "no ip route 203.0.113.0/24 198.51.100.9"},
	}
}
