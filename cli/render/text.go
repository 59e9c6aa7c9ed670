package render

import (
	"fmt"
	"reflect"
	"strings"

	"vbng/control/oper"
)

// Text renders an answer for people. It ends with a newline unless it is empty.
func Text(answer any) string { return Printable(plain(answer)) }

func plain(answer any) string {
	switch a := answer.(type) {
	case nil:
		return ""
	case string:
		return closed(a)
	case oper.Document:
		return document(a)
	case *oper.Document:
		return document(*a)
	case oper.Tabular:
		return table(reflect.ValueOf(a.TableRows()), a.TableSummary())
	}
	v := reflect.Indirect(reflect.ValueOf(answer))
	switch {
	case v.Kind() == reflect.Slice && indirect(v.Type().Elem()).Kind() == reflect.Struct:
		return table(v, "")
	case v.Kind() == reflect.Struct && !hasText(v):
		return fields(structLines(v))
	}
	return closed(cell(reflect.ValueOf(answer)))
}

func indirect(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

func closed(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

func document(d oper.Document) string {
	var b strings.Builder
	for i, s := range d.Sections {
		if i > 0 {
			b.WriteByte('\n')
		}
		if s.Title != "" {
			b.WriteString(s.Title + "\n")
		}
		indented := s.Title != ""
		b.WriteString(indent(closed(s.Text), indented))
		b.WriteString(indent(fields(s.Lines), indented))
	}
	return b.String()
}

func indent(text string, yes bool) string {
	if !yes || text == "" {
		return text
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	return "  " + strings.Join(lines, "\n  ") + "\n"
}

// fields aligns the values of name and value lines.
func fields(lines []oper.Field) string {
	longest := 0
	for _, f := range lines {
		longest = max(longest, width(f.Name))
	}
	var b strings.Builder
	for _, f := range lines {
		value := oneLine(f.Value)
		if value == "" {
			value = "-"
		}
		fmt.Fprintf(&b, "%s%s  %s\n", f.Name, strings.Repeat(" ", longest-width(f.Name)), value)
	}
	return b.String()
}

// structLines turns the fields of a struct into lines.
func structLines(v reflect.Value) []oper.Field {
	var lines []oper.Field
	for _, c := range columnsOf(v.Type()) {
		lines = append(lines, oper.Field{Name: c.title, Value: cell(v.FieldByIndex(c.index))})
	}
	return lines
}
