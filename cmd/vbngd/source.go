package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"syscall"
	"time"

	"vbng/control/clock"
	"vbng/control/engine"
	"vbng/control/logbook"
	"vbng/forwarding/remote"
	"vbng/routing/probe"
	"vbng/routing/vrf"
)

// source lets the engine subsystem read the forwarder's client, and end the forwarder.
type source struct {
	client *remote.Client
	socket string // of the forwarder
}

// Status implements engine.Source.
func (s source) Status() engine.Status {
	f := s.client.Status()
	injected, punted := s.client.Lost()
	return engine.Status{Attached: f.Attached, Programmed: f.Programmed, Foreign: f.Foreign, PID: f.PID, Workers: f.Workers,
		Generation: f.Generation, Pending: s.client.Pending(), LostPunts: punted, LostInject: injected}
}

// Words implements engine.Source.
func (s source) Words() []engine.Word {
	words := s.client.Words()
	shown := make([]engine.Word, len(words))
	for i, w := range words {
		shown[i] = engine.Word(w)
	}
	return shown
}

// Trace implements engine.Source.
func (s source) Trace(ctx context.Context, request string) (string, error) {
	return s.client.Trace(ctx, request)
}

// restartPoll is how often Restart looks for the new forwarder.
const restartPoll = 5 * time.Millisecond

// Restart implements engine.Source. Whoever serves the socket is ended, whatever its version: control starts
// another one when the socket falls silent.
func (s source) Restart(ctx context.Context) (time.Duration, error) {
	pid, err := servingProcess(s.socket)
	if err != nil {
		return 0, fmt.Errorf("find the forwarder: %w", err)
	}
	start := time.Now()
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return 0, fmt.Errorf("end the forwarder, process %d: %w", pid, err)
	}
	for {
		if now := s.client.Status(); now.Programmed && now.PID != pid {
			return time.Since(start), nil
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("wait for the next forwarder: %w", ctx.Err())
		case <-time.After(restartPoll):
		}
	}
}

// dialer lets the log reach servers in a VRF.
func dialer(s *vrf.Sockets) logbook.Dial {
	return func(ctx context.Context, name, network, address string) (c net.Conn, err error) {
		d := net.Dialer{Timeout: dialTimeout, Control: s.Control(name)}
		err = s.Do(name, func() error {
			c, err = d.DialContext(ctx, network, address)
			return err
		})
		return c, err
	}
}

const dialTimeout = 5 * time.Second

// probes lets ping and traceroute have sockets of VRFs.
func probes(c clock.Clock, s *vrf.Sockets, t *vrf.Table) probe.Options {
	return probe.Options{Clock: c, VRFs: func() []string { return append(t.Names(), vrf.Default, vrf.Management) },
		Identifier: func() uint16 { return uint16(rand.Uint32()) },
		Open: func(name string, to, source netip.Addr, dontFragment bool) (probe.Conn, error) {
			return s.OpenICMP(name, to, source, dontFragment)
		}}
}
