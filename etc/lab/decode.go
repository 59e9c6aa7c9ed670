//go:build lab

package lab

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Verify reads captures as Decoded does, and wants every protocol of the skeleton to have occurred.
func (l *Lab) Verify(access, core, radius string) {
	l.t.Helper()
	own := l.Decoded(access, core, radius)
	for _, want := range []struct {
		file string
		seen []string
	}{
		{access, []string{"pppoe.code=0x07", "pppoe.code=0x65", "pppoe.code=0xa7", "lcp", "chap.code=1", "chap.code=3", "pap.code=2", "ipcp", "ip", "tcp", "icmp", "vlan", "ieee8021ad"}},
		{core, []string{"arp.opcode=1", "ip", "tcp", "icmp"}},
		{radius, []string{"radius.code=1", "radius.code=4"}},
	} {
		seen := l.seen(want.file, own[want.file])
		for _, w := range want.seen {
			if !seen[w] {
				l.t.Errorf("%s: no frame of ours has %s", want.file, w)
			}
		}
	}
}

// Decoded reads captures with tshark, all checksum checks on: everything that the router sent must decode without
// an expert warning. What tshark thinks of the course of a TCP connection concerns its ends, so of TCP only
// the checksums count. It returns the filters that select frames of ours, by file.
func (l *Lab) Decoded(access, core, radius string) map[string]string {
	l.t.Helper()
	time.Sleep(time.Second) // the recorder writes its last block
	own := map[string]string{
		access: "eth.src == " + l.mac("access0"),
		core:   "eth.src == " + l.mac("core0"),
		radius: "ip.src == " + MgmtAddr,
	}
	for file, filter := range own {
		bad := l.tshark(file, fmt.Sprintf("(%s) && (_ws.malformed || (_ws.expert.severity >= 0x600000 && !tcp) || "+
			"ip.checksum.status == 0 || tcp.checksum.status == 0 || udp.checksum.status == 0 || icmp.checksum.status == 0)", filter),
			"frame.number", "_ws.col.Protocol", "_ws.col.Info", "_ws.expert.message")
		if bad != "" {
			l.t.Errorf("%s: frames of ours that tshark objects to:\n%s", file, first(bad, 20))
		}
	}
	return own
}

// Saw wants each of the filters to match a frame among those that own selects.
func (l *Lab) Saw(file, own string, filters ...string) {
	l.t.Helper()
	for _, f := range filters {
		if l.tshark(file, fmt.Sprintf("(%s) && (%s)", own, f), "frame.number") == "" {
			l.t.Errorf("%s: no frame of ours has %s", file, f)
		}
	}
}

// seen tells which protocols occur in the frames that a filter selects, and which codes of them.
func (l *Lab) seen(file, filter string) map[string]bool {
	l.t.Helper()
	codes := []string{"pppoe.code", "chap.code", "pap.code", "arp.opcode", "radius.code"}
	found := map[string]bool{}
	for _, line := range strings.Split(l.tshark(file, filter, append([]string{"frame.protocols"}, codes...)...), "\n") {
		fields := strings.Split(line, "\t")
		for _, protocol := range strings.Split(fields[0], ":") {
			found[protocol] = true
		}
		for i, value := range fields[1:] {
			found[codes[i]+"="+value] = true
		}
	}
	return found
}

func (l *Lab) mac(device string) string {
	return strings.TrimSpace(l.In("R", "cat", "/sys/class/net/"+device+"/address"))
}

func (l *Lab) tshark(file, filter string, fields ...string) string {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	options := []string{"tshark", "-n", "-r", file, "-Y", filter, "-T", "fields"}
	for _, f := range fields {
		options = append(options, "-e", f)
	}
	for _, check := range []string{"ip.check_checksum", "tcp.check_checksum", "udp.check_checksum"} {
		options = append(options, "-o", check+":TRUE")
	}
	out, err := output(ctx, nil, options...)
	if err != nil {
		l.t.Fatalf("tshark -Y %q: %v\n%s", filter, err, out)
	}
	return withoutRootWarning(out)
}

// withoutRootWarning drops tshark's remark about being run as root.
func withoutRootWarning(out string) string {
	var lines []string
	for _, line := range strings.Split(out, "\n") {
		if line != "" && !strings.HasPrefix(line, "Running as user") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func first(text string, lines int) string {
	all := strings.Split(text, "\n")
	return strings.Join(all[:min(lines, len(all))], "\n")
}
