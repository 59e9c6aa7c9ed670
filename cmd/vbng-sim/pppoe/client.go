package pppoe

import (
	"time"

	"vbng/cmd/vbng-sim/frame"
)

// Client is one subscriber. Times are distances from the start of the run.
type Client struct {
	Identity
	settings *Settings

	Phase    Phase
	Deadline time.Duration // when Expire is due; 0: never
	End      End           // valid in phase Ended

	AC        frame.MAC
	SessionID uint16 // 0 before PADS
	Addr      frame.Addr
	RouterIP  frame.Addr
	DNS       [2]frame.Addr
	Used      Method // MethodAny: the router did not ask

	hostUniq [8]byte
	life     uint32 // counts set-ups, so that an answer to an earlier one is recognised
	offer    offer
	sent     int // transmissions of what the phase repeats

	lcp        negotiation
	lcpOptions lcpOptions
	ipcp       negotiation
	ipcpAsks   ipcpOptions
	auth       auth
	echo       echo

	out [][]byte
}

// New returns an idle client.
func New(settings *Settings, id Identity) *Client {
	return &Client{Identity: id, settings: settings}
}

// Start begins a set-up from nothing.
func (c *Client) Start(now time.Duration) [][]byte {
	*c = Client{Identity: c.Identity, settings: c.settings, life: c.life + 1}
	c.startDiscovery(now)
	return c.flush()
}

// Receive takes a frame that is addressed to the client's MAC on its VLANs, but for user data.
func (c *Client) Receive(now time.Duration, e frame.Ethernet) [][]byte {
	if c.Phase == Silent || c.Phase == Idle || c.Phase == Ended {
		return nil
	}
	p, err := frame.ParsePPPoE(e.Payload)
	if err != nil {
		return nil
	}
	switch e.Type {
	case frame.TypeDiscovery:
		c.receiveDiscovery(now, e.Src, p)
	case frame.TypeSession:
		if c.Mine(e.Src, p.Session) {
			c.receiveSession(now, p)
		}
	}
	return c.flush()
}

// Mine reports whether a session frame belongs to the client's present session.
func (c *Client) Mine(from frame.MAC, session uint16) bool {
	return c.SessionID != 0 && session == c.SessionID && from == c.AC
}

// Expire is called when the Deadline has come.
func (c *Client) Expire(now time.Duration) [][]byte {
	if c.Deadline == 0 || now < c.Deadline {
		return nil
	}
	c.Deadline = 0
	switch c.Phase {
	case Discovery, Request:
		c.repeatDiscovery(now)
	case Link:
		c.repeatConfigure(now, &c.lcp)
	case Authenticate:
		c.repeatAuth(now)
	case Network:
		c.repeatConfigure(now, &c.ipcp)
	case Up:
		c.sendEcho(now)
	case Closing:
		c.repeatTerminate(now)
	}
	return c.flush()
}

// Close ends the session in good order.
func (c *Client) Close(now time.Duration) [][]byte {
	switch c.Phase {
	case Idle, Discovery, Request:
		c.end(CauseClosed, "")
	case Link, Authenticate, Network, Up:
		c.Phase, c.sent = Closing, 0
		c.repeatTerminate(now)
	}
	return c.flush()
}

// Silence makes the client deaf and mute, like one whose line was cut.
func (c *Client) Silence() {
	if c.Phase != Ended {
		c.Phase, c.Deadline = Silent, 0
	}
}

// end gives a session back with a PADT and finishes.
func (c *Client) end(cause Cause, message string) {
	if c.SessionID != 0 {
		c.sendPADT()
	}
	c.finish(cause, message)
}

// finish is the one way into phase Ended.
func (c *Client) finish(cause Cause, message string) {
	c.End = End{cause, c.Phase, message}
	c.Phase, c.Deadline = Ended, 0
}

func (c *Client) flush() [][]byte {
	out := c.out
	c.out = nil
	return out
}

// sendPPP queues one PPP packet on the session.
func (c *Client) sendPPP(protocol uint16, information []byte) {
	b := make([]byte, 0, 96)
	b = frame.AppendEthernet(b, c.AC, c.MAC, c.Tags, frame.TypeSession)
	b = frame.AppendPPP(b, c.SessionID, protocol, len(information))
	c.out = append(c.out, frame.Pad(append(b, information...)))
}
