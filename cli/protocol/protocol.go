// Package protocol is what the operator's shell and the router say to each other over a Unix socket:
// JSON objects, one request and one answer at a time, except that Cancel may overtake.
//
//	shell                        router
//	Request{Hello, Version}  -->
//	                         <-- Answer{Version, Prompt}
//	Request{Line, Text}      -->
//	                         <-- Answer{More, Output}: of a line that streams, as often as it likes
//	                         <-- Answer{Output, Error, Prompt, ...}
//
// The router keeps the session: modes, candidate, history of nothing. A shell is a terminal and no
// more, so any version of it whose protocol number is the router's can serve.
package protocol

// Version is the number of the protocol. Fields are added without changing it; it changes when an old
// shell would misunderstand.
const Version = 2

// MaxRequestBytes bounds one request on the wire.
const MaxRequestBytes = 64 << 10

// Op is what a request wants.
type Op string

// The requests.
const (
	Hello    Op = "hello"    // first: Version, User
	Line     Op = "line"     // run Text
	Complete Op = "complete" // what may stand at the end of Text
	Help     Op = "help"     // what "?" shows at the end of Text
	Cancel   Op = "cancel"   // stop the line that runs; has no answer of its own
)

// Request is what the shell says.
type Request struct {
	Op      Op     `json:"op"`
	Text    string `json:"text,omitempty"`
	Version int    `json:"version,omitempty"`
	// User is the operator for whom a privileged shell speaks (by sudo or SSH); the router believes
	// it only of root.
	User string `json:"user,omitempty"`
}

// Answer is what the router says.
type Answer struct {
	Version int    `json:"version,omitempty"` // to Hello
	Prompt  string `json:"prompt,omitempty"`  // for the next line
	Output  string `json:"output,omitempty"`
	Error   string `json:"error,omitempty"`
	Column  int    `json:"column"`          // byte offset of the fault in Text, -1: none
	Leave   bool   `json:"leave,omitempty"` // the session is over
	Dirty   bool   `json:"dirty,omitempty"` // there are uncommitted edits
	// More tells that this is a piece of the output, and that the answer to the line is still to come.
	More bool `json:"more,omitempty"`
	// Text tells that the next lines are text that is loaded and not typed: no help, no completion and
	// no history for them.
	Text bool `json:"text,omitempty"`
	// Secret tells that the line had a secret in it, which no history may keep.
	Secret bool `json:"secret,omitempty"`
	// Page is how the output is shown on a terminal: a page of so many lines at a time; 0: of the
	// terminal's height; -1: not in pages.
	Page    int      `json:"page,omitempty"`
	Start   int      `json:"start,omitempty"` // to Complete: where the completed word begins in Text
	Choices []Choice `json:"choices,omitempty"`
}

// Choice is one completion.
type Choice struct {
	Text string `json:"text"`
	Help string `json:"help,omitempty"`
	Hint bool   `json:"hint,omitempty"` // a placeholder, not to be typed
}
