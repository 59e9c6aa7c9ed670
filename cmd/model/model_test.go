package model

import (
	"os"
	"strings"
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

// TestGuideConfigurationIsGood checks the pieces of configuration in the operator's guide, each added to
// the sample configuration.
func TestGuideConfigurationIsGood(t *testing.T) {
	sample, err := os.ReadFile("../../etc/vbng.conf")
	if err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile("../../docs/operator-guide.md")
	if err != nil {
		t.Fatal(err)
	}
	all, err := check.Of(Subsystems())
	if err != nil {
		t.Fatal(err)
	}
	pieces := strings.Split(string(guide), "```vbng\n")[1:]
	if len(pieces) == 0 {
		t.Error("the guide has no piece of configuration")
	}
	for _, piece := range pieces {
		piece, _, _ = strings.Cut(piece, "```")
		for _, fault := range check.Text(all, string(sample)+piece) {
			t.Errorf("%v in\n%s", fault, piece)
		}
	}
}
