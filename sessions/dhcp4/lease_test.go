package dhcp4

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) // constant

// play is a conversation: a line of a script is what happens, and what the lease must say to it.
type play struct {
	t     *testing.T
	lease *Lease
	now   time.Time
}

// do performs one event: "DISCOVER key=value ...", "assign ADDRESS", "commit", "refuse TEXT", "end",
// "wait SECONDS".
func (p *play) do(event string) []Output {
	words := strings.Fields(event)
	switch words[0] {
	case "assign":
		g := testGrant()
		g.Address = addr(words[1])
		return p.lease.Assign(p.now, g)
	case "commit":
		return p.lease.Commit(p.now)
	case "refuse":
		return p.lease.Refuse(p.now, strings.Join(words[1:], " "))
	case "end":
		p.lease.End()
		return nil
	case "wait":
		seconds, err := time.ParseDuration(words[1] + "s")
		if err != nil {
			p.t.Fatal(err)
		}
		p.now = p.now.Add(seconds)
		if due := p.lease.Deadline(); !due.IsZero() && due.After(p.now) {
			if early := p.lease.Timeout(p.now); early != nil {
				p.t.Errorf("timeout before the deadline: %v", early)
			}
		}
		return p.lease.Timeout(p.now)
	}
	return p.lease.Receive(p.now, request(p.t, words))
}

func request(t *testing.T, words []string) *Request {
	r := &Request{ClientMAC: clientMAC}
	for kind := Discover; kind <= Inform; kind++ {
		if kind.String() == words[0] {
			r.Type = kind
		}
	}
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "requested":
			r.Requested = addr(value)
		case "ciaddr":
			r.ClientIP = addr(value)
		case "server":
			r.ServerID = addr(value)
		case "giaddr":
			r.Relay = addr(value)
		case "xid":
			r.XID = uint32(value[0])
		case "broadcast":
			r.Broadcast = true
		default:
			t.Fatalf("unknown word %s", w)
		}
	}
	return r
}

// tell prints outputs. Of what is sent: type, the transaction's letter, yiaddr, ciaddr, and where it goes.
func (p *play) tell(outputs []Output) string {
	var all []string
	for _, o := range outputs {
		switch o := o.(type) {
		case NeedAddress:
			all = append(all, "need "+printed(o.Requested))
		case NeedBinding:
			all = append(all, "bind "+printed(o.Address))
		case Bound:
			text := fmt.Sprintf("bound %s %.0f", printed(o.Address), o.Until.Sub(p.now).Seconds())
			if o.Renewed {
				text += " renewed"
			}
			all = append(all, text)
		case Released:
			text := "released " + printed(o.Address)
			if o.Elsewhere {
				text += " elsewhere"
			}
			all = append(all, text)
		case Declined:
			all = append(all, "declined "+printed(o.Address))
		case Expired:
			text := "expired " + printed(o.Address)
			if o.Offered {
				text += " offered"
			}
			all = append(all, text)
		case Send:
			text := o.Type.String()
			if xid := o.Payload[7]; xid != 0 {
				text += " " + string(xid)
			}
			yiaddr, ciaddr := netip.AddrFrom4([4]byte(o.Payload[16:20])), netip.AddrFrom4([4]byte(o.Payload[12:16]))
			all = append(all, fmt.Sprintf("%s y%s c%s to %s", text, yiaddr, ciaddr, strings.TrimSuffix(o.To.text(), " 02:00:00:00:0a:01")))
		case Ignored:
			all = append(all, o.Reason.String())
		}
	}
	return strings.Join(all, "; ")
}

func printed(a netip.Addr) string {
	if !a.IsValid() {
		return "any"
	}
	return a.String()
}

// boundScript is how most stories begin.
const boundScript = `
DISCOVER -> need any
assign 10.0.0.7 -> OFFER y10.0.0.7 c0.0.0.0 to 10.0.0.7:68
REQUEST server=10.0.0.1 requested=10.0.0.7 -> bind 10.0.0.7
commit -> bound 10.0.0.7 3600; ACK y10.0.0.7 c0.0.0.0 to 10.0.0.7:68
`

func TestConversations(t *testing.T) {
	for _, c := range []struct{ name, script string }{
		{"initial, with repetitions", `
DISCOVER xid=a requested=10.0.0.9 -> need 10.0.0.9
DISCOVER xid=b -> waiting
assign 10.0.0.7 -> OFFER b y10.0.0.7 c0.0.0.0 to 10.0.0.7:68
DISCOVER xid=c broadcast -> OFFER c y10.0.0.7 c0.0.0.0 to 255.255.255.255:68 broadcast
REQUEST xid=c server=10.0.0.1 requested=10.0.0.7 -> bind 10.0.0.7
DISCOVER xid=d -> waiting
REQUEST xid=e server=10.0.0.1 requested=10.0.0.7 -> waiting
REQUEST xid=f server=10.0.0.1 requested=10.0.0.8 -> bad-address
commit -> bound 10.0.0.7 3600; ACK e y10.0.0.7 c0.0.0.0 to 10.0.0.7:68
REQUEST xid=e server=10.0.0.1 requested=10.0.0.7 -> bound 10.0.0.7 3600 renewed; ACK e y10.0.0.7 c0.0.0.0 to 10.0.0.7:68
commit ->
assign 10.0.0.8 ->
refuse no ->
`},
		{"an offer runs out", `
DISCOVER -> need any
assign 10.0.0.7 -> OFFER y10.0.0.7 c0.0.0.0 to 10.0.0.7:68
wait 59 ->
DISCOVER -> OFFER y10.0.0.7 c0.0.0.0 to 10.0.0.7:68
wait 59 ->
wait 1 -> expired 10.0.0.7 offered
wait 1000 ->
`},
		{"the client takes another server's offer", `
DISCOVER -> need any
assign 10.0.0.7 -> OFFER y10.0.0.7 c0.0.0.0 to 10.0.0.7:68
REQUEST server=10.0.0.2 requested=10.0.0.99 -> released 10.0.0.7 elsewhere
REQUEST server=10.0.0.2 requested=10.0.0.99 -> other-server
`},
		{"renewing and rebinding", boundScript + `
wait 1800 ->
REQUEST ciaddr=10.0.0.7 -> bound 10.0.0.7 3600 renewed; ACK y10.0.0.7 c10.0.0.7 to 10.0.0.7:68
wait 3150 ->
REQUEST ciaddr=10.0.0.7 broadcast -> bound 10.0.0.7 3600 renewed; ACK y10.0.0.7 c10.0.0.7 to 10.0.0.7:68
wait 3599 ->
wait 1 -> expired 10.0.0.7
`},
		{"a renewal too late", boundScript + `
wait 3599 ->
REQUEST ciaddr=10.0.0.8 -> NAK y0.0.0.0 c0.0.0.0 to 255.255.255.255:68 broadcast
wait 2 -> expired 10.0.0.7
REQUEST ciaddr=10.0.0.7 -> need 10.0.0.7
refuse ->  refused
`},
		{"INIT-REBOOT", boundScript + `
REQUEST requested=10.0.0.7 -> bound 10.0.0.7 3600 renewed; ACK y10.0.0.7 c0.0.0.0 to 10.0.0.7:68
REQUEST requested=10.0.0.8 -> NAK y0.0.0.0 c0.0.0.0 to 255.255.255.255:68 broadcast
REQUEST requested=10.0.0.8 giaddr=10.9.9.9 -> NAK y0.0.0.0 c0.0.0.0 to 10.9.9.9:67
`},
		{"a bound client that begins anew", boundScript + `
DISCOVER -> OFFER y10.0.0.7 c0.0.0.0 to 10.0.0.7:68
REQUEST server=10.0.0.1 requested=10.0.0.7 -> bound 10.0.0.7 3600 renewed; ACK y10.0.0.7 c0.0.0.0 to 10.0.0.7:68
DISCOVER -> OFFER y10.0.0.7 c0.0.0.0 to 10.0.0.7:68
REQUEST server=10.0.0.2 requested=10.0.0.99 -> other-server
wait 3600 -> expired 10.0.0.7
`},
		{"a client we have forgotten", `
REQUEST ciaddr=10.0.0.7 -> need 10.0.0.7
assign 10.0.0.7 -> bind 10.0.0.7
commit -> bound 10.0.0.7 3600; ACK y10.0.0.7 c10.0.0.7 to 10.0.0.7:68
`},
		{"a client we have forgotten, its address gone", `
REQUEST requested=10.0.0.8 -> need 10.0.0.8
assign 10.0.0.7 -> NAK y0.0.0.0 c0.0.0.0 to 255.255.255.255:68 broadcast
DISCOVER -> OFFER y10.0.0.7 c0.0.0.0 to 10.0.0.7:68
`},
		{"the offer is forgotten", `
REQUEST server=10.0.0.1 requested=10.0.0.7 -> need 10.0.0.7
REQUEST xid=b server=10.0.0.1 requested=10.0.0.7 -> waiting
refuse go away -> NAK b y0.0.0.0 c0.0.0.0 to 255.255.255.255:68 broadcast
DISCOVER -> need any
refuse go away -> refused
`},
		{"programming fails", `
DISCOVER -> need any
assign 10.0.0.7 -> OFFER y10.0.0.7 c0.0.0.0 to 10.0.0.7:68
REQUEST server=10.0.0.1 requested=10.0.0.7 -> bind 10.0.0.7
refuse not now -> NAK y0.0.0.0 c0.0.0.0 to 255.255.255.255:68 broadcast
DISCOVER -> need any
`},
		{"RELEASE", boundScript + `
RELEASE server=10.0.0.2 ciaddr=10.0.0.7 -> other-server
RELEASE server=10.0.0.1 ciaddr=10.0.0.8 -> no-binding
RELEASE server=10.0.0.1 ciaddr=10.0.0.7 -> released 10.0.0.7
RELEASE server=10.0.0.1 ciaddr=10.0.0.7 -> no-binding
RELEASE server=10.0.0.1 -> no-binding
`},
		{"DECLINE", boundScript + `
DECLINE server=10.0.0.2 requested=10.0.0.7 -> other-server
DECLINE server=10.0.0.1 requested=10.0.0.8 -> no-binding
DECLINE server=10.0.0.1 requested=10.0.0.7 -> declined 10.0.0.7
DISCOVER -> need any
`},
		{"INFORM", `INFORM ciaddr=10.0.0.7 -> no-binding` + boundScript + `
INFORM ciaddr=10.0.0.8 -> no-binding
INFORM ciaddr=10.0.0.7 -> ACK y0.0.0.0 c10.0.0.7 to 10.0.0.7:68
wait 3600 -> expired 10.0.0.7
`},
		{"the owner ends it", boundScript + `
end ->
wait 4000 ->
REQUEST ciaddr=10.0.0.7 -> need 10.0.0.7
`},
		{"a relay agent before us", `
DISCOVER giaddr=10.9.9.9 broadcast -> need any
assign 10.0.0.7 -> OFFER y10.0.0.7 c0.0.0.0 to 10.9.9.9:67
`},
		{"nonsense", `
REQUEST -> bad-address
OFFER -> not-a-clients-type
REQUEST server=10.0.0.1 -> bad-address
`},
	} {
		p := &play{t: t, lease: NewLease(Config{ServerID: addr("10.0.0.1"), Authoritative: true}), now: start}
		for line := range strings.Lines(c.script) {
			event, want, said := strings.Cut(strings.TrimSpace(line), "->")
			if !said {
				continue
			}
			if got := p.tell(p.do(event)); got != strings.TrimSpace(want) {
				t.Errorf("%s: %s\n got  %s\n want %s", c.name, event, got, want)
			}
		}
	}
}

func TestNotAuthoritative(t *testing.T) {
	p := &play{t: t, lease: NewLease(Config{ServerID: addr("10.0.0.1")}), now: start}
	for event, want := range map[string]string{
		"REQUEST ciaddr=10.0.0.7":    "not-authoritative",
		"REQUEST requested=10.0.0.7": "not-authoritative",
	} {
		if got := p.tell(p.do(event)); got != want {
			t.Errorf("%s: %s", event, got)
		}
	}
}

func TestRenewChangesWhatIsGiven(t *testing.T) {
	p := &play{t: t, lease: Restore(Config{ServerID: addr("10.0.0.1")}, testGrant(), start.Add(time.Hour)), now: start}
	other := testGrant()
	other.Lease = 2 * time.Hour
	p.lease.Renew(other)
	if got := p.tell(p.do("REQUEST ciaddr=10.0.0.7")); !strings.HasPrefix(got, "bound 10.0.0.7 7200 renewed") {
		t.Error(got)
	}
	other.Address = addr("10.0.0.8") // not the one held
	p.lease.Renew(other)
	if p.lease.Address() != addr("10.0.0.7") || !p.lease.Until().Equal(start.Add(2*time.Hour)) {
		t.Errorf("%s until %s", p.lease.Address(), p.lease.Until())
	}
}
