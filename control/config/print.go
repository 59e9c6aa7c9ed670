package config

import (
	"slices"
	"strings"
)

// Secrets tells how secrets are printed.
type Secrets bool

// The two ways to print a secret.
const (
	Hide  Secrets = false // as schema.Hidden, which no parser takes for a secret
	Clear Secrets = true  // for storage only
)

// Print returns the tree as text that Parse reads back to the same tree (secrets in clear). The order
// is the schema's; list entries are sorted by key or stand in the operator's order.
func Print(t *Tree, secrets Secrets) string {
	p := printer{secrets: secrets}
	p.blocks(blocks(t), 0)
	return p.text.String()
}

// PrintSection is Print of the parts at the top whose opening line begins with the words, each of
// which may be abbreviated.
func PrintSection(t *Tree, secrets Secrets, words []string) string {
	p := printer{secrets: secrets}
	some := slices.DeleteFunc(blocks(t), func(b block) bool { return !begins(strings.Fields(b.shown), words) })
	p.blocks(some, 0)
	return p.text.String()
}

func begins(line, words []string) bool {
	if len(line) < len(words) {
		return false
	}
	for i, w := range words {
		if !strings.HasPrefix(line[i], w) {
			return false
		}
	}
	return true
}

type printer struct {
	text    strings.Builder
	secrets Secrets
}

func (p *printer) blocks(all []block, depth int) {
	for i, b := range all {
		if depth == 0 && b.mode && i > 0 && !all[i-1].mode {
			p.line(depth, "!") // a mode ends with "!", so what stands before one does too
		}
		p.line(depth, b.line(p.secrets))
		if b.mode {
			p.blocks(b.below, depth+1)
			p.line(depth, "!")
		}
	}
}

func (p *printer) line(depth int, text string) {
	p.text.WriteString(strings.Repeat(" ", depth) + text + "\n")
}

func (b block) line(s Secrets) string {
	if s == Clear {
		return b.clear
	}
	return b.shown
}
