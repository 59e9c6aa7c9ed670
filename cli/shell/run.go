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
func (s *Session) run(ctx context.Context, words []line.Word, piece func(string) bool) (string, error) {
	tokens, err := line.Match(s.items(), words)
	s.reply.Secret = secret(tokens)
	if order, ok := grammar.Read(tokens); ok && err == nil {
		return s.obey(ctx, order, tokens, piece)
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
func (s *Session) obey(ctx context.Context, o grammar.Order, tokens []line.Token, piece func(string) bool) (string, error) {
	s.audit(o, tokens)
	pipeline, err := render.NewPipeline(o.Filters)
	if err != nil {
		return "", err
	}
	s.reply.NoMore = o.NoMore
	if o.Command.Stream != nil {
		s.reply.NoMore = true
		return s.follow(ctx, o, pipeline, piece)
	}
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
	text, err := rendered(o, answer)
	if err != nil {
		return "", err
	}
	text = pipeline.Write(text)
	return text + pipeline.Close(), nil
}

// secret reports whether a secret is among the words.
func secret(tokens []line.Token) bool {
	return slices.ContainsFunc(tokens, func(t line.Token) bool { return t.Item.Type != nil && t.Item.Type.Secret() })
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
