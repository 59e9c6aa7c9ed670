package pppoe

import "vbng/cmd/vbng-sim/frame"

// IPCP options (RFC 1332 section 3.3, RFC 1877 section 1).
const (
	optionAddress      = 3
	optionPrimaryDNS   = 129
	optionSecondaryDNS = 131
)

// ipcpOptions says what we ask for; the values asked are the client's Addr and DNS.
type ipcpOptions struct {
	address bool
	dns     [2]bool
}

func (c *Client) ipcpRequest() []byte {
	var b []byte
	if c.ipcpAsks.address {
		b = appendOption(b, optionAddress, c.Addr[:]...)
	}
	for i, kind := range []byte{optionPrimaryDNS, optionSecondaryDNS} {
		if c.ipcpAsks.dns[i] {
			b = appendOption(b, kind, c.DNS[i][:]...)
		}
	}
	return b
}

// judgeIPCP accepts the router's own address and rejects all else (header compression above all).
func (c *Client) judgeIPCP(options []option) (code byte, reply []byte) {
	for _, o := range options {
		if o.kind == optionAddress && len(o.value) == 4 {
			c.RouterIP = frame.Addr(o.value)
		} else {
			reply = appendOption(reply, o.kind, o.value...)
		}
	}
	if reply != nil {
		return configureReject, reply
	}
	return configureAck, nil
}

// reviseIPCP takes the values of a Nak, and stops asking for what is rejected.
func (c *Client) reviseIPCP(code byte, options []option) {
	for _, o := range options {
		target, asked := c.ipcpTarget(o.kind)
		switch {
		case target == nil:
		case code == configureReject:
			*asked = false
		case len(o.value) == 4:
			*target = frame.Addr(o.value)
		}
	}
}

func (c *Client) ipcpTarget(kind byte) (value *frame.Addr, asked *bool) {
	switch kind {
	case optionAddress:
		return &c.Addr, &c.ipcpAsks.address
	case optionPrimaryDNS:
		return &c.DNS[0], &c.ipcpAsks.dns[0]
	case optionSecondaryDNS:
		return &c.DNS[1], &c.ipcpAsks.dns[1]
	}
	return nil, nil
}
