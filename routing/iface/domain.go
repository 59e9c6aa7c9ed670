package iface

import (
	"maps"
	"slices"

	"vbng/control/config"
	"vbng/forwarding/entry"
	"vbng/routing/vrf"
)

// domain is a VRF as far as the forwarder and the kernel know it: its table there, and its TUN.
type domain struct {
	id      entry.VRFID
	tun     entry.Port // zero ID: none
	wanted  bool
	leaving bool // its deletion is on the way
	told    bool // that it is still in use
}

// declare programs the VRFs of a configuration that are new. It does so in Apply and not in the loop:
// other subsystems, which are applied later, may at once say routes of those VRFs.
func (i *Interfaces) declare(t *config.Tree) {
	names := []string{""}
	for _, e := range t.List("vrf") {
		names = append(names, e.Text("name"))
	}
	m := declared{}
	before := i.declared
	i.declared = map[entry.VRFID]bool{}
	var b entry.Batch
	for _, name := range names {
		d := domain{id: i.options.VRFs.ID(name), wanted: true}
		if i.options.TUNs {
			device := vrf.Device(d.id)
			d.tun = entry.Port{ID: entry.PortID(i.options.Indexes.Index(device)), Driver: entry.DriverTUN, Device: device,
				Namespace: i.options.Namespace, MTU: defaultMTU}
		}
		m.domains = append(m.domains, d)
		i.declared[d.id] = true
		if !before[d.id] {
			d.put(&b)
		}
	}
	i.loop.Post(m) // first: the state of a TUN may come at once
	i.program(&b, func(string) {})
}

func (d *domain) put(b *entry.Batch) {
	if d.tun.ID != 0 {
		b.Put(d.tun)
	}
	b.Put(entry.VRF{ID: d.id, TUN: d.tun.ID})
}

// declared tells the loop of the VRFs of a new configuration.
type declared struct{ domains []domain }

func (m declared) handle(i *Interfaces) {
	for _, d := range i.domains {
		d.wanted = false
	}
	for _, d := range m.domains {
		if known := i.domains[d.id]; known != nil {
			known.wanted, known.told = true, false
			continue
		}
		i.addDomain(&d)
	}
}

func (i *Interfaces) addDomain(d *domain) {
	i.domains[d.id] = d
	if d.tun.ID != 0 {
		i.ports[d.tun.ID] = &port{id: d.tun.ID, name: d.tun.Device, internal: true, vrf: d.id, want: &d.tun, programmed: d.tun}
	}
}

// removeDomains takes the VRFs away that are not wanted and in which no interface of ours is left. Routes
// and sessions of others may stand in them as well: the forwarder refuses as long as they do.
func (i *Interfaces) removeDomains() {
	for _, id := range slices.Sorted(maps.Keys(i.domains)) {
		d := i.domains[id]
		if d.wanted || d.leaving || i.inhabited(id) {
			continue
		}
		d.leaving = true
		var b entry.Batch
		b.Delete(entry.VRF{ID: id})
		if d.tun.ID != 0 {
			b.Delete(entry.Port{ID: d.tun.ID})
		}
		i.options.Programmer.Apply(&b, func(res entry.Result) { i.loop.Post(domainGone{d, res.Err}) })
	}
}

func (i *Interfaces) inhabited(id entry.VRFID) bool {
	for _, l := range i.links {
		if l.vrf == id && (!l.idle() || l.programmed.ID != 0) {
			return true
		}
	}
	return false
}

// domainGone answers a VRF's deletion.
type domainGone struct {
	domain *domain
	err    error
}

func (m domainGone) handle(i *Interfaces) {
	d := m.domain
	switch {
	case m.err != nil && !d.told:
		d.told = true
		i.options.Log.Info("VRF is still in use, it is taken away when it no longer is", "vrf", d.id, "reason", m.err)
		fallthrough
	case m.err != nil:
		i.loop.After(portRetryDelay, domainRetry{d})
		return
	case d.wanted: // again, and perhaps put before it was deleted
		d.leaving = false
		var b entry.Batch
		d.put(&b)
		i.program(&b, func(string) {})
		return
	}
	delete(i.domains, d.id)
	delete(i.ports, d.tun.ID)
	i.converge()
}

// domainRetry tries a deletion again.
type domainRetry struct{ domain *domain }

func (m domainRetry) handle(i *Interfaces) {
	m.domain.leaving = false
	i.removeDomains()
}
