package prompt

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	goprompt "github.com/c-bata/go-prompt"
	"golang.org/x/term"
)

// Choice is one completion.
type Choice struct {
	Text string
	Help string
	Hint bool // a placeholder, not to be typed
}

// Shell is what stands behind the prompt.
type Shell interface {
	// Prompt returns the prompt of the next line.
	Prompt() string
	// Run runs a line and writes its output.
	Run(line string) Result
	// Loading reports whether the next line is text and no command: it has no help, no completion and no
	// place in the history, and Ctrl-D ends the text.
	Loading() bool
	// Cancel stops the line that runs. It is called from another goroutine.
	Cancel()
	// Complete returns what may stand at the end of the text and where in it the completed word begins.
	Complete(text string) (start int, choices []Choice)
	// Help returns what "?" shows at the end of the text.
	Help(text string) string
}

// Result tells what a line means for the prompt.
type Result struct {
	Done   bool // it was the last one
	Forget bool // it must not come into the history
}

// endOfText is the line that Ctrl-D makes while text is loaded.
const endOfText = "\x04"

// Terminal is an interactive prompt on the controlling terminal.
type Terminal struct {
	shell Shell
	input *input
	out   io.Writer
	menu  bool // TAB was pressed: show what it could mean
	done  bool
	// forgotten is set when the last line must not stay in go-prompt's own history: go-prompt is begun anew.
	forgotten bool
	history   []string
	search    search
	rows      func(text string) int // how many screen rows lie below the first one of the line
}

// Run reads lines until the shell is done, or until Ctrl-D on an empty line for which leave, run as
// a line, says that it is done.
func Run(shell Shell, leave string) error {
	fd := int(os.Stdin.Fd())
	saved, err := term.GetState(fd)
	if err != nil {
		return fmt.Errorf("read terminal state: %w", err)
	}
	defer term.Restore(fd, saved)
	tty, err := os.Open("/dev/tty") // go-prompt reads from there, and panics if it cannot
	if err != nil {
		return fmt.Errorf("open the controlling terminal (without one, give lines by -c or a pipe): %w", err)
	}
	tty.Close()
	t := &Terminal{shell: shell, input: newInput(fd, saved), out: os.Stdout}
	t.rows = func(text string) int { return rowsBelow(shell.Prompt()+text, int(os.Stdout.Fd())) }
	for !t.done && !t.input.gone {
		t.forgotten = false
		t.loop()
		switch {
		case t.done || t.forgotten:
		case shell.Loading():
			t.execute(endOfText)
		default:
			t.execute(leave)
		}
	}
	return nil
}

// loop runs go-prompt until it ends by Ctrl-D, because the shell is done, or to forget a line.
func (t *Terminal) loop() {
	p := goprompt.New(
		t.execute,
		t.suggest,
		goprompt.OptionParser(t.input),
		goprompt.OptionLivePrefix(func() (string, bool) { return t.prefix(), true }),
		goprompt.OptionPrefixTextColor(goprompt.DefaultColor),
		goprompt.OptionHistory(slices.Clone(t.history)),
		goprompt.OptionMaxSuggestion(8),
		goprompt.OptionCompletionWordSeparator(" "),
		goprompt.OptionSetExitCheckerOnInput(func(_ string, entered bool) bool { return entered && (t.done || t.forgotten) }),
		goprompt.OptionAddKeyBind(goprompt.KeyBind{Key: goprompt.Tab, Fn: t.tab}, goprompt.KeyBind{Key: goprompt.ControlR, Fn: t.searchBack}),
		goprompt.OptionAddASCIICodeBind(goprompt.ASCIICodeBind{ASCIICode: []byte{'?'}, Fn: t.question}),
	)
	p.Run()
}

// prefix is the prompt; none after the last line, which go-prompt would draw once more.
func (t *Terminal) prefix() string {
	if t.done || t.forgotten {
		return ""
	}
	return t.shell.Prompt()
}

// execute runs a line while Ctrl-C means "stop it" and not "leave".
func (t *Terminal) execute(line string) {
	t.menu = false
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	finished := make(chan struct{})
	defer close(finished)
	go func() {
		for {
			select {
			case <-interrupts:
				fmt.Fprintln(t.out) // behind the terminal's ^C
				t.shell.Cancel()
			case <-finished:
				return
			}
		}
	}()
	loading := t.shell.Loading()
	if strings.TrimSpace(line) == "" && !loading {
		return
	}
	r := t.shell.Run(line)
	t.done = r.Done
	t.forgotten = r.Forget || loading && !t.shell.Loading() // text is forgotten at its end, all at once
	if !r.Forget && !loading {
		t.history = append(t.history, line)
	}
}
