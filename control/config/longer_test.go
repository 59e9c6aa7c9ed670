package config

import (
	"testing"

	"vbng/control/schema"
)

// A container whose name begins the name of a list beside it: "aaa" and "aaa group".
func TestContainerBesideALongerName(t *testing.T) {
	name := []*schema.Node{{Name: "name", Kind: schema.Leaf, Help: "name", Type: schema.Name()}}
	root, err := schema.Merge([]*schema.Node{
		{Name: "aaa", Kind: schema.Container, Mode: "config-aaa", Help: "all", Children: []*schema.Node{
			{Name: "accounting-on", Kind: schema.Flag, Help: "say so"},
		}},
		{Name: "aaa group", Kind: schema.List, Mode: "config-aaa-group", Help: "some", Keys: name, Children: []*schema.Node{
			{Name: "fast", Kind: schema.Flag, Help: "be quick"},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	tree, faults := Parse(root, "aaa\n accounting-on\naaa group one\n fast\naaa group two\nno aaa group two\n")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if !tree.Container("aaa").Flag("accounting-on") || len(tree.List("aaa group")) != 1 || !tree.Entry("aaa group", "one").Flag("fast") {
		t.Errorf("%s", Print(tree, Clear))
	}
	if tree, faults = Parse(root, Print(tree, Clear)+"no aaa\n"); len(faults) > 0 || len(tree.List("aaa group")) != 1 || tree.Container("aaa") != nil {
		t.Errorf("%v\n%s", faults, Print(tree, Clear))
	}
}
