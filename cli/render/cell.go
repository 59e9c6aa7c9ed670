package render

import (
	"encoding"
	"fmt"
	"net"
	"reflect"
	"strconv"
	"strings"
	"time"
)

var (
	stringerType = reflect.TypeFor[fmt.Stringer]()
	durationType = reflect.TypeFor[time.Duration]()
)

// cell is a value as it stands in a table; "-" stands for nothing.
func cell(v reflect.Value) string {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return "-"
		}
		v = v.Elem()
	}
	if text, ok := known(v); ok {
		return dash(text)
	}
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return "yes"
		}
		return "no"
	case reflect.Float32, reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'f', 2, 64)
	case reflect.Slice, reflect.Array:
		return list(v)
	case reflect.String:
		return dash(oneLine(v.String()))
	}
	return dash(fmt.Sprint(v.Interface()))
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// oneLine keeps what came from outside (a user name, a reply message) from breaking the table.
func oneLine(text string) string {
	for _, r := range text {
		if !strconv.IsPrint(r) {
			quoted := strconv.Quote(text)
			return quoted[1 : len(quoted)-1]
		}
	}
	return text
}

// known renders the types that have a usual text form.
func known(v reflect.Value) (text string, ok bool) {
	if !v.IsValid() || !v.CanInterface() {
		return "", false
	}
	switch x := v.Interface().(type) {
	case time.Duration:
		return duration(x), true
	case time.Time:
		if x.IsZero() {
			return "", true
		}
		return x.Format("2006-01-02 15:04:05"), true
	case [6]byte:
		return net.HardwareAddr(x[:]).String(), true
	case []byte:
		return printableBytes(x), true
	case interface{ IsValid() bool }: // addresses and prefixes whose zero value is "none"
		if !x.IsValid() {
			return "", true
		}
	}
	switch x := v.Interface().(type) {
	case fmt.Stringer:
		return oneLine(x.String()), true
	case error:
		return oneLine(x.Error()), true
	case encoding.TextMarshaler:
		b, err := x.MarshalText()
		return oneLine(string(b)), err == nil
	}
	return "", false
}

func hasText(v reflect.Value) bool {
	_, ok := known(v)
	return ok
}

func printableBytes(b []byte) string {
	for _, c := range b {
		if c < ' ' || c > '~' {
			return "0x" + fmt.Sprintf("%x", b)
		}
	}
	return string(b)
}

func list(v reflect.Value) string {
	var parts []string
	for i := range v.Len() {
		parts = append(parts, cell(v.Index(i)))
	}
	return strings.Join(parts, " ")
}

// duration shows the two largest units: what an operator reads at a glance.
func duration(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < 0:
		return "-" + duration(-d)
	case d >= day:
		return fmt.Sprintf("%dd%02dh", d/day, d%day/time.Hour)
	case d >= time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d >= time.Second:
		return fmt.Sprintf("%ds", d/time.Second)
	}
	return d.Round(time.Microsecond).String()
}
