package dhcp6

import (
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"
)

// play is a conversation: a line of a script is what happens, and what the link must say to it.
type play struct {
	t    *testing.T
	link *Link
	now  time.Time
}

func newPlay(t *testing.T) *play {
	return &play{t: t, now: start, link: NewLink(Config{ServerID: []byte("srv"), DNS: []netip.Addr{addr("2001:db8::53")}})}
}

// do performs one event: a message in words, "assign [ADDRESS] [PREFIX]", "commit", "refuse", "end",
// "wait SECONDS".
func (p *play) do(event string) []Output {
	words := strings.Fields(event)
	switch words[0] {
	case "assign":
		g := Grant{Preferred: 1000 * time.Second, Valid: 2000 * time.Second}
		for _, w := range words[1:] {
			if strings.Contains(w, "/") {
				g.Delegated = netip.MustParsePrefix(w)
			} else {
				g.Address = addr(w)
			}
		}
		return p.link.Assign(p.now, g)
	case "commit":
		return p.link.Commit(p.now)
	case "refuse":
		return p.link.Refuse(p.now)
	case "end":
		p.link.End()
		return nil
	case "wait":
		seconds, err := time.ParseDuration(words[1] + "s")
		if err != nil {
			p.t.Fatal(err)
		}
		p.now = p.now.Add(seconds)
		return p.link.Timeout(p.now)
	}
	return p.link.Receive(p.now, p.request(words))
}

// request makes a message of words: its type, then "na=IAID,ADDRESS...", "pd=IAID,PREFIX...", "ta=IAID",
// "srv" or "server=TEXT", "client=TEXT", "rapid", "unicast", "dns".
func (p *play) request(words []string) *Request {
	r := &Request{
		XID: 0xabcdef, ClientID: []byte("cl1"), Options: []uint16{}, From: netip.MustParseAddrPort("[fe80::2]:546"),
	}
	for kind := Solicit; kind <= RelayReply; kind++ {
		if kind.String() == words[0] {
			r.Type = kind
		}
	}
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		id, rest, _ := strings.Cut(value, ",")
		iaid, _ := strconv.Atoi(id)
		switch key {
		case "na":
			ia := IANA{ID: uint32(iaid)}
			for a := range strings.SplitSeq(rest, ",") {
				if a != "" {
					ia.Addresses = append(ia.Addresses, addr(a))
				}
			}
			r.NA = append(r.NA, ia)
		case "pd":
			ia := IAPD{ID: uint32(iaid)}
			for a := range strings.SplitSeq(rest, ",") {
				if a != "" {
					ia.Prefixes = append(ia.Prefixes, netip.MustParsePrefix(a))
				}
			}
			r.PD = append(r.PD, ia)
		case "ta":
			r.TA = append(r.TA, uint32(iaid))
		case "srv":
			r.ServerID = []byte("srv")
		case "server":
			r.ServerID = []byte(value)
		case "client":
			if r.ClientID = []byte(value); value == "" {
				r.ClientID = nil
			}
		case "rapid":
			r.RapidCommit = true
		case "unicast":
			r.Unicast = true
		case "dns":
			r.Options = []uint16{23, 24}
		default:
			p.t.Fatalf("unknown word %s", w)
		}
	}
	return r
}

// ids stands for the identifiers and the transaction in what is sent; script replaces it.
const ids = " abcdef server=737276 client=636c31"

// boundScript is how most stories begin.
const boundScript = `
SOLICIT na=1 pd=2 -> need address=true prefix=true
assign 2001:db8::7 2001:db8:7::/56 -> ADVERTISE@ na:1/500/800(2001:db8::7/1000/2000) pd:2/500/800(2001:db8:7::/56/1000/2000)
REQUEST srv na=1,2001:db8::7 pd=2,2001:db8:7::/56 -> bind 2001:db8::7 2001:db8:7::/56
commit -> bound 2001:db8::7 2001:db8:7::/56 2000; REPLY@ na:1/500/800(2001:db8::7/1000/2000) pd:2/500/800(2001:db8:7::/56/1000/2000)
`

func TestConversations(t *testing.T) {
	for _, c := range []struct{ name, script string }{
		{"address and prefix, with repetitions", `
SOLICIT na=1 pd=2,::/60 dns -> need address=true prefix=true ::/60
SOLICIT na=1,2001:db8::9 pd=2 dns -> waiting
assign 2001:db8::7 2001:db8:7::/56 -> ADVERTISE@ dns=2001:db8::53 na:1/500/800(2001:db8::7/1000/2000) pd:2/500/800(2001:db8:7::/56/1000/2000)
REQUEST srv na=1,2001:db8::7 pd=2 -> bind 2001:db8::7 2001:db8:7::/56
REQUEST srv na=1,2001:db8::7 pd=2 -> waiting
SOLICIT na=1 -> waiting
commit -> bound 2001:db8::7 2001:db8:7::/56 2000; REPLY@ na:1/500/800(2001:db8::7/1000/2000) pd:2/500/800(2001:db8:7::/56/1000/2000)
commit ->
assign ->
refuse ->
`},
		{"nothing to be had", `
SOLICIT na=1 pd=2 ta=3 -> need address=true prefix=true
assign -> ADVERTISE@ na:1/0/0(status=2) pd:2/0/0(status=6) ta:3(status=2)
SOLICIT na=1 -> need address=true prefix=false
refuse -> refused
`},
		{"only a prefix, then an address too", `
SOLICIT na=1 pd=2 -> need address=true prefix=true
assign 2001:db8:7::/56 -> ADVERTISE@ na:1/0/0(status=2) pd:2/500/800(2001:db8:7::/56/1000/2000)
REQUEST srv pd=2 -> bind 2001:db8:7::/56
commit -> bound 2001:db8:7::/56 2000; REPLY@ pd:2/500/800(2001:db8:7::/56/1000/2000)
wait 500 ->
RENEW srv na=1 pd=2,2001:db8:7::/56 -> need address=true prefix=false
assign 2001:db8::7 -> bind 2001:db8::7
commit -> bound 2001:db8::7 2001:db8:7::/56 2000; REPLY@ na:1/500/800(2001:db8::7/1000/2000) pd:2/500/800(2001:db8:7::/56/1000/2000)
`},
		{"an advertisement runs out", `
SOLICIT na=1 -> need address=true prefix=false
assign 2001:db8::7 -> ADVERTISE@ na:1/500/800(2001:db8::7/1000/2000)
wait 59 ->
wait 1 -> expired 2001:db8::7 offered
`},
		{"more IAs than are served", `
SOLICIT na=1 na=5 pd=2 pd=6 -> need address=true prefix=true
assign 2001:db8::7 2001:db8:7::/56 -> ADVERTISE@ na:1/500/800(2001:db8::7/1000/2000) na:5/0/0(status=2) pd:2/500/800(2001:db8:7::/56/1000/2000) pd:6/0/0(status=6)
REQUEST srv na=5 na=1 -> bind 2001:db8::7
commit -> bound 2001:db8::7 2000; REPLY@ na:5/500/800(2001:db8::7/1000/2000) na:1/0/0(status=2)
RENEW srv na=1 na=5 -> bound 2001:db8::7 2000 renewed; REPLY@ na:1/0/0(status=3) na:5/500/800(2001:db8::7/1000/2000)
`},
		{"renew, rebind, expiry", boundScript + `
wait 500 ->
RENEW srv na=1,2001:db8::7 pd=2,2001:db8:7::/56 -> bound 2001:db8::7 2001:db8:7::/56 2000 renewed; REPLY@ na:1/500/800(2001:db8::7/1000/2000) pd:2/500/800(2001:db8:7::/56/1000/2000)
wait 800 ->
REBIND na=1,2001:db8::7 -> bound 2001:db8::7 2001:db8:7::/56 2000 renewed; REPLY@ na:1/500/800(2001:db8::7/1000/2000)
wait 1199 ->
wait 1 -> expired 2001:db8:7::/56
wait 800 -> expired 2001:db8::7
`},
		{"what the client should not have", boundScript + `
RENEW srv na=1,2001:db8::9 pd=2,2001:db8:9::/56 -> bound 2001:db8::7 2001:db8:7::/56 2000 renewed; REPLY@ na:1/500/800(2001:db8::7/1000/2000 2001:db8::9/0/0) pd:2/500/800(2001:db8:7::/56/1000/2000 2001:db8:9::/56/0/0)
REQUEST srv na=1,2001:db8::9 -> REPLY@ na:1/0/0(status=4)
`},
		{"a client we have forgotten", `
REBIND na=1,2001:db8::7 pd=2,2001:db8:7::/56 -> need address=true prefix=true 2001:db8::7 2001:db8:7::/56
assign 2001:db8::7 2001:db8:7::/56 -> bind 2001:db8::7 2001:db8:7::/56
commit -> bound 2001:db8::7 2001:db8:7::/56 2000; REPLY@ na:1/500/800(2001:db8::7/1000/2000) pd:2/500/800(2001:db8:7::/56/1000/2000)
`},
		{"a forgotten advertisement, the address gone", `
REQUEST srv na=1,2001:db8::9 -> need address=true prefix=false 2001:db8::9
assign 2001:db8::7 -> REPLY@ na:1/0/0(status=4)
SOLICIT na=1 -> ADVERTISE@ na:1/500/800(2001:db8::7/1000/2000)
`},
		{"programming fails", `
SOLICIT na=1 -> need address=true prefix=false
assign 2001:db8::7 -> ADVERTISE@ na:1/500/800(2001:db8::7/1000/2000)
REQUEST srv na=1,2001:db8::7 -> bind 2001:db8::7
refuse -> refused
SOLICIT na=1 -> need address=true prefix=false
`},
		{"confirm", `CONFIRM na=1,2001:db8::7 -> REPLY@ status=4` + boundScript + `
CONFIRM na=1,2001:db8::7 -> REPLY@ status=0
CONFIRM na=1,2001:db8::7,2001:db8::9 -> REPLY@ status=4
CONFIRM na=1 -> confirm-without-address
CONFIRM srv na=1,2001:db8::7 -> bad-server-id
`},
		{"release", boundScript + `
RELEASE srv na=9,2001:db8::7 -> REPLY@ status=0 na:9/0/0(status=3)
RELEASE srv na=1,2001:db8::9 -> REPLY@ status=0
RELEASE srv na=1,2001:db8::7 -> REPLY@ status=0; released 2001:db8::7
RELEASE srv na=1,2001:db8::7 pd=2,2001:db8:7::/56 -> REPLY@ status=0 na:1/0/0(status=3); released 2001:db8:7::/56
SOLICIT na=1 -> need address=true prefix=false
`},
		{"decline", boundScript + `
DECLINE srv na=1,2001:db8::7 pd=2,2001:db8:7::/56 -> REPLY@ status=0; declined 2001:db8::7
DECLINE srv na=1,2001:db8::7 -> REPLY@ status=0 na:1/0/0(status=3)
RENEW srv pd=2 -> bound 2001:db8:7::/56 2000 renewed; REPLY@ pd:2/500/800(2001:db8:7::/56/1000/2000)
`},
		{"information", `
INFORMATION-REQUEST dns -> REPLY@ dns=2001:db8::53
INFORMATION-REQUEST srv -> REPLY@
INFORMATION-REQUEST server=oth -> other-server
INFORMATION-REQUEST client= dns -> REPLY abcdef server=737276 dns=2001:db8::53
INFORMATION-REQUEST na=1 -> information-request-with-ia
`},
		{"identifiers", `
SOLICIT client= na=1 -> no-client-id
SOLICIT srv na=1 -> bad-server-id
REBIND srv na=1 -> bad-server-id
REQUEST na=1 -> bad-server-id
REQUEST server=oth na=1 -> other-server
RENEW na=1 -> bad-server-id
RELEASE server=oth na=1 -> other-server
DECLINE na=1 -> bad-server-id
REPLY -> not-a-clients-type
RELAY-REPL -> not-a-clients-type
`},
		{"unicast", `
SOLICIT unicast na=1 -> unicast
CONFIRM unicast na=1 -> unicast
REBIND unicast na=1 -> unicast
INFORMATION-REQUEST unicast -> unicast
REQUEST unicast srv na=1 -> REPLY@ status=5
RENEW unicast srv na=1 -> REPLY@ status=5
RELEASE unicast srv na=1 -> REPLY@ status=5
DECLINE unicast srv na=1 -> REPLY@ status=5
`},
		{"another device of the subscriber", boundScript + `
CONFIRM client=cl2 na=1,2001:db8::7 -> REPLY abcdef server=737276 client=636c32 status=4
RELEASE client=cl2 srv na=1,2001:db8::7 -> REPLY abcdef server=737276 client=636c32 status=0 na:1/0/0(status=3)
SOLICIT client=cl2 na=8 -> ADVERTISE abcdef server=737276 client=636c32 na:8/500/800(2001:db8::7/1000/2000)
REQUEST client=cl2 srv na=8 -> bound 2001:db8::7 2001:db8:7::/56 2000 renewed; REPLY abcdef server=737276 client=636c32 na:8/500/800(2001:db8::7/1000/2000)
RELEASE srv na=8,2001:db8::7 -> REPLY@ status=0 na:8/0/0(status=3)
`},
		{"the owner ends it", boundScript + `
end ->
wait 4000 ->
RENEW srv na=1,2001:db8::7 -> need address=true prefix=false 2001:db8::7
`},
		{"rapid commit not configured", `
SOLICIT rapid na=1 -> need address=true prefix=false
assign 2001:db8::7 -> ADVERTISE@ na:1/500/800(2001:db8::7/1000/2000)
`},
	} {
		newPlay(t).run(c.name, c.script)
	}
}

// run plays a script; @ in it stands for ids.
func (p *play) run(name, script string) {
	p.t.Helper()
	for line := range strings.Lines(strings.ReplaceAll(script, "@", ids)) {
		event, want, said := strings.Cut(strings.TrimSpace(line), "->")
		if !said {
			continue
		}
		if got := tell(p.now, p.do(event)); got != strings.TrimSpace(want) {
			p.t.Errorf("%s: %s\n got  %s\n want %s", name, event, got, want)
		}
	}
}

func TestRapidCommitAndPreference(t *testing.T) {
	p := newPlay(t)
	p.link.Configure(Config{ServerID: []byte("srv"), RapidCommit: true, Preference: 255})
	p.run("rapid commit", `
SOLICIT rapid na=1 pd=2 -> need address=true prefix=true
assign 2001:db8::7 -> bind 2001:db8::7
commit -> bound 2001:db8::7 2000; REPLY@ rapid na:1/500/800(2001:db8::7/1000/2000) pd:2/0/0(status=6)
SOLICIT na=1 -> ADVERTISE@ preference=255 na:1/500/800(2001:db8::7/1000/2000)
`)
}

func TestRestore(t *testing.T) {
	p := newPlay(t)
	p.run("before", boundScript)
	g := Grant{
		Address: p.link.Address(), Delegated: p.link.Delegated(), Preferred: 1000 * time.Second, Valid: 2000 * time.Second,
		T1: 100 * time.Second, T2: 200 * time.Second, DNS: []netip.Addr{addr("2001:db8::99")},
	}
	p.link = Restore(Config{ServerID: []byte("srv")}, g, p.link.Bindings())
	if due := p.link.Deadline(); !due.Equal(start.Add(2000 * time.Second)) {
		t.Errorf("deadline %s", due)
	}
	p.run("after", `
RENEW srv dns na=1,2001:db8::7 -> bound 2001:db8::7 2001:db8:7::/56 2000 renewed; REPLY@ dns=2001:db8::99 na:1/100/200(2001:db8::7/1000/2000)
`)
	g.Valid = 4000 * time.Second
	p.link.Renew(g)
	p.run("changed", `
RENEW srv na=1,2001:db8::7 -> bound 2001:db8::7 2001:db8:7::/56 4000 renewed; REPLY@ na:1/100/200(2001:db8::7/1000/4000)
`)
	offered := newPlay(t)
	offered.run("offered", "SOLICIT na=1 -> need address=true prefix=false\nassign 2001:db8::7 -> ADVERTISE@ na:1/500/800(2001:db8::7/1000/2000)")
	if b := offered.link.Bindings(); !b.AddressUntil.IsZero() || !b.PrefixUntil.IsZero() {
		t.Errorf("an offer is no binding: %+v", b)
	}
}
