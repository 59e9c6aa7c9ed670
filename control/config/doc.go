// Package config holds configuration as values: trees typed by a schema, their text form, and the
// difference of two of them.
//
//	text --Parse--> *Tree --Print--> text        (print, parse, print is the identity)
//	*Tree --Edit, Apply(Change)--> *Tree         (the old one stays as it was)
//	two trees --Diff--> "+ " and "- " lines
//
// A subsystem reads its part with the typed readers of read.go; a nil tree is empty, so it may walk
// into what is not configured:
//
//	for _, u := range new.List("user") {
//		name, password := u.Text("name"), u.Text("password")
//
// and in its tests it makes a tree from a snippet:
//
//	root, err := schema.Merge(subsystem.Schema())
//	tree, faults := config.Parse(root, "user alice\n password wonderland\n")
//
// Faults are *Error values with path, line and column; Check finds those that only the whole tree
// shows (undefined names, leaves that must be there).
//
// Reading order: tree.go, read.go, path.go, change.go, build.go; then grammar.go (schema to words),
// parse.go, block.go, print.go, diff.go, check.go.
package config
