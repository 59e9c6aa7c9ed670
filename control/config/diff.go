package config

import "strings"

// Diff returns the difference of two trees as lines that begin with "+ ", "- ", or, for the opening
// and closing lines of the modes around a difference, two blanks. Secrets are hidden; a changed one
// shows as a pair of lines. No difference is the empty string.
func Diff(old, new *Tree) string {
	var d differ
	d.blocks(blocks(old), blocks(new), 0)
	return d.text.String()
}

// pair is the same line in two trees; one of the two may be missing.
type pair struct{ old, new *block }

func (p pair) equal() bool {
	return p.old != nil && p.new != nil && p.old.clear == p.new.clear && equalBlocks(p.old.below, p.new.below)
}

func equalBlocks(a, b []block) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !(pair{&a[i], &b[i]}).equal() {
			return false
		}
	}
	return true
}

// pairs lines the blocks of two trees up. A line that has moved (in a list in the operator's order)
// is one that went and one that came.
func pairs(old, new []block) []pair {
	inOld, inNew := index(old), index(new)
	var all []pair
	i, j := 0, 0
	for i < len(old) || j < len(new) {
		switch {
		case i < len(old) && j < len(new) && old[i].id == new[j].id:
			all = append(all, pair{&old[i], &new[j]})
			i, j = i+1, j+1
		case i < len(old) && gone(old[i].id, inNew, j):
			all = append(all, pair{old: &old[i]})
			i++
		case j < len(new) && gone(new[j].id, inOld, i):
			all = append(all, pair{new: &new[j]})
			j++
		default: // both lines are still to come on the other side: one of them has moved
			all = append(all, pair{old: &old[i]})
			i++
		}
	}
	return all
}

func index(blocks []block) map[string]int {
	at := make(map[string]int, len(blocks))
	for i, b := range blocks {
		at[b.id] = i
	}
	return at
}

// gone reports whether the line does not come any more on the other side, which stands at from.
func gone(id string, other map[string]int, from int) bool {
	at, there := other[id]
	return !there || at < from
}

type differ struct{ text strings.Builder }

func (d *differ) blocks(old, new []block, depth int) {
	for _, p := range pairs(old, new) {
		switch {
		case p.equal():
		case p.old != nil && p.new != nil && p.new.mode:
			d.line("  ", depth, p.new.shown)
			d.blocks(p.old.below, p.new.below, depth+1)
			d.line("  ", depth, "!")
		default:
			d.whole("- ", p.old, depth)
			d.whole("+ ", p.new, depth)
		}
	}
}

func (d *differ) whole(sign string, b *block, depth int) {
	if b == nil {
		return
	}
	d.line(sign, depth, b.shown)
	for i := range b.below {
		d.whole(sign, &b.below[i], depth+1)
	}
	if b.mode {
		d.line(sign, depth, "!")
	}
}

func (d *differ) line(sign string, depth int, text string) {
	d.text.WriteString(sign + strings.Repeat(" ", depth) + text + "\n")
}
