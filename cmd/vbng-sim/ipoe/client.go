package ipoe

import (
	"net/netip"
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
	Deadline time.Duration // of IPv4; 0: never. The IPv6 side has its own
	End      End           // valid in phase Ended

	Addr       frame.Addr // zero: none
	Gateway    frame.Addr
	GatewayMAC frame.MAC
	DNS        []frame.Addr
	IPv6       *host6.Client // nil: not wanted

	server    frame.Addr
	serverMAC frame.MAC
	xid       uint32
	began     time.Duration // of the exchange
	sent      int           // transmissions of what the phase repeats
	t1, t2    time.Duration // 0: never
	expiry    time.Duration // of the lease; 0: never

	out [][]byte
}

// New returns an idle client.
func New(settings *Settings, id life.Identity) *Client {
	return &Client{Identity: id, settings: settings}
}

// Start begins a set-up from nothing.
func (c *Client) Start(now time.Duration) [][]byte {
	*c = Client{Identity: c.Identity, settings: c.settings}
	if c.settings.IPv6 != nil {
		c.IPv6 = host6.New(c.settings.IPv6, c.MAC)
	}
	if c.settings.IPv4 {
		c.startDiscover(now)
	} else {
		c.startIPv6(now)
	}
	return c.flush()
}

// Receive takes a frame on the client's VLANs to its MAC address or to a group, but for user data.
func (c *Client) Receive(now time.Duration, e frame.Ethernet) [][]byte {
	if c.Phase == Silent || c.Phase == Idle || c.Phase == Ended {
		return nil
	}
	switch e.Type {
	case frame.TypeARP:
		c.receiveARP(now, e)
	case frame.TypeIPv4:
		c.receiveIPv4(now, e)
	case frame.TypeIPv6:
		if p, err := frame.ParseIPv6(e.Payload); err == nil && c.IPv6 != nil {
			c.IPv6.Receive(now, p, e.Src)
			c.follow(now)
		}
	}
	return c.flush()
}

// Expire is called when the earlier of the deadlines has come.
func (c *Client) Expire(now time.Duration) [][]byte {
	if passed(c.Deadline, now) {
		c.Deadline = 0
		c.expire(now)
	}
	if c.IPv6 != nil && c.Phase != Ended && c.Phase != Silent {
		c.IPv6.Expire(now)
		c.follow(now)
	}
	return c.flush()
}

// startIPv6 begins what comes behind IPv4, or ends the set-up.
func (c *Client) startIPv6(now time.Duration) {
	if c.IPv6 == nil {
		c.Phase, c.Deadline = Up, c.t1
		return
	}
	c.Phase, c.Deadline = Network6, c.t1
	c.IPv6.Start(now, c.MAC.EUI64())
	c.follow(now)
}

// follow acts on where the IPv6 side stands.
func (c *Client) follow(now time.Duration) {
	switch six := c.IPv6; {
	case six.Phase == host6.Failed:
		c.End.IPv6 = six.Cause
		c.giveBackIPv4()
		c.finish(CauseIPv6, six.Message)
	case c.Phase == Network6 && six.Phase.Usable():
		c.Phase = Up
	case c.Phase == Closing && six.Phase == host6.Released:
		c.giveBackIPv4()
		c.finish(CauseClosed, "")
	}
}

// Close gives back what was leased.
func (c *Client) Close(now time.Duration) [][]byte {
	switch {
	case c.Phase >= Closing:
	case c.IPv6 != nil && c.Phase >= Network6:
		c.Phase, c.Deadline = Closing, 0
		c.IPv6.GiveBack(now)
		c.follow(now)
	default:
		c.giveBackIPv4()
		c.finish(CauseClosed, "")
	}
	return c.flush()
}

// Renewal asks for a renewal of all leases now.
func (c *Client) Renewal(now time.Duration) [][]byte {
	if c.Phase == Up && c.settings.IPv4 {
		c.startRenewal(now)
	}
	if c.Phase.Usable() && c.IPv6 != nil {
		c.IPv6.Renewal(now)
	}
	return c.flush()
}

// Silence makes the client deaf and mute, like one whose line was cut.
func (c *Client) Silence() {
	if c.Phase != Ended {
		c.Phase, c.Deadline = Silent, 0
	}
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
			c.out = append(c.out, c.frame6(p))
		}
	}
	out := c.out
	c.out = nil
	return out
}

// Who returns who the client is.
func (c *Client) Who() *life.Identity { return &c.Identity }

// State tells where the client stands.
func (c *Client) State() life.State {
	s := life.State{Stage: c.stage(), Phase: c.Phase.String(), Deadline: c.Deadline}
	switch {
	case s.Stage == life.Ended:
		s.Closed, s.Cause, s.Message = c.End.Cause == CauseClosed, c.End.Name(), c.End.Message
	case s.Stage != life.Silent && c.IPv6 != nil:
		s.Deadline = earlier(c.Deadline, c.IPv6.Deadline)
		if c.Phase == Network6 || c.Phase == Closing {
			s.Phase = c.IPv6.Phase.String()
		}
	}
	return s
}

func (c *Client) stage() life.Stage {
	switch {
	case c.Phase == Idle:
		return life.Idle
	case c.Phase < Up:
		return life.SettingUp
	case c.Phase.Usable():
		return life.Up
	case c.Phase == Closing:
		return life.Closing
	case c.Phase == Ended:
		return life.Ended
	}
	return life.Silent
}

// Addresses are those that the client has at present.
func (c *Client) Addresses() (a life.Addresses) {
	if c.Addr != (frame.Addr{}) {
		a.IPv4 = netip.AddrFrom4(c.Addr)
	}
	if c.IPv6 != nil {
		a.SLAAC, a.Assigned, a.Delegated = c.IPv6.SLAAC, c.IPv6.Assigned, c.IPv6.Delegated
	}
	return a
}

// SessionID is 0: there are none in IPoE.
func (c *Client) SessionID() uint16 { return 0 }

// passed and earlier take 0 for never.

func passed(moment, now time.Duration) bool { return moment != 0 && now >= moment }

func earlier(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return a + b
	}
	return min(a, b)
}
