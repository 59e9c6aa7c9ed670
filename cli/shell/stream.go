package shell

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"vbng/cli/grammar"
	"vbng/cli/render"
	"vbng/control/oper"
)

// errEnough ends a stream that has brought all the pieces that were asked for.
var errEnough = errors.New("enough")

// stream is the output of one streaming command on its way to the shell.
type stream struct {
	order    grammar.Order
	pipeline *render.Pipeline
	piece    func(text string) bool // to the shell; false: it is gone
	ended    func() bool            // the bound or the operator has ended it
	cancel   context.CancelCauseFunc
	bound    oper.Bound

	mu     sync.Mutex // emit may come from several goroutines
	pieces int
	over   bool
	fault  error // of rendering
}

// follow runs a streaming command until it ends, its bound is reached, or ctx ends. It returns what stands behind
// the last piece.
func (s *Session) follow(ctx context.Context, o grammar.Order, p *render.Pipeline, piece func(string) bool) (string, error) {
	call := oper.Call{Args: o.Args, User: s.user}
	f := &stream{order: o, pipeline: p, piece: piece, bound: o.Command.End(call)}
	timed, stop := context.WithTimeout(ctx, f.bound.Time)
	defer stop()
	inner, cancel := context.WithCancelCause(timed)
	defer cancel(nil)
	f.cancel, f.ended = cancel, func() bool { return inner.Err() != nil }
	err := o.Command.Stream(inner, call, f.emit)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
	return f.end(ctx, inner, err)
}

// emit is what the command calls for each piece.
func (f *stream) emit(piece any) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over || f.ended() {
		return false
	}
	text, err := rendered(f.order, piece)
	if err == nil && !f.piece(f.pipeline.Write(text)) {
		err = errors.New("the shell is gone")
	}
	f.pieces++
	switch {
	case err != nil:
		f.fault, f.over = err, true
		f.cancel(err)
	case f.pieces >= f.bound.Pieces:
		f.over = true
		f.cancel(errEnough)
	}
	return !f.over
}

// end tells why the stream has ended, unless the command had nothing more to say.
func (f *stream) end(asked, inner context.Context, err error) (string, error) {
	text := f.pipeline.Close()
	var last *oper.Farewell
	if errors.As(err, &last) {
		text, err = text+render.Printable(last.Text)+"\n", nil
	}
	switch {
	case f.fault != nil:
		return text, f.fault
	case errors.Is(context.Cause(inner), errEnough):
		return text + fmt.Sprintf("Ended after %d pieces.\n", f.pieces), nil
	case asked.Err() != nil:
		return text + fmt.Sprintf("Stopped after %d pieces.\n", f.pieces), nil
	case inner.Err() != nil:
		return text + fmt.Sprintf("Ended after %v.\n", f.bound.Time), nil
	}
	return text, err
}

func rendered(o grammar.Order, answer any) (string, error) {
	if o.JSON {
		return render.JSON(answer)
	}
	return render.Text(answer), nil
}
