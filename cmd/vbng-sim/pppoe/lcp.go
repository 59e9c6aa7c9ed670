package pppoe

import (
	"encoding/binary"
	"fmt"
	"time"

	"vbng/cmd/vbng-sim/frame"
)

// LCP options (RFC 1661 section 6).
const (
	optionMRU   = 1
	optionAuth  = 3
	optionMagic = 5
)

const (
	minimumMRU      = 128 // bytes; below it IP over the link is no use to anybody
	chapMD5         = 5   // RFC 1994 section 3: algorithm
	authOptionBytes = 2
)

// lcpOptions is what we ask of LCP, and what the router asked of us.
type lcpOptions struct {
	mru      uint16 // 0: not asked
	magic    uint32 // 0: not asked
	demanded Method // by the router
	nextID   byte   // identifiers of all control protocols count here
}

// echo watches the router: our Echo-Requests that were not answered.
type echo struct {
	unanswered int
}

// startLink begins LCP; mru is the most that we and the way to the router take, in bytes.
func (c *Client) startLink(now time.Duration, mru uint16) {
	c.Phase = Link
	c.lcp = negotiation{protocol: frame.ProtocolLCP}
	c.lcpOptions = lcpOptions{mru: mru, magic: c.newMagic()}
	c.sendConfigure(now, &c.lcp)
}

// newMagic draws a number that is not zero (RFC 1661 section 6.4).
func (c *Client) newMagic() uint32 { return max(c.settings.Random(), 1) }

func (o lcpOptions) append(b []byte) []byte {
	if o.mru != 0 {
		b = appendOption(b, optionMRU, byte(o.mru>>8), byte(o.mru))
	}
	if o.magic != 0 {
		b = append(b, optionMagic, 6)
		b = binary.BigEndian.AppendUint32(b, o.magic)
	}
	return b
}

// judgeLCP answers the router's options: those we do not know are rejected first, then those we
// know but dislike are naked (RFC 1661 section 5).
func (c *Client) judgeLCP(options []option) (code byte, reply []byte) {
	var rejects, naks []byte
	demanded := MethodAny
	for _, o := range options {
		switch {
		case o.kind == optionMRU && len(o.value) == 2:
			if binary.BigEndian.Uint16(o.value) < minimumMRU {
				naks = appendOption(naks, optionMRU, 0, minimumMRU)
			}
		case o.kind == optionMagic && len(o.value) == 4:
			naks = c.judgeMagic(naks, binary.BigEndian.Uint32(o.value))
		case o.kind == optionAuth && len(o.value) >= authOptionBytes:
			if demanded = methodOf(o.value); !c.settings.Method.permits(demanded) {
				naks = c.settings.Method.append(naks)
			}
		default:
			rejects = appendOption(rejects, o.kind, o.value...)
		}
	}
	switch {
	case rejects != nil:
		return configureReject, rejects
	case naks != nil:
		return configureNak, naks
	}
	c.lcpOptions.demanded = demanded
	return configureAck, nil
}

// judgeMagic naks our own number: the link is looped back, or chance made both draw the same.
func (c *Client) judgeMagic(naks []byte, magic uint32) []byte {
	if magic != 0 && magic != c.lcpOptions.magic {
		return naks
	}
	return binary.BigEndian.AppendUint32(append(naks, optionMagic, 6), c.newMagic())
}

// methodOf reads an Authentication-Protocol option; MethodAny means one that we do not speak.
func methodOf(value []byte) Method {
	switch binary.BigEndian.Uint16(value) {
	case frame.ProtocolPAP:
		return MethodPAP
	case frame.ProtocolCHAP:
		if len(value) == authOptionBytes+1 && value[authOptionBytes] == chapMD5 {
			return MethodCHAP
		}
	}
	return MethodAny
}

func (m Method) permits(demanded Method) bool {
	return demanded != MethodAny && (m == MethodAny || m == demanded)
}

// append writes the Authentication-Protocol option that we would agree to.
func (m Method) append(b []byte) []byte {
	if m == MethodPAP {
		return appendOption(b, optionAuth, frame.ProtocolPAP>>8, frame.ProtocolPAP&0xff)
	}
	return appendOption(b, optionAuth, frame.ProtocolCHAP>>8, frame.ProtocolCHAP&0xff, chapMD5)
}

// reviseLCP changes our wishes after a Nak or Reject. Options in a Nak that we did not ask for are
// left alone: we need none of them.
func (c *Client) reviseLCP(code byte, options []option) {
	for _, o := range options {
		switch {
		case o.kind == optionMRU && code == configureReject:
			c.lcpOptions.mru = 0
		case o.kind == optionMRU && len(o.value) == 2:
			c.lcpOptions.mru = min(binary.BigEndian.Uint16(o.value), c.settings.MRU)
		case o.kind == optionMagic && code == configureReject:
			c.lcpOptions.magic = 0
		case o.kind == optionMagic:
			c.lcpOptions.magic = c.newMagic()
		}
	}
}

// receiveLCPOnly takes the codes that only LCP has; false: the code is unknown.
func (c *Client) receiveLCPOnly(p packet) bool {
	switch p.code {
	case protocolReject:
		c.receiveProtocolReject(p)
	case echoRequest:
		c.answerEcho(p)
	case echoReply:
		c.echo.unanswered = 0
	case discardRequest:
	default:
		return false
	}
	return true
}

// receiveProtocolReject ends the session when the router does not speak what we cannot do without.
func (c *Client) receiveProtocolReject(p packet) {
	if len(p.data) < 2 {
		return
	}
	switch protocol := binary.BigEndian.Uint16(p.data); protocol {
	case frame.ProtocolLCP, frame.ProtocolPAP, frame.ProtocolCHAP, frame.ProtocolIPCP, frame.ProtocolIPv4,
		frame.ProtocolIPV6CP, frame.ProtocolIPv6:
		c.end(CauseProtocolRejected, fmt.Sprintf("router rejects protocol %#04x", protocol))
	}
}

// answerEcho replies with our magic number and the data as received (RFC 1661 section 5.8).
func (c *Client) answerEcho(p packet) {
	if !c.lcp.opened() || len(p.data) < 4 {
		return
	}
	data := binary.BigEndian.AppendUint32(nil, c.lcpOptions.magic)
	c.sendControl(frame.ProtocolLCP, echoReply, p.id, append(data, p.data[4:]...))
}

func (c *Client) armEcho(now time.Duration) {
	c.echo = echo{}
	if c.settings.EchoInterval > 0 {
		c.Deadline = now + c.settings.EchoInterval
	}
}

func (c *Client) sendEcho(now time.Duration) {
	if c.echo.unanswered >= c.settings.EchoMax {
		c.end(CauseEchoTimeout, "")
		return
	}
	c.echo.unanswered++
	c.lcpOptions.nextID++
	c.sendControl(frame.ProtocolLCP, echoRequest, c.lcpOptions.nextID,
		binary.BigEndian.AppendUint32(nil, c.lcpOptions.magic))
	c.Deadline = now + c.settings.EchoInterval
}
