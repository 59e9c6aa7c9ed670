//go:build lab

package lab

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// RADIUS is a running FreeRADIUS.
type RADIUS struct {
	*Process
	dir string
}

// FreeRADIUS starts a server for the router's standard configuration. A legacy one is as Debian
// packages it: its answers carry no Message-Authenticator.
func (l *Lab) FreeRADIUS(legacy bool) *RADIUS {
	l.t.Helper()
	dir := filepath.Join(l.Dir, "radius")
	command := []string{"env", "SECRET=" + Secret, "LISTEN=" + RADIUSAddr, filepath.Join(root(), "etc/lab/radius/freeradius.sh"), dir, "1812"}
	if legacy {
		command = append(command, "legacy")
	}
	r := &RADIUS{Process: l.Start("S", "freeradius", command...), dir: dir}
	Until(l.t, 20*time.Second, "FreeRADIUS ready", func() bool {
		log, _ := os.ReadFile(filepath.Join(dir, "log"))
		return strings.Contains(string(log), "Ready to process requests")
	})
	return r
}

// AcctRecord is one record of the server's detail file: attribute to value, quotes removed.
type AcctRecord map[string]string

// Records returns the accounting records so far, in order.
func (r *RADIUS) Records() []AcctRecord {
	text, _ := os.ReadFile(filepath.Join(r.dir, "detail"))
	var records []AcctRecord
	for _, block := range strings.Split(string(text), "\n\n") {
		record := AcctRecord{}
		for _, line := range strings.Split(block, "\n") {
			if name, value, ok := strings.Cut(strings.TrimSpace(line), " = "); ok {
				record[name] = strings.Trim(value, `"`)
			}
		}
		if record["Acct-Status-Type"] != "" {
			records = append(records, record)
		}
	}
	return records
}

// Of returns the records of a type, by Acct-Session-Id.
func (r *RADIUS) Of(status string) map[string][]AcctRecord {
	found := map[string][]AcctRecord{}
	for _, record := range r.Records() {
		if record["Acct-Status-Type"] == status {
			id := record["Acct-Session-Id"]
			found[id] = append(found[id], record)
		}
	}
	return found
}

// Octets returns a record's 64-bit byte counts (RFC 2869 5.1 and 5.2).
func (r AcctRecord) Octets() (input, output uint64) {
	return r.number("Acct-Input-Octets") | r.number("Acct-Input-Gigawords")<<32,
		r.number("Acct-Output-Octets") | r.number("Acct-Output-Gigawords")<<32
}

func (r AcctRecord) number(name string) uint64 {
	n, _ := strconv.ParseUint(r[name], 10, 64)
	return n
}

// Addr is the subscriber's address.
func (r AcctRecord) Addr() net.IP { return net.ParseIP(r["Framed-IP-Address"]) }
