// Package render makes text of the typed values that operational commands answer: tables, documents,
// JSON; and filters lines of text behind a pipe.
//
// It knows the shapes of control/oper and nothing of what they hold. JSON names are the fields' names
// in snake_case; a duration is a number of seconds and its name says so ("uptime_seconds"), a MAC
// address and everything that has a text form is a string, a table is a list of objects.
//
// Reading order: text.go, table.go, cell.go, json.go, filter.go.
package render
