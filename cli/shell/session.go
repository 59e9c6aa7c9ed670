package shell

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"vbng/cli/grammar"
	"vbng/cli/render"
	"vbng/control/commit"
	"vbng/control/config"
	"vbng/control/line"
	"vbng/control/oper"
)

// Options is what sessions need.
type Options struct {
	Manager  *commit.Manager
	Registry *oper.Registry
	Logger   *slog.Logger
	// Patience bounds how long a command may take; 0: a minute.
	Patience time.Duration
}

// Session is one operator at work. It is not safe for concurrent use.
type Session struct {
	options   Options
	user      string
	candidate *commit.Candidate
	grammar   *config.Grammar
	exec      []*line.Item // what a line may begin with
	commands  []*line.Item // the same in configuration mode, besides configuration
	modes     []mode       // open configuration modes, outermost first; none: exec mode
	reply     Reply        // to the line that runs
	loading   *loading     // text that is being read, nil: none
	waited    bool         // a commit waited for confirmation when the last line was over
	page      int          // lines of a page, 0: as the terminal has, -1: no pages
}

// Reply answers one line.
type Reply struct {
	Output string
	Error  string // empty: all went well
	Column int    // byte offset of the fault in the line, -1: none
	Leave  bool   // the session is over
	Secret bool   // the line had a secret in it
	NoMore bool   // the output is not shown in pages
}

// New returns a session in exec mode for the user of that name.
func New(o Options, user string) *Session {
	if o.Patience == 0 {
		o.Patience = time.Minute
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	s := &Session{options: o, user: user, candidate: o.Manager.Candidate()}
	s.grammar = config.NewLiveGrammar(o.Manager.Schema(), s.trees)
	all := o.Registry.All()
	s.exec = grammar.Commands(append(s.execCommands(), all...))
	s.commands = append(grammar.Commands(append(s.configCommands(), shows(all)...)), s.prefixes()...)
	return s
}

// trees are where the names that completion offers stand.
func (s *Session) trees() []*config.Tree {
	running, _ := s.options.Manager.Running()
	return []*config.Tree{s.candidate.Tree(), running}
}

// shows returns the commands that configuration mode has too.
func shows(all []*oper.Command) []*oper.Command {
	var some []*oper.Command
	for _, c := range all {
		if strings.HasPrefix(c.Words, "show ") {
			some = append(some, c)
		}
	}
	return some
}

// Prompt returns the prompt for the next line.
func (s *Session) Prompt() string {
	running, _ := s.options.Manager.Running()
	name := running.Text("hostname")
	if name == "" {
		name = "vbng"
	}
	if s.loading != nil {
		return loadPrompt
	}
	if _, waits := s.options.Manager.Unconfirmed(); waits {
		name += "[unconfirmed]"
	}
	if !s.configuring() {
		return name + "# "
	}
	return name + "(" + s.mode().suffix() + ")# "
}

// Greeting is what the operator should know before anything else; usually nothing.
func (s *Session) Greeting() string {
	var b strings.Builder
	if failed := len(s.options.Manager.Failed()); failed > 0 {
		fmt.Fprintf(&b, "The configuration had faults at start: %d, see \"show configuration failed\".\n", failed)
	}
	if u, waits := s.options.Manager.Unconfirmed(); waits {
		b.WriteString(u.Error() + ".\n")
	}
	return b.String()
}

// news tells an operator who has seen a commit wait that the router has gone back meanwhile.
func (s *Session) news() string {
	_, waits := s.options.Manager.Unconfirmed()
	if _, r := s.options.Manager.Running(); s.waited && !waits && r.User == commit.Router {
		return fmt.Sprintf("Note: %s (now revision %d).\n", r.Comment, r.Number)
	}
	return ""
}

// Loading reports whether the next line is text that is loaded and no command.
func (s *Session) Loading() bool { return s.loading != nil }

// Page is how many lines of output make a page: 0 as many as the terminal has, -1 all.
func (s *Session) Page() int { return s.page }

// Dirty reports whether there are edits that are not committed.
func (s *Session) Dirty() bool { return s.candidate.Dirty() }

// User returns the operator's name.
func (s *Session) User() string { return s.user }

// Line runs one line. What a streaming command says is in the output.
func (s *Session) Line(ctx context.Context, text string) Reply {
	var before strings.Builder
	r := s.Follow(ctx, text, func(piece string) bool { before.WriteString(piece); return true })
	r.Output = before.String() + r.Output
	return r
}

// Follow runs one line and hands the pieces of a streaming command on as they come; piece returns false when
// nobody takes them any more.
func (s *Session) Follow(ctx context.Context, text string, piece func(string) bool) (r Reply) {
	defer func() {
		if p := recover(); p != nil {
			s.options.Logger.Error("command panicked", "user", s.user, "panic", p, "stack", string(debug.Stack()))
			r = Reply{Error: fmt.Sprintf("internal error: %v (reported in the log)", p), Column: -1}
		}
	}()
	if s.loading != nil {
		return s.takes(text)
	}
	body := strings.TrimSpace(text)
	if body == "!" && len(s.modes) > 1 {
		s.up() // as in a file, so that what is printed can be pasted
		return Reply{Column: -1}
	}
	if body == "" || body[0] == '!' {
		return Reply{Column: -1}
	}
	words, err := line.Split(text)
	if err != nil {
		return failure(err)
	}
	s.reply = Reply{}
	news := s.news()
	output, err := s.run(ctx, words, piece)
	_, s.waited = s.options.Manager.Unconfirmed()
	output = news + output
	r = Reply{Column: -1}
	if err != nil {
		r = failure(err)
	}
	r.Output, r.Leave, r.Secret, r.NoMore = output, s.reply.Leave, s.reply.Secret, s.reply.NoMore
	return r
}

func failure(err error) Reply {
	if at, ok := err.(*line.Error); ok {
		return Reply{Error: render.Printable(at.Text), Column: at.Column}
	}
	return Reply{Error: render.Printable(err.Error()), Column: -1}
}
