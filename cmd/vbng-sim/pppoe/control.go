package pppoe

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"vbng/cmd/vbng-sim/frame"
)

// Codes of LCP and IPCP packets (RFC 1661 section 5).
const (
	configureRequest = 1
	configureAck     = 2
	configureNak     = 3
	configureReject  = 4
	terminateRequest = 5
	terminateAck     = 6
	codeReject       = 7
	protocolReject   = 8
	echoRequest      = 9
	echoReply        = 10
	discardRequest   = 11
)

const (
	headerBytes = 4
	rejectBytes = 256 // of a rejected packet that are sent back
	// refusalMax is how many Naks and Rejects either side may see before agreement is hopeless.
	refusalMax = 10
)

// negotiation is one run of Configure packets, of LCP, IPCP or IPV6CP.
type negotiation struct {
	protocol uint16
	id       byte   // of our last Configure-Request
	request  []byte // its options
	sent     int
	acked    bool // the router accepted our options
	granted  bool // we accepted the router's
	refusals int
}

func (n *negotiation) opened() bool { return n.acked && n.granted }

// packet is a decoded control packet.
type packet struct {
	code, id byte
	data     []byte
}

func parsePacket(b []byte) (packet, error) {
	if len(b) < headerBytes {
		return packet{}, fmt.Errorf("PPP control packet: %w", frame.ErrTruncated)
	}
	length := int(binary.BigEndian.Uint16(b[2:]))
	if length < headerBytes || length > len(b) {
		return packet{}, fmt.Errorf("PPP control length %d of %d: %w", length, len(b), frame.ErrMalformed)
	}
	return packet{b[0], b[1], b[headerBytes:length]}, nil
}

func (c *Client) sendControl(protocol uint16, code, id byte, data []byte) {
	b := append(make([]byte, 0, headerBytes+len(data)), code, id)
	b = binary.BigEndian.AppendUint16(b, uint16(headerBytes+len(data)))
	c.sendPPP(protocol, append(b, data...))
}

// receiveSession takes a PPP packet of the client's session.
func (c *Client) receiveSession(now time.Duration, p frame.PPPoE) {
	protocol, information, err := p.PPP()
	if err != nil || p.Code != frame.CodeSession {
		return
	}
	switch protocol {
	case frame.ProtocolLCP:
		c.receiveControl(now, &c.lcp, information)
	case frame.ProtocolPAP, frame.ProtocolCHAP:
		c.receiveAuth(now, protocol, information)
	case frame.ProtocolIPCP:
		// RFC 1661 section 3.5: network protocols before authentication are discarded.
		if c.Phase >= Network && c.Phase <= Up {
			c.receiveControl(now, &c.ipcp, information)
		}
	case frame.ProtocolIPv4:
	case frame.ProtocolIPV6CP, frame.ProtocolIPv6:
		c.receiveIPv6(now, protocol, information)
	default:
		c.rejectProtocol(protocol, information)
	}
}

// rejectProtocol answers a protocol that we do not speak (RFC 1661 section 5.7), once LCP is open.
func (c *Client) rejectProtocol(protocol uint16, information []byte) {
	if !c.lcp.opened() || c.Phase == Closing {
		return
	}
	data := binary.BigEndian.AppendUint16(nil, protocol)
	data = append(data, information[:min(len(information), rejectBytes)]...)
	c.lcpOptions.nextID++
	c.sendControl(frame.ProtocolLCP, protocolReject, c.lcpOptions.nextID, data)
}

// receiveControl takes a packet of LCP, IPCP or IPV6CP.
func (c *Client) receiveControl(now time.Duration, n *negotiation, b []byte) {
	p, err := parsePacket(b)
	if err != nil {
		return
	}
	if c.Phase == Closing {
		c.receiveClosing(n, p)
		return
	}
	switch p.code {
	case configureRequest:
		c.receiveRequest(now, n, p)
	case configureAck:
		c.receiveAck(now, n, p)
	case configureNak, configureReject:
		c.receiveRefusal(now, n, p)
	case terminateRequest:
		c.sendControl(n.protocol, terminateAck, p.id, p.data)
		c.end(CauseTerminatedByRouter, string(p.data))
	case terminateAck:
	case codeReject:
		c.receiveCodeReject(p)
	default:
		if n.protocol != frame.ProtocolLCP || !c.receiveLCPOnly(p) {
			c.rejectCode(n, b)
		}
	}
}

func (c *Client) rejectCode(n *negotiation, b []byte) {
	c.lcpOptions.nextID++
	c.sendControl(n.protocol, codeReject, c.lcpOptions.nextID, b[:min(len(b), rejectBytes)])
}

// receiveCodeReject ends the session if the router does not know a code without which nothing works.
func (c *Client) receiveCodeReject(p packet) {
	if len(p.data) > 0 && p.data[0] >= configureRequest && p.data[0] <= codeReject {
		c.end(CauseProtocolRejected, fmt.Sprintf("router rejects code %d", p.data[0]))
	}
}

// sendConfigure sends our Configure-Request, again or with changed options.
func (c *Client) sendConfigure(now time.Duration, n *negotiation) {
	c.lcpOptions.nextID++
	n.id, n.acked = c.lcpOptions.nextID, false
	n.request = c.wishes(n)
	n.sent++
	c.sendControl(n.protocol, configureRequest, n.id, n.request)
	c.Deadline = now + c.settings.RestartWait
}

// repeatConfigure is the Restart timer of RFC 1661 section 4.6.
func (c *Client) repeatConfigure(now time.Duration, n *negotiation) {
	if n.sent < c.settings.ConfigureMax {
		c.sendConfigure(now, n)
		return
	}
	c.end(n.timeout(), "")
}

func (n *negotiation) timeout() Cause {
	switch n.protocol {
	case frame.ProtocolLCP:
		return CauseLCPTimeout
	case frame.ProtocolIPV6CP:
		return CauseIPV6CPTimeout
	}
	return CauseIPCPTimeout
}

func (n *negotiation) noAgreement() Cause {
	switch n.protocol {
	case frame.ProtocolLCP:
		return CauseLCPNoAgreement
	case frame.ProtocolIPV6CP:
		return CauseIPV6CPNoAgreement
	}
	return CauseIPCPNoAgreement
}

// receiveRequest judges the router's options. A request on an open protocol negotiates anew
// (RFC 1661 section 4.1: Opened, RCR+ and RCR-).
func (c *Client) receiveRequest(now time.Duration, n *negotiation, p packet) {
	options, err := parseOptions(p.data)
	if err != nil {
		return
	}
	if n.opened() {
		c.reopen(now, n)
	}
	code, reply := c.judge(n, options)
	n.granted = code == configureAck
	if code == configureAck { // RFC 1661 section 5.2: exactly as received
		reply = p.data
	} else if n.refusals++; n.refusals > refusalMax {
		c.end(n.noAgreement(), "")
		return
	}
	c.sendControl(n.protocol, code, p.id, reply)
	c.advance(now, n)
}

func (c *Client) reopen(now time.Duration, n *negotiation) {
	*n = negotiation{protocol: n.protocol}
	switch n.protocol {
	case frame.ProtocolLCP:
		c.Phase, c.auth, c.ipcp, c.ip6cp, c.IPv6 = Link, auth{}, negotiation{}, negotiation{}, nil
	case frame.ProtocolIPV6CP:
		c.Phase, c.IPv6 = Network6, nil
	default:
		c.Phase = Network
	}
	c.sendConfigure(now, n)
}

func (c *Client) receiveAck(now time.Duration, n *negotiation, p packet) {
	// RFC 1661 section 5.2: identifier and options must be those of the last request.
	if n.sent == 0 || n.acked || p.id != n.id || !bytes.Equal(p.data, n.request) {
		return
	}
	n.acked = true
	c.advance(now, n)
}

func (c *Client) receiveRefusal(now time.Duration, n *negotiation, p packet) {
	if n.sent == 0 || n.acked || p.id != n.id {
		return
	}
	options, err := parseOptions(p.data)
	if err != nil {
		return
	}
	if n.refusals++; n.refusals > refusalMax {
		c.end(n.noAgreement(), "")
		return
	}
	c.revise(n, p.code, options)
	n.sent = 0
	c.sendConfigure(now, n)
}

// advance enters the next phase once both directions of a negotiation are settled.
func (c *Client) advance(now time.Duration, n *negotiation) {
	switch {
	case !n.opened():
	case n.protocol == frame.ProtocolLCP:
		c.startAuth(now)
	case n.protocol == frame.ProtocolIPV6CP:
		c.startIPv6(now)
	case c.Addr == frame.Addr{}:
		c.end(CauseIPCPNoAgreement, "the router gave no address")
	case c.settings.IPv6 != nil && c.IPv6 == nil:
		c.Phase = Network6
		c.sendConfigure(now, &c.ip6cp)
	case c.IPv6 != nil && !c.IPv6.Phase.Usable():
		c.Phase, c.Deadline = Network6, 0
	default:
		c.comeUp(now)
	}
}

func (c *Client) comeUp(now time.Duration) {
	c.Phase, c.Deadline = Up, 0
	c.armEcho(now)
}

// receiveClosing waits for the answer to our Terminate-Request; one from the router that crosses it
// is answered.
func (c *Client) receiveClosing(n *negotiation, p packet) {
	switch {
	case n.protocol != frame.ProtocolLCP:
	case p.code == terminateAck:
		c.end(CauseClosed, "")
	case p.code == terminateRequest:
		c.sendControl(frame.ProtocolLCP, terminateAck, p.id, p.data)
	}
}

// repeatTerminate asks for the end, TerminateMax times; then the PADT has to do.
func (c *Client) repeatTerminate(now time.Duration) {
	if c.sent >= c.settings.TerminateMax {
		c.end(CauseClosed, "no Terminate-Ack")
		return
	}
	c.sent++
	c.lcpOptions.nextID++
	c.sendControl(frame.ProtocolLCP, terminateRequest, c.lcpOptions.nextID, nil)
	c.Deadline = now + c.settings.RestartWait
}

// option is one configuration option; value aliases the packet.
type option struct {
	kind  byte
	value []byte
}

func parseOptions(b []byte) ([]option, error) {
	var options []option
	for len(b) > 0 {
		if len(b) < 2 || b[1] < 2 || int(b[1]) > len(b) {
			return nil, fmt.Errorf("PPP option: %w", frame.ErrMalformed)
		}
		options = append(options, option{b[0], b[2:b[1]]})
		b = b[b[1]:]
	}
	return options, nil
}

func appendOption(b []byte, kind byte, value ...byte) []byte {
	return append(append(b, kind, byte(len(value)+2)), value...)
}

// wishes, judge and revise are where LCP, IPCP and IPV6CP differ.

func (c *Client) wishes(n *negotiation) []byte {
	if n.protocol == frame.ProtocolLCP {
		return c.lcpOptions.append(nil)
	}
	if n.protocol == frame.ProtocolIPV6CP {
		return c.ip6cpRequest()
	}
	return c.ipcpRequest()
}

func (c *Client) judge(n *negotiation, options []option) (code byte, reply []byte) {
	if n.protocol == frame.ProtocolLCP {
		return c.judgeLCP(options)
	}
	if n.protocol == frame.ProtocolIPV6CP {
		return c.judgeIPV6CP(options)
	}
	return c.judgeIPCP(options)
}

func (c *Client) revise(n *negotiation, code byte, options []option) {
	switch n.protocol {
	case frame.ProtocolLCP:
		c.reviseLCP(code, options)
	case frame.ProtocolIPV6CP:
		c.reviseIPV6CP(code, options)
	default:
		c.reviseIPCP(code, options)
	}
}
