package dhcp4

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/iana"
)

// errTooLong says that the mandatory options exceed what the client takes.
var errTooLong = errors.New("dhcp4: mandatory options exceed the client's message size")

const (
	minPayload  = 300  // RFC 1542 section 2.1: BOOTP messages are no shorter
	headerBytes = 28   // IPv4 and UDP, which option 57 counts too
	minDatagram = 576  // RFC 2131 section 2: every client takes this
	maxDatagram = 1500 // what an access line carries, whatever the client says
)

// reply is a message to a client, before the options are laid out.
type reply struct {
	kind      MessageType
	to        *Request
	address   netip.Addr // yiaddr; not valid: zero
	mandatory []Option
	optional  []Option // in the order in which they are tried
}

// encode returns the UDP payload, and the optional parameters that found no room.
func (r reply) encode() (payload []byte, dropped []Code, err error) {
	header := dhcpv4.DHCPv4{
		OpCode: dhcpv4.OpcodeBootReply, HWType: iana.HWTypeEthernet, ClientHWAddr: r.to.ClientMAC[:],
		YourIPAddr: slice(r.address), GatewayIPAddr: slice(r.to.Relay),
	}
	binary.BigEndian.PutUint32(header.TransactionID[:], r.to.XID)
	if r.kind == Ack { // RFC 2131 table 3: zero in the others
		header.ClientIPAddr = slice(r.to.ClientIP)
	}
	// RFC 2131 section 4.3.2: a NAK through a relay agent asks it to broadcast.
	if r.to.Broadcast || r.kind == Nak && r.to.Relay.IsValid() {
		header.SetBroadcast()
	}
	payload = header.ToBytes()[:optionsStart]

	size := min(max(r.to.MaxBytes, minDatagram), maxDatagram) - headerBytes
	tail := r.tail()
	fields := layout(size-optionsStart, slices.Concat([]Option{{CodeMessageType, []byte{byte(r.kind)}}}, r.mandatory), r.optional, tail)
	if fields.tooLong {
		return nil, nil, errTooLong
	}
	copy(payload[fileStart:fileEnd], fields.file)
	copy(payload[snameStart:fileStart], fields.sname)
	payload = append(payload, fields.options...)
	if short := minPayload - len(payload); short > 0 {
		payload = append(payload, make([]byte, short)...)
	}
	return payload, fields.dropped, nil
}

// tail is what every reply gives back: the client identifier (RFC 6842 section 3), and last of all the
// relay agent's information (RFC 3046 sections 2.1 and 2.2).
func (r reply) tail() []Option {
	var tail []Option
	if r.to.ClientID != nil {
		tail = append(tail, Option{CodeClientID, r.to.ClientID})
	}
	if r.to.Agent != nil {
		tail = append(tail, Option{CodeAgent, r.to.Agent.Raw})
	}
	return tail
}

// destination obeys RFC 2131 section 4.1.
func (r reply) destination() Destination {
	broadcast := Destination{IP: netip.AddrFrom4([4]byte{255, 255, 255, 255}), Port: ClientPort, Broadcast: true}
	switch {
	case r.to.Relay.IsValid():
		return Destination{IP: r.to.Relay, Port: ServerPort, MAC: r.to.ClientMAC}
	case r.kind == Nak:
		return broadcast
	case r.to.ClientIP.IsValid():
		return Destination{IP: r.to.ClientIP, Port: ClientPort, MAC: r.to.ClientMAC}
	case r.to.Broadcast:
		return broadcast
	}
	return Destination{IP: r.address, Port: ClientPort, MAC: r.to.ClientMAC}
}

// wanted returns the options that the client asked for in its order, or all of them when it gave no
// list. The mask goes before the router (RFC 2132 section 3.3).
func wanted(r *Request, have []Option) []Option {
	order := r.Parameters
	if order == nil {
		for _, o := range have {
			order = append(order, o.Code)
		}
	}
	var chosen []Option
	for _, code := range order {
		for _, o := range have {
			if o.Code == code && !slices.ContainsFunc(chosen, func(c Option) bool { return c.Code == code }) {
				chosen = append(chosen, o)
			}
		}
	}
	slices.SortStableFunc(chosen, func(a, b Option) int { return maskFirst(a) - maskFirst(b) })
	return chosen
}

func maskFirst(o Option) int {
	if o.Code == CodeMask {
		return 0
	}
	return 1
}

// Addresses makes an option of IPv4 addresses, such as routers or name servers; those that are not valid
// are left out.
func Addresses(code Code, addresses ...netip.Addr) Option {
	o := Option{Code: code}
	for _, a := range addresses {
		if a.Is4() {
			o.Value = append(o.Value, a.AsSlice()...)
		}
	}
	return o
}

// Text makes an option of characters, such as the domain.
func Text(code Code, text string) Option { return Option{Code: code, Value: []byte(text)} }

// Number16 makes an option of a 16-bit number, such as the MTU.
func Number16(code Code, n uint16) Option {
	return Option{Code: code, Value: binary.BigEndian.AppendUint16(nil, n)}
}

// Via is a classless route.
type Via struct {
	Prefix netip.Prefix
	Router netip.Addr
}

// Routes makes the option of classless routes (RFC 3442). Clients that heed it forget the router option,
// so a default route belongs here, too.
func Routes(routes ...Via) Option {
	o := Option{Code: CodeRoutes}
	for _, r := range routes {
		significant := (r.Prefix.Bits() + 7) / 8
		o.Value = append(o.Value, byte(r.Prefix.Bits()))
		o.Value = append(o.Value, r.Prefix.Masked().Addr().AsSlice()[:significant]...)
		o.Value = append(o.Value, r.Router.AsSlice()...)
	}
	return o
}

func seconds(code Code, d time.Duration) Option {
	return Option{Code: code, Value: binary.BigEndian.AppendUint32(nil, uint32(d/time.Second))}
}

func slice(a netip.Addr) net.IP {
	if !a.IsValid() {
		return nil
	}
	return a.AsSlice()
}
