package render

import (
	"reflect"
	"strings"
	"unicode/utf8"
)

// column is one field of a row type.
type column struct {
	title string
	index []int
	right bool // numbers stand at the right
}

// columnsOf returns what a table of the row type shows. Fields of embedded structs count as its own.
func columnsOf(t reflect.Type) []column {
	var all []column
	for _, f := range reflect.VisibleFields(t) {
		title, tagged := f.Tag.Lookup("show")
		if !f.IsExported() || title == "-" || f.Anonymous && !tagged {
			continue
		}
		if title == "" {
			title = f.Name
		}
		all = append(all, column{title: title, index: f.Index, right: numeric(f.Type)})
	}
	return all
}

func numeric(t reflect.Type) bool {
	if t.Implements(stringerType) {
		return t == durationType
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8,
		reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return true
	}
	return false
}

// table renders a slice of structs (or pointers to them) as aligned columns. Nothing to show is said.
func table(rows reflect.Value, summary string) string {
	if rows.Len() == 0 {
		if summary != "" {
			return closed(summary)
		}
		return "(none)\n"
	}
	columns := columnsOf(indirect(rows.Type().Elem()))
	grid := make([][]string, 0, rows.Len())
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = width(c.title)
	}
	for r := range rows.Len() {
		row := reflect.Indirect(rows.Index(r))
		cells := make([]string, len(columns))
		for i, c := range columns {
			cells[i] = cell(row.FieldByIndex(c.index))
			widths[i] = max(widths[i], width(cells[i]))
		}
		grid = append(grid, cells)
	}
	var b strings.Builder
	titles := make([]string, len(columns))
	for i, c := range columns {
		titles[i] = c.title
	}
	writeRow(&b, titles, columns, widths)
	for _, cells := range grid {
		writeRow(&b, cells, columns, widths)
	}
	b.WriteString(closed(summary))
	return b.String()
}

func writeRow(b *strings.Builder, cells []string, columns []column, widths []int) {
	var line strings.Builder
	for i, text := range cells {
		pad := strings.Repeat(" ", widths[i]-width(text))
		if i > 0 {
			line.WriteString("  ")
		}
		if columns[i].right {
			line.WriteString(pad + text)
		} else {
			line.WriteString(text + pad)
		}
	}
	b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
}

func width(text string) int { return utf8.RuneCountInString(text) }
