package pppoe

import (
	"bytes"
	"encoding/binary"
	"time"

	"vbng/cmd/vbng-sim/frame"
)

// offer is what a PADO asks to be returned in the PADR.
type offer struct {
	cookie, relay []byte
}

func (c *Client) startDiscovery(now time.Duration) {
	binary.BigEndian.PutUint32(c.hostUniq[:], c.Number)
	binary.BigEndian.PutUint32(c.hostUniq[4:], c.life)
	c.Phase = Discovery
	c.sendDiscovery(now)
}

// standardMRU is the most without PPP-Max-Payload, in bytes (RFC 2516 section 7).
const standardMRU = 1492

// repeatDiscovery sends PADI or PADR again with twice the patience. RFC 2516 section 8 lets a host
// return to PADI after some PADR; the simulator ends instead, so that the cause is seen.
func (c *Client) repeatDiscovery(now time.Duration) {
	if c.sent < c.settings.DiscoveryMax {
		c.sendDiscovery(now)
		return
	}
	if c.Phase == Discovery {
		c.end(CausePADITimeout, "")
	} else {
		c.end(CausePADRTimeout, "")
	}
}

// sendDiscovery sends what the phase is about: PADI or PADR.
func (c *Client) sendDiscovery(now time.Duration) {
	code, to := byte(frame.CodePADI), frame.Broadcast
	tags := frame.AppendDiscoveryTag(nil, frame.TagServiceName, []byte(c.settings.Service))
	tags = frame.AppendDiscoveryTag(tags, frame.TagHostUniq, c.hostUniq[:])
	if c.settings.MRU > standardMRU {
		tags = frame.AppendDiscoveryTag(tags, frame.TagMaxPayload, []byte{byte(c.settings.MRU >> 8), byte(c.settings.MRU)})
	}
	if c.Phase == Request {
		code, to = frame.CodePADR, c.AC
		tags = c.offer.append(tags)
	}
	c.queueDiscovery(to, code, 0, tags)
	c.Deadline = now + c.settings.DiscoveryWait<<c.sent
	c.sent++
}

// append returns to the concentrator what it wants back (RFC 2516 appendix A).
func (o offer) append(tags []byte) []byte {
	if o.cookie != nil {
		tags = frame.AppendDiscoveryTag(tags, frame.TagACCookie, o.cookie)
	}
	if o.relay != nil {
		tags = frame.AppendDiscoveryTag(tags, frame.TagRelaySessionID, o.relay)
	}
	return tags
}

func (c *Client) sendPADT() {
	c.queueDiscovery(c.AC, frame.CodePADT, c.Session, nil)
}

func (c *Client) queueDiscovery(to frame.MAC, code byte, session uint16, tags []byte) {
	b := frame.AppendEthernet(make([]byte, 0, 96), to, c.MAC, c.Tags, frame.TypeDiscovery)
	b = frame.AppendPPPoE(b, code, session, len(tags))
	c.out = append(c.out, frame.Pad(append(b, tags...)))
}

func (c *Client) receiveDiscovery(now time.Duration, from frame.MAC, p frame.PPPoE) {
	answer, ok := readAnswer(p.Payload)
	if !ok {
		return
	}
	switch {
	case p.Code == frame.CodePADT:
		if c.Mine(from, p.Session) {
			c.receivePADT(answer)
		}
	case !bytes.Equal(answer.hostUniq, c.hostUniq[:]):
		// An answer to somebody else, or to an earlier life of ours.
	case p.Code == frame.CodePADO && c.Phase == Discovery:
		c.receivePADO(now, from, answer)
	case p.Code == frame.CodePADS && c.Phase == Request && from == c.AC:
		c.receivePADS(now, p.Session, answer)
	}
}

// answer is the tags of a PADO, PADS or PADT that a client looks at.
type answer struct {
	hostUniq []byte
	services [][]byte
	offer    offer
	payload  uint16 // PPP-Max-Payload, bytes; 0: none
	fault    Cause
	message  string
}

func readAnswer(payload []byte) (answer, bool) {
	var a answer
	err := frame.DiscoveryTags(payload, func(kind uint16, value []byte) {
		switch kind {
		case frame.TagHostUniq:
			a.hostUniq = value
		case frame.TagServiceName:
			a.services = append(a.services, value)
		case frame.TagACCookie:
			a.offer.cookie = bytes.Clone(value)
		case frame.TagRelaySessionID:
			a.offer.relay = bytes.Clone(value)
		case frame.TagMaxPayload:
			if len(value) == 2 {
				a.payload = binary.BigEndian.Uint16(value)
			}
		case frame.TagServiceNameError:
			a.fault, a.message = CauseServiceRefused, string(value)
		case frame.TagACSystemError:
			a.fault, a.message = CauseACSystemError, string(value)
		case frame.TagGenericError:
			a.fault, a.message = CauseGenericError, string(value)
		}
	})
	return a, err == nil
}

// serves reports whether a PADO offers the wanted service.
func (a answer) serves(name string) bool {
	for _, s := range a.services {
		if string(s) == name {
			return true
		}
	}
	return name == ""
}

// receivePADO takes the first offer that fits. One with an error tag may be followed by a better
// one of another concentrator, so the wait goes on.
func (c *Client) receivePADO(now time.Duration, from frame.MAC, a answer) {
	if a.fault != CauseNone || !a.serves(c.settings.Service) {
		return
	}
	c.AC, c.offer = from, a.offer
	c.Phase, c.sent = Request, 0
	c.sendDiscovery(now)
}

func (c *Client) receivePADS(now time.Duration, session uint16, a answer) {
	switch {
	case a.fault != CauseNone:
		c.end(a.fault, a.message)
	case session == 0 || session == 0xffff: // RFC 2516 section 4: not usable
		c.end(CauseGenericError, "PADS with a reserved session id and no error tag")
	default:
		c.Session = session
		c.startLink(now, min(c.settings.MRU, max(a.payload, standardMRU)))
	}
}

func (c *Client) receivePADT(a answer) {
	if c.Phase == Closing {
		c.finish(CauseClosed, "")
		return
	}
	c.finish(CausePADT, a.message)
}
