package chain

import (
	"testing"

	"vbng/aaa"
)

// fixed is a method that always says the same.
func fixed(name string, answer aaa.Answer, final bool, asked *string) Method {
	return Method{Name: name, Ask: func(_ aaa.Request, done func(aaa.Answer, bool)) {
		*asked += name
		done(answer, final)
	}}
}

func TestOrder(t *testing.T) {
	grant := aaa.Answer{Grant: &aaa.Grant{}}
	tests := []struct {
		name  string
		chain func(asked *string) Chain
		asked string
		cause aaa.RejectCause // 0: grant
	}{
		{"empty", func(*string) Chain { return nil }, "", aaa.NoSuchMethod},
		{"first grants", func(a *string) Chain {
			return Chain{fixed("1", grant, true, a), fixed("2", grant, true, a)}
		}, "1", 0},
		{"a refusal is final", func(a *string) Chain {
			return Chain{fixed("1", refusal(aaa.BadCredentials), true, a), fixed("2", grant, true, a)}
		}, "1", aaa.BadCredentials},
		{"no answer goes on", func(a *string) Chain {
			return Chain{fixed("1", refusal(aaa.NoAnswer), false, a), fixed("2", grant, true, a)}
		}, "12", 0},
		{"unknown everywhere", func(a *string) Chain {
			return Chain{fixed("1", refusal(aaa.BadCredentials), false, a)}
		}, "1", aaa.BadCredentials},
		{"silent, then unknown", func(a *string) Chain {
			return Chain{fixed("1", refusal(aaa.NoAnswer), false, a), fixed("2", refusal(aaa.BadCredentials), false, a)}
		}, "12", aaa.NoAnswer},
		{"unknown, then silent", func(a *string) Chain {
			return Chain{fixed("1", refusal(aaa.BadCredentials), false, a), fixed("2", refusal(aaa.NoAnswer), false, a)}
		}, "12", aaa.NoAnswer},
	}
	for _, tt := range tests {
		var asked string
		calls := 0
		tt.chain(&asked).Authorize(aaa.Request{}, func(answer aaa.Answer) {
			calls++
			var cause aaa.RejectCause
			if answer.Reject != nil {
				cause = answer.Reject.Cause
			}
			if asked != tt.asked || cause != tt.cause {
				t.Errorf("%s: asked %q, cause %v", tt.name, asked, cause)
			}
		})
		if calls != 1 {
			t.Errorf("%s: done was called %d times", tt.name, calls)
		}
	}
}
