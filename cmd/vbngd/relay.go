package main

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"

	"vbng/forwarding/entry"
)

// maxDatagramBytes is the longest DHCP message that is read; servers send at most what the client takes.
const maxDatagramBytes = 4096

// relaySockets are the DHCP relay's sockets: one for each address of ours that stands for a line, opened
// when it is first needed.
type relaySockets struct {
	log     *slog.Logger
	listen  func(vrf string, local netip.AddrPort) (*net.UDPConn, error)
	name    func(entry.VRFID) string
	receive func(vrf entry.VRFID, from netip.AddrPort, payload []byte)

	mu    sync.Mutex
	conns map[relayKey]*net.UDPConn
}

type relayKey struct {
	vrf   entry.VRFID
	local netip.AddrPort
}

// Send implements sessions.Relay.
func (r *relaySockets) Send(vrf entry.VRFID, from, to netip.AddrPort, payload []byte) error {
	key := relayKey{vrf, from}
	c, err := r.socket(key)
	if err != nil {
		return err
	}
	if _, err := c.WriteToUDPAddrPort(payload, to); err != nil {
		r.drop(key, c) // its VRF may have got another TUN: the next one is opened there
		return fmt.Errorf("send to DHCP server: %w", err)
	}
	return nil
}

func (r *relaySockets) socket(key relayKey) (*net.UDPConn, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.conns[key]; c != nil {
		return c, nil
	}
	c, err := r.listen(r.name(key.vrf), key.local)
	if err != nil {
		return nil, err
	}
	if r.conns == nil {
		r.conns = map[relayKey]*net.UDPConn{}
	}
	r.conns[key] = c
	go r.read(key, c)
	return c, nil
}

func (r *relaySockets) drop(key relayKey, c *net.UDPConn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conns[key] == c {
		delete(r.conns, key)
	}
	_ = c.Close()
}

// read passes on what servers send until the socket is closed.
func (r *relaySockets) read(key relayKey, c *net.UDPConn) {
	buffer := make([]byte, maxDatagramBytes)
	for {
		n, from, err := c.ReadFromUDPAddrPort(buffer)
		if err != nil {
			r.log.Debug("DHCP relay's socket closed", "local", key.local, "error", err)
			r.drop(key, c)
			return
		}
		r.receive(key.vrf, from, buffer[:n])
	}
}
