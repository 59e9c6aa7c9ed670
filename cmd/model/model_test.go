package model

import (
	"os"
	"testing"

	"vbng/cli/check"
)

// TestSampleConfigurationIsGood keeps the configuration that the README starts with valid.
func TestSampleConfigurationIsGood(t *testing.T) {
	text, err := os.ReadFile("../../etc/vbng.conf")
	if err != nil {
		t.Fatal(err)
	}
	all, err := check.Of(Subsystems())
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range check.Text(all, string(text)) {
		t.Error(fault)
	}
}
