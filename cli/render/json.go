package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"

	"vbng/control/oper"
)

// JSON renders an answer for programs, indented, with a newline at the end.
func JSON(answer any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(exported(answer)); err != nil {
		return "", fmt.Errorf("render as JSON: %w", err)
	}
	return printableJSON(b.String()), nil
}

func exported(answer any) any {
	switch a := answer.(type) {
	case oper.Document:
		return documentValue(a)
	case *oper.Document:
		return documentValue(*a)
	case oper.Tabular:
		rows := reflect.ValueOf(a.TableRows())
		if rows.Len() == 0 {
			return []any{}
		}
		return value(rows)
	}
	return value(reflect.ValueOf(answer))
}

// documentValue is the typed value of a document, or its lines when it has none.
func documentValue(d oper.Document) any {
	if d.Data != nil {
		return exported(d.Data)
	}
	sections := []any{}
	for _, s := range d.Sections {
		lines := object{}
		for _, f := range s.Lines {
			lines = append(lines, member{f.Name, f.Value})
		}
		sections = append(sections, object{{"title", s.Title}, {"lines", lines}, {"text", s.Text}})
	}
	return sections
}

// object is a JSON object that keeps the order of its members.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := marshal(m.name)
		if err != nil {
			return nil, err
		}
		text, err := marshal(m.value)
		if err != nil {
			return nil, fmt.Errorf("member %q: %w", m.name, err)
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(text)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// value turns a Go value into what encoding/json writes as it should be read.
func value(v reflect.Value) any {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	if !v.IsValid() {
		return nil
	}
	if v.CanInterface() {
		switch x := v.Interface().(type) {
		case time.Duration:
			return x.Seconds()
		case time.Time:
			if x.IsZero() {
				return nil
			}
			return x
		case interface{ IsValid() bool }:
			if !x.IsValid() {
				return nil
			}
		}
		if x, ok := v.Interface().(json.Marshaler); ok {
			return x
		}
		if text, ok := known(v); ok {
			return text
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		return structValue(v)
	case reflect.Slice, reflect.Array:
		all := make([]any, 0, v.Len())
		for i := range v.Len() {
			all = append(all, value(v.Index(i)))
		}
		return all
	case reflect.Map:
		return mapValue(v)
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return nil
	}
	return v.Interface()
}

func mapValue(v reflect.Value) any {
	all := map[string]any{}
	for _, k := range v.MapKeys() {
		all[cell(k)] = value(v.MapIndex(k))
	}
	return all
}

func structValue(v reflect.Value) object {
	o := object{}
	for _, f := range reflect.VisibleFields(v.Type()) {
		if !f.IsExported() || f.Anonymous || len(f.Index) > 1 && !v.FieldByIndex(f.Index[:1]).IsValid() {
			continue
		}
		name := fieldName(f)
		if name == "-" {
			continue
		}
		o = append(o, member{name, value(v.FieldByIndex(f.Index))})
	}
	return o
}

func fieldName(f reflect.StructField) string {
	if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag != "" {
		return tag
	}
	name := snake(f.Name)
	if f.Type == durationType && !strings.HasSuffix(name, "_seconds") {
		name += "_seconds"
	}
	return name
}

// snake turns AcctSessionID into acct_session_id and OuterVLAN into outer_vlan.
func snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 {
			next := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if !unicode.IsUpper(runes[i-1]) || next {
				b.WriteByte('_')
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
