package main

import (
	"log/slog"
	"math/rand/v2"

	"vbng/aaa/service"
	"vbng/cli/server"
	"vbng/cli/shell"
	"vbng/control/clock"
	"vbng/control/commit"
	"vbng/control/engine"
	"vbng/control/logbook"
	"vbng/control/monitor"
	"vbng/control/netns"
	"vbng/control/oper"
	"vbng/control/store"
	"vbng/control/system"
	"vbng/forwarding/entry"
	"vbng/forwarding/remote"
	"vbng/routing/bgp"
	"vbng/routing/iface"
	"vbng/routing/policy"
	"vbng/routing/probe"
	"vbng/routing/rib"
	"vbng/routing/static"
	"vbng/routing/vrf"
	"vbng/sessions"
)

// firstIndex leaves the low ifIndex numbers to the kernel's habits (lo is 1).
const firstIndex = 10

// settingsBucket keeps what was changed on the host's devices.
const settingsBucket = "kernel-settings"

// dwelling is where the process lives: with the host (nil), or in a namespace of its own, by name.
type dwelling struct {
	host      *netns.Namespace
	namespace string
	waits     bool // for a forwarder that somebody else starts
}

// do runs f in the host's namespace.
func (d dwelling) do(f func() error) error { return netns.Do(d.host, f) }

// router is the control process's object graph.
type router struct {
	log        *slog.Logger
	store      *store.Store
	client     *remote.Client
	vrfs       *vrf.Table
	rib        *rib.RIB
	bgp        *bgp.BGP
	interfaces *iface.Interfaces
	authority  *service.Service
	sessions   *sessions.Manager
	monitor    *monitor.Monitor
	subsystems []commit.Subsystem
	commands   *oper.Registry
	commits    *commit.Manager
	operators  *server.Server
}

// wire builds the whole graph. Nothing runs yet.
//
//	operators -> commits -> system engine vrf interfaces static policy bgp aaa sessions
//	                                             |         |            |
//	                                         +--> rib <+------------+
//	                                                |  |            |
//	                             forwarder client <-+--+------------+
func wire(p paths, home dwelling, seed string, book *logbook.Book) (*router, error) {
	log := book.Logger()
	r := &router{log: log}
	var err error
	if r.store, err = store.Open(p.store(), log); err != nil {
		return nil, err
	}
	indexes, err := r.store.Indexes("interface", firstIndex)
	if err != nil {
		return nil, err
	}
	numbers, err := r.store.Indexes("vrf", vrf.FirstID)
	if err != nil {
		return nil, err
	}
	r.vrfs = vrf.NewTable(numbers)
	time := clock.Real{}

	// The forwarder's client needs its receivers, and they need it: it gets a table that is filled below.
	receivers := map[entry.Class]entry.Receiver{}
	var settings func() engine.Settings
	toForwarder := remote.ClientConfig{Path: p.forwarderSock(), Log: log, Clock: time, Receivers: receivers, Events: r.event}
	if !home.waits {
		toForwarder.Start = func() error { return startForwarder(p, home.host, settings()) }
	}
	r.client = remote.NewClient(toForwarder)

	kernel, err := iface.NewKernel(iface.KernelOptions{Host: home.host, Settings: r.store.Bucket(settingsBucket)})
	if err != nil {
		log.Error("settings that an earlier control changed on ports are lost", "error", err)
	}
	r.rib = rib.New(rib.Options{Clock: time, Programmer: r.client, Log: log, VRFs: r.vrfs,
		InterfaceName: func(id entry.InterfaceID) string { return r.interfaces.InterfaceName(id) }})
	r.interfaces = iface.New(iface.Options{Clock: time, Programmer: r.client, Counters: r.client, Indexes: indexes,
		Routes: r.rib, Host: kernel, Log: log, VRFs: r.vrfs, TUNs: true, Namespace: home.namespace, Memory: r.store.Bucket("neighbors")})
	r.rib.Bind(r.interfaces)
	r.bgp = bgp.New(bgp.Needs{Clock: time, Log: log, Routes: r.rib, VRFs: r.vrfs, Device: vrf.Device})
	filters := policy.New()

	sockets := vrf.NewSockets(r.vrfs, home.host)
	box := system.New(system.Options{Book: book, Dial: dialer(sockets), Version: version(), Clock: time})
	forwarder := engine.New(source{r.client, p.forwarderSock()}, func(s engine.Settings) {
		if err := writeSettings(p.settings(), s); err != nil {
			log.Error("the forwarder's next start will not follow the configuration", "error", err)
		}
	})
	settings = forwarder.Settings
	r.authority = service.New(service.Options{Clock: time, Log: log, Sockets: sockets, Records: r.store.Bucket("accounting")})
	relay := &relaySockets{log: log, listen: sockets.ListenUDP, name: r.vrfs.Name}
	r.sessions, err = sessions.New(sessions.Needs{Clock: time, Boot: clock.Boot(), Log: log, Store: r.store, Programmer: r.client,
		Counters: r.client, Ports: r.interfaces, Authorizer: r.authority, Accountant: r.authority, Routes: r.rib, VRFs: r.vrfs,
		Relay: relay})
	if err != nil {
		return nil, err
	}
	relay.receive = r.sessions.Relayed
	for _, c := range []entry.Class{
		entry.ClassPPPoEDiscovery, entry.ClassPPPControl, entry.ClassPPPoEUnknown,
		entry.ClassDHCPv4, entry.ClassDHCPv6, entry.ClassSubscriberND,
	} {
		receivers[c] = r.sessions
	}
	r.monitor = monitor.New(monitor.Options{Programmer: r.client, Places: r.interfaces, Subscribers: r.sessions, Folder: p.captures(),
		Clock: time, Log: log, FirstID: rand.Uint32()})
	receivers[entry.ClassCapture] = r.monitor
	for _, c := range []entry.Class{entry.ClassARP, entry.ClassND, entry.ClassGlean} {
		receivers[c] = r.interfaces
	}

	r.subsystems = []commit.Subsystem{box, forwarder, vrf.New(r.vrfs), r.interfaces, static.New(r.rib, r.vrfs, indexes), filters, r.bgp, r.authority, r.sessions}
	r.commits, err = commit.New(commit.Options{StateDir: p.state, Seed: seed, Subsystems: r.subsystems, Clock: time, Logger: log})
	if err != nil {
		return nil, err
	}
	r.commands = oper.NewRegistry()
	for _, c := range [][]*oper.Command{
		box.Commands(), forwarder.Commands(), r.interfaces.Commands(), r.rib.Commands(), filters.Commands(), r.bgp.Commands(),
		r.authority.Commands(), r.sessions.Commands(), r.monitor.Commands(), system.NewHost(home.do).Commands(), probe.Commands(probes(time, sockets, r.vrfs)),
	} {
		if err := r.commands.Add(c...); err != nil {
			return nil, err
		}
	}
	r.operators = server.New(p.cliSocket(), shell.Options{Manager: r.commits, Registry: r.commands, Logger: log})
	return r, nil
}

// event hands the forwarder's news to whom they concern.
func (r *router) event(e entry.Event) {
	switch e := e.(type) {
	case entry.PortState:
		r.interfaces.PortState(e)
	case entry.PeerSilent:
		r.sessions.Event(e)
	case entry.ForwarderState:
		r.sessions.Event(e)
		r.monitor.Event(e)
	}
}
