package radius

import (
	"sort"
	"time"

	"layeh.com/radius"

	"vbng/aaa"
)

// readAnswer makes the answer to an Access-Request out of an authentic reply.
func (c *Client) readAnswer(e *endpoint, request aaa.Request, r reply) aaa.Answer {
	switch r.code {
	case radius.CodeAccessReject:
		return refusal(aaa.BadCredentials, decodeMessage(r.attributes))
	case radius.CodeAccessChallenge: // RFC 2865 4.4: who cannot answer a challenge treats it as a Reject
		c.warnings.warn("RADIUS challenge taken as a reject", e.label(), "user", request.Username)
		return refusal(aaa.BadCredentials, decodeMessage(r.attributes))
	}
	a, err := decodeAccept(r.attributes)
	c.noteIgnored(e, request.AcctSessionID, a.ignored)
	if err != nil {
		e.counters.BadAccepts++
		c.warnings.warn("RADIUS accept cannot be honoured", e.label(), "user", request.Username, "error", err)
		return refusal(aaa.BadReply, "")
	}
	grant := a.grant
	grant.Source, grant.Authentic = e.server.Name, aaa.ByRADIUS
	return aaa.Answer{Grant: &grant}
}

// IgnoredAttribute is an attribute that servers send and that is not honoured.
type IgnoredAttribute struct {
	Name        string    `show:"Attribute"`
	Count       uint64    `show:"Count"`
	LastServer  string    `show:"Last server"`
	LastSession string    `show:"Last session"`
	Last        time.Time `show:"Last time"`
}

// ignoredNames bounds the memory of names: more than the standard knows, with room for vendors.
const ignoredNames = 1024

// noteIgnored counts attributes that are not honoured and writes each name to the log, now and then.
func (c *Client) noteIgnored(e *endpoint, session string, names []string) {
	for _, name := range names {
		entry := c.ignoredEntry(name)
		entry.Count++
		entry.LastServer, entry.LastSession, entry.Last = e.server.Name, session, c.now()
		c.warnings.warn("RADIUS attribute not honoured: "+entry.Name, e.label(), "attribute", name, "session", session)
	}
}

func (c *Client) ignoredEntry(name string) *IgnoredAttribute {
	if c.ignored[name] == nil && len(c.ignored) >= ignoredNames {
		name = "(further names)"
	}
	if c.ignored[name] == nil {
		c.ignored[name] = &IgnoredAttribute{Name: name}
	}
	return c.ignored[name]
}

func (c *Client) ignoredByName() []IgnoredAttribute {
	all := make([]IgnoredAttribute, 0, len(c.ignored))
	for _, entry := range c.ignored {
		all = append(all, *entry)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all
}
