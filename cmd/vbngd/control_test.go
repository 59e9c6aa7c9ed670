package main

import (
	"strings"
	"testing"
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
