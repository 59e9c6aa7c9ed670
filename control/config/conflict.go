package config

import "fmt"

// Rebase replays changes that were made on base on another tree. It returns the new tree, the changes
// that could be made there, and a line of text for every conflict: something that a change touches
// and that is not in current what it was in base. A change in conflict is made all the same if it
// can be; the operator is the judge.
func Rebase(base, current *Tree, changes []Change) (t *Tree, made []Change, conflicts []string) {
	b := current.Edit()
	for _, c := range changes {
		if text := conflict(base, current, c); text != "" {
			conflicts = append(conflicts, text)
		}
		if err := b.Apply(c); err != nil {
			conflicts = append(conflicts, fmt.Sprintf("%v; the edit is dropped", err))
			continue
		}
		made = append(made, c)
	}
	return b.Tree(), made, conflicts
}

// conflict tells how what a change touches differs between base and current, empty: not at all.
func conflict(base, current *Tree, c Change) string {
	was, is := base.at(c.Path), current.at(c.Path)
	switch {
	case was == nil && is == nil:
		return ""
	case was != nil && is == nil && c.Action != Delete:
		return c.Path.String() + ": was removed meanwhile; the edit makes it again"
	case c.Action == Enter || was == nil && c.Action == Set:
		return ""
	case c.Action == Replace || len(c.Settings) == 0:
		if was == nil || is == nil || !Equal(was, is) {
			return c.Path.String() + ": was changed meanwhile"
		}
		return ""
	}
	for _, s := range c.Settings {
		before, _ := was.value(s.Name)
		now, _ := is.value(s.Name)
		if before != now && now != s.Value {
			return c.Path.under(s.Name) + ": was changed meanwhile"
		}
	}
	return ""
}
