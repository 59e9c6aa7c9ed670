// Package prompt is the interactive terminal: it wraps go-prompt, which no other package knows.
//
// go-prompt draws the line and keeps the history. This package adds what routers' shells have: "?"
// shows help at once and leaves the line as it is, TAB completes (a second TAB walks through the
// menu), Ctrl-R finds an earlier line that holds what is typed, pasted lines run one after another, Ctrl-C
// stops a command that runs, long output stops at each page, a line with a secret stays in no history, and
// the terminal is left as it was found.
//
// Reading order: prompt.go, keys.go, search.go, pager.go, input.go.
package prompt
