package radius

// groupKey is a group of servers in one of their roles.
type groupKey struct {
	kind kind
	name string
}

// members returns the endpoints of the servers named, in that order; all when none is named. A server that
// is not configured any more is left out.
func members(all []*endpoint, servers []string) []*endpoint {
	if len(servers) == 0 {
		return all
	}
	var chosen []*endpoint
	for _, name := range servers {
		for _, e := range all {
			if e.server.Name == name {
				chosen = append(chosen, e)
			}
		}
	}
	return chosen
}

// candidates are the endpoints that may answer the exchange, in order of preference: those of its group,
// or all where the group is not known or none of its servers is there any more.
func (x *exchange) candidates() []*endpoint {
	c := x.client
	all := c.access
	if x.kind == accounting {
		all = c.acct
	}
	name := x.group()
	if name == "" {
		return all
	}
	if chosen := c.groups[groupKey{x.kind, name}]; len(chosen) > 0 {
		return chosen
	}
	if len(all) > 0 {
		c.warnings.warn("no server of the aaa group is configured, all servers are asked", "group "+name, "role", x.kind.String(), "session", x.session())
	}
	return all
}
