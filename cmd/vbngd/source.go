package main

import (
	"context"

	"vbng/control/engine"
	"vbng/forwarding/remote"
)

// source lets the engine subsystem read the forwarder's client.
type source struct{ client *remote.Client }

// Status implements engine.Source.
func (s source) Status() engine.Status {
	f := s.client.Status()
	injected, punted := s.client.Lost()
	return engine.Status{Attached: f.Attached, Programmed: f.Programmed, PID: f.PID, Workers: f.Workers,
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
