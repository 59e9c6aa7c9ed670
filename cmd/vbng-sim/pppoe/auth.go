package pppoe

import (
	"crypto/md5"
	"time"

	"vbng/cmd/vbng-sim/frame"
)

// Codes of PAP (RFC 1334 section 2.2) and CHAP (RFC 1994 section 4).
const (
	papRequest    = 1
	papAck        = 2
	papNak        = 3
	chapChallenge = 1
	chapResponse  = 2
	chapSuccess   = 3
	chapFailure   = 4
)

// auth is the running exchange.
type auth struct {
	first byte // identifier of our first PAP request
	id    byte // of our last PAP request or CHAP response
	sent  int  // PAP requests, or waits for CHAP's next word
}

// startAuth enters the authentication phase, or passes it by if the router demands none.
func (c *Client) startAuth(now time.Duration) {
	c.Used, c.auth = c.lcpOptions.demanded, auth{}
	if c.Used == MethodAny {
		c.startNetwork(now)
		return
	}
	c.Phase = Authenticate
	c.repeatAuth(now)
}

// repeatAuth sends the PAP request again. In CHAP the router repeats; we only count how long it is
// silent.
func (c *Client) repeatAuth(now time.Duration) {
	if c.auth.sent >= c.settings.ConfigureMax {
		c.end(CauseAuthTimeout, "")
		return
	}
	c.auth.sent++
	c.Deadline = now + c.settings.RestartWait
	if c.Used == MethodPAP {
		c.lcpOptions.nextID++
		c.auth.id = c.lcpOptions.nextID
		if c.auth.sent == 1 {
			c.auth.first = c.auth.id
		}
		data := append([]byte{byte(len(c.User))}, c.User...)
		data = append(append(data, byte(len(c.Password))), c.Password...)
		c.sendControl(frame.ProtocolPAP, papRequest, c.auth.id, data)
	}
}

func (c *Client) receiveAuth(now time.Duration, protocol uint16, b []byte) {
	p, err := parsePacket(b)
	if err != nil || c.Phase < Authenticate || c.Phase > Up {
		return
	}
	switch {
	case protocol == frame.ProtocolPAP && c.Used == MethodPAP:
		c.receivePAP(now, p)
	case protocol == frame.ProtocolCHAP && c.Used == MethodCHAP:
		c.receiveCHAP(now, p)
	}
}

func (c *Client) receivePAP(now time.Duration, p packet) {
	// Each request has its own identifier (RFC 1334 section 2.2.1); a slow answer to an earlier
	// one is as good.
	if c.Phase != Authenticate || p.id-c.auth.first > c.auth.id-c.auth.first {
		return
	}
	switch p.code {
	case papAck:
		c.startNetwork(now)
	case papNak:
		c.end(CauseAuthRejected, papMessage(p.data))
	}
}

// papMessage reads the counted text of a PAP Ack or Nak.
func papMessage(b []byte) string {
	if len(b) == 0 || int(b[0]) > len(b)-1 {
		return ""
	}
	return string(b[1 : 1+b[0]])
}

// receiveCHAP answers challenges at any time (RFC 1994 section 2 permits them on an open link), and
// takes the verdict.
func (c *Client) receiveCHAP(now time.Duration, p packet) {
	switch {
	case p.code == chapChallenge:
		c.answerChallenge(now, p)
	case p.id != c.auth.id:
	case p.code == chapSuccess && c.Phase == Authenticate:
		c.startNetwork(now)
	case p.code == chapFailure:
		c.end(CauseAuthRejected, string(p.data))
	}
}

// answerChallenge responds with MD5(identifier, secret, challenge) (RFC 1994 section 4.1).
func (c *Client) answerChallenge(now time.Duration, p packet) {
	if len(p.data) == 0 || p.data[0] == 0 || int(p.data[0]) > len(p.data)-1 {
		return
	}
	challenge := p.data[1 : 1+p.data[0]]
	digest := chapDigest(p.id, c.Password, challenge)
	c.auth.id = p.id
	data := append([]byte{md5.Size}, digest[:]...)
	c.sendControl(frame.ProtocolCHAP, chapResponse, p.id, append(data, c.User...))
	if c.Phase == Authenticate {
		c.Deadline = now + c.settings.RestartWait
	}
}

func chapDigest(id byte, secret string, challenge []byte) [md5.Size]byte {
	b := append([]byte{id}, secret...)
	return md5.Sum(append(b, challenge...))
}

// startNetwork enters the network phase.
func (c *Client) startNetwork(now time.Duration) {
	c.Phase = Network
	c.ipcp = negotiation{protocol: frame.ProtocolIPCP}
	c.ipcpAsks = ipcpOptions{address: true, dns: [2]bool{true, true}}
	c.Addr, c.RouterIP, c.DNS = frame.Addr{}, frame.Addr{}, [2]frame.Addr{}
	c.ip6cp = negotiation{protocol: frame.ProtocolIPV6CP}
	c.IPv6, c.identifier = nil, c.MAC.EUI64()
	c.sendConfigure(now, &c.ipcp)
}
