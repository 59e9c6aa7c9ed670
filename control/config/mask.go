package config

import (
	"strconv"
	"strings"

	"vbng/control/line"
	"vbng/control/schema"
)

// opens returns the mode that a line would open whose words name a node and whose keys are wrong.
func (g *Grammar) opens(mode *schema.Node, words []line.Word) *schema.Node {
	tokens, _ := line.Match(g.Set(mode), words)
	for i := len(tokens) - 1; i >= 0; i-- {
		if n, ok := tokens[i].Item.Tag.(*schema.Node); ok && n.Mode != "" {
			return n
		}
	}
	return nil
}

// mask hides what could be a secret in a line that is going to be shown: everything behind the words
// of a leaf that holds one.
func (g *Grammar) mask(frames []frame, source string) string {
	words, err := line.Split(source)
	if err != nil {
		if len(words) == 0 {
			return source
		}
	}
	if len(words) > 0 && words[0].Text == "no" {
		words = words[1:]
	}
	for i := len(frames) - 1; i >= 0; i-- {
		tokens, _ := line.Match(g.Set(frames[i].mode), words)
		for k, t := range tokens {
			n, ok := t.Item.Tag.(*schema.Node)
			if ok && n.Kind == schema.Leaf && n.Type.Secret() && t.Item.Word != "" {
				return maskFrom(source, tokens, k)
			}
		}
	}
	return source
}

func maskFrom(source string, tokens []line.Token, literal int) string {
	t := tokens[literal]
	rest := source[t.Column:]
	end := t.Column + strings.IndexAny(rest+" ", " \t")
	return source[:end] + " " + schema.Hidden
}

func itoa(n int) string { return strconv.Itoa(n) }
