package main

import (
	"io"
	"path/filepath"
	"slices"
	"testing"

	"vbng/cmd/model"
	"vbng/control/clock"
	"vbng/control/commit"
	"vbng/control/logbook"
	"vbng/control/oper"
)

// TestModelIsTheRouter: what "vbng check" and the reference manual know is what the router is built of.
func TestModelIsTheRouter(t *testing.T) {
	dir := t.TempDir()
	r, err := wire(paths{run: filepath.Join(dir, "run"), state: dir}, dwelling{}, "", logbook.New(io.Discard, clock.Real{}))
	if err != nil {
		t.Fatal(err)
	}
	defer r.store.Close()
	if got, want := names(model.Subsystems()), names(r.subsystems); !slices.Equal(got, want) {
		t.Errorf("the model has the subsystems %q, the router %q", got, want)
	}
	known, err := model.Commands()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := words(known), words(r.commands.All()); !slices.Equal(got, want) {
		t.Errorf("the model has the commands %q, the router %q", got, want)
	}
}

func names(all []commit.Subsystem) (names []string) {
	for _, s := range all {
		names = append(names, s.Name())
	}
	return names
}

func words(all []*oper.Command) (words []string) {
	for _, c := range all {
		words = append(words, c.Words)
	}
	return words
}
