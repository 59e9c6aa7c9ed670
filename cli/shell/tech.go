package shell

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"vbng/cli/render"
	"vbng/control/oper"
)

// Bounds of "show tech": it is mailed around, and it must end on a router that is unwell.
const (
	techPartBytes = 64 << 10
	techBytes     = 2 << 20
	techPatience  = 5 * time.Second
)

// showTech is one document of everything that can be shown without an argument, secrets hidden.
func (s *Session) showTech(ctx context.Context, c oper.Call) (any, error) {
	var d oper.Document
	total := 0
	add := func(title, text string) {
		if room := techBytes - total; len(text) > room {
			text = shortened(text, room)
		}
		total += len(text)
		d.Sections = append(d.Sections, oper.Section{Title: title, Text: text})
	}
	add("process", processState())
	for _, cmd := range s.techCommands() {
		add(cmd.Words, s.techPart(ctx, cmd, c.User))
		if ctx.Err() != nil || total >= techBytes {
			break
		}
	}
	return d, ctx.Err()
}

// techCommands are the commands of "show tech": those of the session first, then all others in the order of their
// words.
func (s *Session) techCommands() []*oper.Command {
	var all []*oper.Command
	for _, c := range slices.Concat(s.everywhere(), s.options.Registry.All()) {
		needed := slices.ContainsFunc(c.Args, func(a oper.Arg) bool { return !a.Optional && !a.Flag })
		if strings.HasPrefix(c.Words, "show ") && c.Words != techWords && c.Run != nil && !needed {
			all = append(all, c)
		}
	}
	return all
}

const techWords = "show tech"

// techPart is the text of one command; what goes wrong is a part of the document.
func (s *Session) techPart(ctx context.Context, cmd *oper.Command, user string) (text string) {
	defer func() {
		if p := recover(); p != nil {
			text = fmt.Sprintf("%% internal error: %v\n", p)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, techPatience)
	defer cancel()
	answer, err := cmd.Run(ctx, oper.Call{Args: map[string]string{}, User: user})
	if err != nil {
		return "% " + err.Error() + "\n"
	}
	return shortened(render.Text(answer), techPartBytes)
}

// shortened cuts the middle out of a long text: a log is of interest at its end, a table at its beginning.
func shortened(text string, room int) string {
	if len(text) <= room {
		return text
	}
	head, tail := text[:room/2], text[len(text)-room/2:]
	head = strings.TrimRightFunc(head, func(r rune) bool { return r == utf8.RuneError })
	tail = strings.TrimLeftFunc(tail, func(r rune) bool { return r == utf8.RuneError })
	return head + fmt.Sprintf("\n... %d bytes left out ...\n", len(text)-len(head)-len(tail)) + tail
}

func processState() string {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return fmt.Sprintf("goroutines  %d\nheap bytes  %d\nfrom system %d\ncollections %d\n", runtime.NumGoroutine(), m.HeapAlloc, m.Sys, m.NumGC)
}
