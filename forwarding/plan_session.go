package forwarding

import (
	"fmt"

	"vbng/forwarding/entry"
	"vbng/forwarding/table"
)

// planSession plans a session. Whether its content changed is known only when it is published: the record
// is compiled there.
func (e *Engine) planSession(x *entry.Session, s *step) string {
	d := e.directory
	port, ok := d.ports[x.Port]
	if !ok {
		return fmt.Sprintf("session %d: port %d is not there", x.ID, x.Port)
	}
	vrf, ok := d.vrfs[x.VRF]
	if !ok {
		return fmt.Sprintf("session %d: VRF %d is not there", x.ID, x.VRF)
	}
	if port.entry.Driver == entry.DriverTUN {
		return fmt.Sprintf("session %d: port %d has no Ethernet", x.ID, x.Port)
	}
	if x.LinkLocal.IsValid() {
		if _, ok := table.LinkLocalHalf(x.LinkLocal); !ok {
			return fmt.Sprintf("session %d: link-local address %v is not of fe80::/64", x.ID, x.LinkLocal)
		}
	}
	tags, ok := table.Tags(x.OuterTPID, x.OuterVLAN, x.InnerVLAN)
	if !ok {
		return fmt.Sprintf("session %d: outer TPID %#04x is not supported", x.ID, x.OuterTPID)
	}
	key := table.SessionKey(table.AccessPort(port.slot)|tags, x.PeerMAC, x.PPPoE)
	slot, there := d.session(x.ID)
	if holder, taken := d.sessionByAccess.Find(key); taken && (!there || holder != slot) {
		return fmt.Sprintf("session %d: its port, tags, MAC and PPPoE session id are those of session %d", x.ID, d.sessions[holder].id)
	}
	if there && x.PPPoE == 0 && d.sessions[slot].echo {
		return fmt.Sprintf("session %d has an echo, which IPoE has not", x.ID)
	}
	s.action = change
	if !there {
		if slot, ok = d.free[entry.KindSession].take(); !ok {
			return d.full(entry.KindSession, "sessions")
		}
		s.action = add
		d.sessionByID.Insert(sessionIDKey(x.ID), slot)
	}
	info := &d.sessions[slot]
	s.slot, s.session = slot, *info
	s.key, s.port, s.vrf = key, port.slot, vrf.slot
	e.bindSession(slot, sessionInfo{
		id: x.ID, key: key, port: port.slot, vrf: vrf.slot, generation: d.generation,
		echo: info.echo, echoGeneration: info.echoGeneration,
	})
	return ""
}

// bindSession replaces what is known of a session's slot, with its key and references.
func (e *Engine) bindSession(slot uint32, next sessionInfo) {
	d := e.directory
	now := &d.sessions[slot]
	if now.key != next.key {
		if now.id != 0 {
			forget(d.sessionByAccess, now.key)
		}
		if next.id != 0 {
			d.sessionByAccess.Insert(next.key, slot)
		}
	}
	if next.id != 0 {
		d.hold(entry.KindPort, next.port)
		d.hold(entry.KindVRF, next.vrf)
	}
	if now.id != 0 {
		d.release(entry.KindPort, now.port)
		d.release(entry.KindVRF, now.vrf)
	}
	*now = next
}

func (e *Engine) planSessionGone(x *entry.Session, s *step) string {
	d := e.directory
	slot, there := d.session(x.ID)
	if !there {
		return fmt.Sprintf("session %d is not there", x.ID)
	}
	info := d.sessions[slot]
	if info.echo {
		return fmt.Sprintf("session %d still has an echo", x.ID)
	}
	if reason := d.inUse(entry.KindSession, slot, fmt.Sprintf("session %d", x.ID)); reason != "" {
		return reason
	}
	s.action, s.slot, s.session = remove, slot, info
	forget(d.sessionByID, sessionIDKey(x.ID))
	e.bindSession(slot, sessionInfo{})
	d.free[entry.KindSession].rest(slot)
	return ""
}

func (e *Engine) undoSession(s *step) {
	d := e.directory
	switch s.action {
	case add:
		forget(d.sessionByID, sessionIDKey(d.sessions[s.slot].id))
		d.free[entry.KindSession].give(s.slot)
	case remove:
		d.sessionByID.Insert(sessionIDKey(s.session.id), s.slot)
		d.free[entry.KindSession].unrest()
	}
	e.bindSession(s.slot, s.session)
}

func (e *Engine) planEcho(x *entry.Echo, s *step) string {
	slot, there := e.directory.session(x.Session)
	if !there {
		return fmt.Sprintf("echo: session %d is not there", x.Session)
	}
	info := &e.directory.sessions[slot]
	if info.key.Low&0xFFFF == 0 {
		return fmt.Sprintf("echo: session %d has no PPP", x.Session)
	}
	s.action, s.slot, s.session = add, slot, *info
	if info.echo {
		s.action = change
	}
	info.echo, info.echoGeneration = true, e.directory.generation
	return ""
}

func (e *Engine) planEchoGone(x *entry.Echo, s *step) string {
	slot, there := e.directory.session(x.Session)
	if !there || !e.directory.sessions[slot].echo {
		return fmt.Sprintf("echo of session %d is not there", x.Session)
	}
	s.action, s.slot, s.session = remove, slot, e.directory.sessions[slot]
	e.directory.sessions[slot].echo = false
	return ""
}

func (e *Engine) undoEcho(s *step) {
	info := &e.directory.sessions[s.slot]
	info.echo, info.echoGeneration = s.session.echo, s.session.echoGeneration
}
