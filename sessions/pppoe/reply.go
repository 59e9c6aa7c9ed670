package pppoe

import "encoding/binary"

// plainPayloadBytes is the most PPP payload of an ordinary Ethernet frame (RFC 2516 section 7).
const plainPayloadBytes = 1492

// maxErrorTextBytes bounds the text in error tags.
const maxErrorTextBytes = 255

// buildPADO makes an offer: our name, the service asked for, the other services as far as they fit,
// the cookie, and the tags to be echoed (RFC 2516 section 5.2).
func (r *Responder) buildPADO(d discovery, cookie []byte) ([]byte, error) {
	asked := d.services[0]
	tags := []Tag{{TagServiceName, asked}, {TagACName, r.acName}, {TagACCookie, cookie}}
	tags = appendEchoed(tags, d.hostUniq, d.relayID, r.agreePayload(d.maxPayload))
	room := maxPacketBytes - headerBytes
	for _, t := range tags {
		room -= t.size()
	}
	for _, s := range r.services {
		t := Tag{TagServiceName, s}
		if string(s) != string(asked) && t.size() <= room {
			tags = append(tags, t)
			room -= t.size()
		}
	}
	return build(CodePADO, 0, tags)
}

// appendEchoed adds what has to come back unmodified: Host-Uniq and Relay-Session-Id (RFC 2516
// appendix A), and the payload agreed on (RFC 4638). Line identification never goes back.
func appendEchoed(tags []Tag, hostUniq, relayID []byte, maxPayload uint16) []Tag {
	if hostUniq != nil {
		tags = append(tags, Tag{TagHostUniq, hostUniq})
	}
	if relayID != nil {
		tags = append(tags, Tag{TagRelaySessionID, relayID})
	}
	if maxPayload != 0 {
		tags = append(tags, Tag{TagMaxPayload, binary.BigEndian.AppendUint16(nil, maxPayload)})
	}
	return tags
}

// BuildPADS confirms a request with its session id (RFC 2516 section 5.4). It fails with ErrSessionID,
// or ErrTooLong if the echoed tags leave no room.
func BuildPADS(req Request, sessionID uint16) ([]byte, error) {
	if !validID(sessionID) {
		return nil, ErrSessionID
	}
	tags := []Tag{{TagServiceName, []byte(req.Service)}}
	return build(CodePADS, sessionID, appendEchoed(tags, req.HostUniq, req.RelayID, req.MaxPayload))
}

// BuildPADSError refuses a request: session id zero and one of the error tags TagServiceNameError,
// TagACSystemError and TagGenericError, with a text for people (RFC 2516 section 5.4 and appendix A).
func BuildPADSError(req Request, tag TagType, message string) ([]byte, error) {
	text := []byte(message[:min(len(message), maxErrorTextBytes)])
	b, err := buildError(req, Tag{tag, text})
	if err != nil {
		return buildError(req, Tag{tag, nil}) // the text is what we can do without
	}
	return b, nil
}

func buildError(req Request, t Tag) ([]byte, error) {
	tags := []Tag{{TagServiceName, []byte(req.Service)}, t}
	return build(CodePADS, 0, appendEchoed(tags, req.HostUniq, req.RelayID, 0))
}

// BuildPADT ends a session (RFC 2516 section 5.5), with a text in a Generic-Error tag unless it is
// empty. It fails with ErrSessionID.
func BuildPADT(sessionID uint16, message string) ([]byte, error) {
	if !validID(sessionID) {
		return nil, ErrSessionID
	}
	var tags []Tag
	if message != "" {
		tags = append(tags, Tag{TagGenericError, []byte(message[:min(len(message), maxErrorTextBytes)])})
	}
	return build(CodePADT, sessionID, tags)
}
