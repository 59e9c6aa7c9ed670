// Package chain asks the authentication methods in the configured order.
//
//	request --> method 1 --(no answer, unknown)--> method 2 --> ... --> answer
//	               |                                  |
//	               +---- grant or refusal: final -----+
//
// A refusal is final: the next method is asked only when the one before had nothing to say (no server
// answered, the name is unknown to it).
package chain

import "vbng/aaa"

// Method is one way to authorize. Ask calls done exactly once, on any goroutine; final false means
// that the answer, a refusal, is only for want of a better one.
type Method struct {
	Name string
	Ask  func(request aaa.Request, done func(answer aaa.Answer, final bool))
}

// Chain is an order of methods. It is not changed once made, so a request ends as it began.
type Chain []Method

// Authorize asks the methods in order; done is called exactly once, on any goroutine.
func (c Chain) Authorize(request aaa.Request, done func(aaa.Answer)) {
	c.ask(request, refusal(aaa.NoSuchMethod), done)
}

// ask asks the first method; fallback is the answer when none has a final one.
func (c Chain) ask(request aaa.Request, fallback aaa.Answer, done func(aaa.Answer)) {
	if len(c) == 0 {
		done(fallback)
		return
	}
	c[0].Ask(request, func(answer aaa.Answer, final bool) {
		if final {
			done(answer)
			return
		}
		c[1:].ask(request, worse(fallback, answer), done)
	})
}

// worse chooses what to tell when no method knew: that a server was silent says more than that a
// name is unknown, for the silent one might have known it.
func worse(before, now aaa.Answer) aaa.Answer {
	if before.Reject.Cause == aaa.NoAnswer {
		return before
	}
	return now
}

func refusal(cause aaa.RejectCause) aaa.Answer {
	return aaa.Answer{Reject: &aaa.Reject{Cause: cause}}
}
