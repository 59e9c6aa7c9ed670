package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"vbng/control/engine"
)

func TestOneControlPerFolder(t *testing.T) {
	dir := t.TempDir()
	release, err := holdFolder(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := holdFolder(dir, 0); err == nil || !strings.Contains(err.Error(), "another router runs on folder "+dir) {
		t.Fatalf("the second control: error %v", err)
	}
	release()
	release, err = holdFolder(dir, 0)
	if err != nil {
		t.Fatalf("after the first has gone: %v", err)
	}
	release()
}

// What control keeps of the engine's settings is what the next forwarder starts with; without a file it starts
// with the defaults, and with a damaged one not at all.
func TestForwarderSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "forwarder.json")
	if got, err := readSettings(file); err != nil || !reflect.DeepEqual(got, engine.DefaultSettings()) {
		t.Errorf("without a file: %+v, %v", got, err)
	}
	want := engine.DefaultSettings()
	want.Sessions, want.Routes6, want.Spin, want.CPUs = 1000, 5000, true, []int{1}
	if err := writeSettings(file, want); err != nil {
		t.Fatal(err)
	}
	if got, err := readSettings(file); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readSettings(file); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("damaged: %v", err)
	}
}
