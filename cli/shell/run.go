package shell

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"vbng/cli/grammar"
	"vbng/cli/render"
	"vbng/control/line"
	"vbng/control/oper"
	"vbng/control/schema"
)

// run finds out what kind of line it is and does it.
func (s *Session) run(ctx context.Context, words []line.Word) (string, error) {
	tokens, err := line.Match(s.items(), words)
	if order, ok := grammar.Read(tokens); ok && err == nil {
		return s.obey(ctx, order, tokens)
	}
	if !s.configuring() || s.isCommand(tokens) {
		return "", err
	}
	return "", s.configure(tokens, words, err)
}

// isCommand reports whether the first word decides that a line in configuration mode is none of
// configuration.
func (s *Session) isCommand(tokens []line.Token) bool {
	return len(tokens) > 0 && tokens[0].Item.Tag != no && slices.Contains(s.commands, tokens[0].Item)
}

// obey runs a command and makes text of its answer.
func (s *Session) obey(ctx context.Context, o grammar.Order, tokens []line.Token) (string, error) {
	s.audit(o, tokens)
	ctx, cancel := context.WithTimeout(ctx, s.options.Patience)
	defer cancel()
	answer, err := o.Command.Run(ctx, oper.Call{Args: o.Args, User: s.user})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "", fmt.Errorf("%s: no answer within %v", o.Command.Words, s.options.Patience)
	case errors.Is(err, context.Canceled):
		return "", errors.New("interrupted")
	case err != nil:
		return "", err
	}
	if o.JSON {
		return render.JSON(answer)
	}
	text := render.Text(answer)
	for _, f := range o.Filters {
		if text, err = f.Apply(text); err != nil {
			return "", err
		}
	}
	return text, nil
}

// audit logs who ordered something; looking is not logged, and commits are logged by their manager.
func (s *Session) audit(o grammar.Order, tokens []line.Token) {
	verb, _, more := strings.Cut(o.Command.Words, " ")
	if verb == "show" || !more {
		return
	}
	var text []string
	for _, t := range tokens {
		word := line.Quote(t.Text)
		if t.Item.Type != nil && t.Item.Type.Secret() {
			word = schema.Hidden
		}
		text = append(text, word)
	}
	s.options.Logger.Info("operator command", "user", s.user, "line", strings.Join(text, " "))
}
