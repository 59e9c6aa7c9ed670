// Package client connects to the router and speaks cli/protocol.
package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"vbng/cli/protocol"
)

// Client is a session with the router. Cancel may be called from another goroutine; the rest may not.
type Client struct {
	conn     net.Conn
	decoder  *json.Decoder
	prompt   string
	greeting string
	dirty    bool
	loading  bool

	mu      sync.Mutex // guards the encoder
	encoder *json.Encoder
}

// Dial connects to the router's socket. user names the operator if the caller runs as root for
// somebody else, and is empty otherwise.
func Dial(path, user string) (*Client, error) {
	conn, err := net.DialTimeout("unix", path, 5*time.Second)
	if err != nil {
		return nil, fmt.Errorf("connect to the router: %w (is vbngd running?)", err)
	}
	return New(conn, user)
}

// New begins a session over a connection.
func New(conn net.Conn, user string) (*Client, error) {
	c := &Client{conn: conn, decoder: json.NewDecoder(conn), encoder: json.NewEncoder(conn)}
	a, err := c.ask(protocol.Request{Op: protocol.Hello, Version: protocol.Version, User: user})
	if err == nil && a.Error != "" {
		err = errors.New(a.Error)
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("begin session: %w", err)
	}
	c.greeting = a.Output
	return c, nil
}

// Close ends the session; uncommitted edits are lost.
func (c *Client) Close() error { return c.conn.Close() }

// Prompt returns the prompt for the next line.
func (c *Client) Prompt() string { return c.prompt }

// Greeting returns what the router says to an operator who comes in; usually nothing.
func (c *Client) Greeting() string { return c.greeting }

// Dirty reports whether there are uncommitted edits.
func (c *Client) Dirty() bool { return c.dirty }

// Loading reports whether the router takes the next line as text that is loaded, and not as a command.
func (c *Client) Loading() bool { return c.loading }

// Line runs a line. What comes before its answer (of a stream) is written to out as it comes.
func (c *Client) Line(text string, out io.Writer) (protocol.Answer, error) {
	a, err := c.ask(protocol.Request{Op: protocol.Line, Text: text})
	for err == nil && a.More {
		if _, err = io.WriteString(out, a.Output); err != nil {
			return a, fmt.Errorf("write output: %w", err)
		}
		a, err = c.answer()
	}
	if err == nil {
		c.dirty, c.loading = a.Dirty, a.Text
	}
	return a, err
}

// Complete asks what may stand at the end of a text.
func (c *Client) Complete(text string) (protocol.Answer, error) {
	return c.ask(protocol.Request{Op: protocol.Complete, Text: text})
}

// Help asks for what "?" shows at the end of a text.
func (c *Client) Help(text string) (string, error) {
	a, err := c.ask(protocol.Request{Op: protocol.Help, Text: text})
	return a.Output, err
}

// Cancel stops the line that runs.
func (c *Client) Cancel() error { return c.send(protocol.Request{Op: protocol.Cancel}) }

func (c *Client) send(r protocol.Request) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.encoder.Encode(r); err != nil {
		return fmt.Errorf("ask the router: %w", err)
	}
	return nil
}

func (c *Client) ask(r protocol.Request) (protocol.Answer, error) {
	if err := c.send(r); err != nil {
		return protocol.Answer{}, err
	}
	return c.answer()
}

func (c *Client) answer() (protocol.Answer, error) {
	var a protocol.Answer
	if err := c.decoder.Decode(&a); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("the router has closed the session")
		}
		return a, fmt.Errorf("read answer: %w", err)
	}
	if a.Prompt != "" {
		c.prompt = a.Prompt
	}
	return a, nil
}
