package pppoe

import (
	"time"

	"vbng/cmd/vbng-sim/frame"
	"vbng/cmd/vbng-sim/host6"
	"vbng/cmd/vbng-sim/life"
)

// Client is one subscriber. Times are distances from the start of the run.
type Client struct {
	life.Identity
	settings *Settings

	Phase    Phase
	Deadline time.Duration // of PPP; 0: never. The IPv6 side has its own
	End      End           // valid in phase Ended

	AC       frame.MAC
	Session  uint16 // 0 before PADS
	Addr     frame.Addr
	RouterIP frame.Addr
	DNS      [2]frame.Addr
	Used     Method            // MethodAny: the router did not ask
	IPv6     *host6.Client     // nil: not wanted
	RouterID frame.InterfaceID // by IPV6CP

	hostUniq [8]byte
	life     uint32 // counts set-ups, so that an answer to an earlier one is recognised
	offer    offer
	sent     int // transmissions of what the phase repeats

	lcp        negotiation
	lcpOptions lcpOptions
	ipcp       negotiation
	ipcpAsks   ipcpOptions
	ip6cp      negotiation
	identifier frame.InterfaceID // ours; zero: the router rejected the option
	auth       auth
	echo       echo

	out [][]byte
}

// New returns an idle client.
func New(settings *Settings, id life.Identity) *Client {
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
	return c.Session != 0 && session == c.Session && from == c.AC
}

// Expire is called when the earlier of the deadlines has come.
func (c *Client) Expire(now time.Duration) [][]byte {
	if c.Deadline != 0 && now >= c.Deadline {
		c.Deadline = 0
		c.expire(now)
	}
	if c.runsIPv6() {
		c.IPv6.Expire(now)
		c.followIPv6(now)
	}
	return c.flush()
}

func (c *Client) expire(now time.Duration) {
	switch c.Phase {
	case Discovery, Request:
		c.repeatDiscovery(now)
	case Link:
		c.repeatConfigure(now, &c.lcp)
	case Authenticate:
		c.repeatAuth(now)
	case Network:
		c.repeatConfigure(now, &c.ipcp)
	case Network6:
		c.repeatConfigure(now, &c.ip6cp)
	case Up:
		c.sendEcho(now)
	case Closing:
		c.repeatTerminate(now)
	}
}

// Close ends the session in good order.
func (c *Client) Close(now time.Duration) [][]byte {
	switch c.Phase {
	case Idle, Discovery, Request:
		c.end(CauseClosed, "")
	case Link, Authenticate, Network, Network6, Up:
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
	if c.Session != 0 {
		c.sendPADT()
	}
	c.finish(cause, message)
}

// finish is the one way into phase Ended.
func (c *Client) finish(cause Cause, message string) {
	c.End.Cause, c.End.Phase, c.End.Message = cause, c.Phase, message
	c.Phase, c.Deadline = Ended, 0
}

// flush takes what the client and its IPv6 side have to send.
func (c *Client) flush() [][]byte {
	if c.IPv6 != nil {
		for _, p := range c.IPv6.Take() {
			c.sendPPP(frame.ProtocolIPv6, p)
		}
	}
	out := c.out
	c.out = nil
	return out
}

// sendPPP queues one PPP packet on the session.
func (c *Client) sendPPP(protocol uint16, information []byte) {
	b := make([]byte, 0, 96)
	b = frame.AppendEthernet(b, c.AC, c.MAC, c.Tags, frame.TypeSession)
	b = frame.AppendPPP(b, c.Session, protocol, len(information))
	c.out = append(c.out, frame.Pad(append(b, information...)))
}
