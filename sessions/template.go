package sessions

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vbng/aaa"
)

// template makes a name out of a line: text with words in braces.
type template string

// maxTemplateBytes keeps what a template makes within a RADIUS attribute or a suboption of option 82.
const maxTemplateBytes = 128

// templateWords are the words that a template may hold.
func templateWords() []string {
	return []string{"circuit-id", "hostname", "inner-vlan", "mac", "outer-vlan", "port", "remote-id"}
}

// pieces calls text and word in the order of the template. It returns what is wrong with it.
func (t template) pieces(text, word func(string)) error {
	rest := string(t)
	for rest != "" {
		before, after, open := strings.Cut(rest, "{")
		text(before)
		if !open {
			return nil
		}
		name, tail, closed := strings.Cut(after, "}")
		if !closed || !slices.Contains(templateWords(), name) {
			return fmt.Errorf("expected one of {%s} at %q", strings.Join(templateWords(), "} {"), "{"+after)
		}
		word(name)
		rest = tail
	}
	return nil
}

// expand makes the name for a line. What the line does not say is left out. Only printable characters of what
// a client said are taken.
func (t template) expand(l aaa.Line) string {
	var b strings.Builder
	add := func(text string) { b.WriteString(text) }
	_ = t.pieces(add, func(name string) { add(templateValue(name, l)) }) // checked with the configuration
	return cut(b.String(), maxNameBytes)
}

// maxNameBytes bounds a user name (RFC 2865 5.1: an attribute holds 253).
const maxNameBytes = 253

// namesLine reports whether the name holds what an access node calls the line.
func (t template) namesLine() bool {
	return strings.Contains(string(t), "{circuit-id}") || strings.Contains(string(t), "{remote-id}")
}

func templateValue(name string, l aaa.Line) string {
	switch name {
	case "mac":
		m := l.MAC
		return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5])
	case "port":
		return l.Port
	case "outer-vlan":
		return strconv.Itoa(int(l.OuterVLAN))
	case "inner-vlan":
		return strconv.Itoa(int(l.InnerVLAN))
	case "circuit-id":
		return plain(l.CircuitID)
	case "remote-id":
		return plain(l.RemoteID)
	case "hostname":
		return plain([]byte(l.Hostname))
	}
	return ""
}

// plain is a client's bytes as text: hexadecimal unless all are printable ASCII.
func plain(b []byte) string {
	for _, c := range b {
		if c < ' ' || c > '~' {
			return fmt.Sprintf("%x", b)
		}
	}
	return string(b)
}

func cut(text string, most int) string { return text[:min(len(text), most)] }

// templateType is the type of a template in the configuration.
type templateType struct{ plainType }

// Parse implements schema.Type.
func (templateType) Parse(word string) (string, error) {
	if word == "" || len(word) > maxTemplateBytes {
		return "", fmt.Errorf("expected a template of 1 to %d bytes", maxTemplateBytes)
	}
	for _, c := range []byte(word) {
		if c <= ' ' || c > '~' {
			return "", fmt.Errorf("expected printable characters without blanks, found %q", word)
		}
	}
	return word, template(word).pieces(func(string) {}, func(string) {})
}

// Hint implements schema.Type.
func (templateType) Hint() string { return "TEMPLATE" }
