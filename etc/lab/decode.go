//go:build lab

package lab

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Verify reads captures with tshark, all checksum checks on: everything that the router sent must
// decode without an expert warning, and every protocol of the skeleton must have occurred.
func (l *Lab) Verify(access, core, radius string) {
	l.t.Helper()
	time.Sleep(time.Second) // the recorder writes its last block
	own := map[string]string{
		access: "eth.src == " + l.mac("access0"),
		core:   "eth.src == " + l.mac("core0"),
		radius: "ip.src == " + MgmtAddr,
	}
	for file, filter := range own {
		bad := l.tshark(file, fmt.Sprintf("(%s) && (_ws.malformed || _ws.expert.severity >= 0x600000 || "+
			"ip.checksum.status == 0 || tcp.checksum.status == 0 || udp.checksum.status == 0 || icmp.checksum.status == 0)", filter))
		if bad != "" {
			l.t.Errorf("%s: frames of ours that tshark objects to:\n%s", file, first(bad, 20))
		}
	}
	for _, seen := range []struct{ file, filter string }{
		{access, "pppoed.code == 0x07"}, {access, "pppoed.code == 0x65"}, {access, "lcp"}, {access, "chap.code == 3"},
		{access, "pap.code == 2"}, {access, "ipcp"}, {access, "ip && pppoes"}, {access, "vlan"}, {access, "ieee8021ad"},
		{core, "arp.opcode == 1"}, {core, "ip"}, {core, "tcp"}, {core, "icmp"},
		{radius, "radius.code == 1"}, {radius, "radius.code == 4"},
	} {
		if l.tshark(seen.file, fmt.Sprintf("(%s) && (%s)", own[seen.file], seen.filter)) == "" {
			l.t.Errorf("%s: no frame of ours matches %s", seen.file, seen.filter)
		}
	}
}

func (l *Lab) mac(device string) string {
	return strings.TrimSpace(l.In("R", "cat", "/sys/class/net/"+device+"/address"))
}

func (l *Lab) tshark(file, filter string) string {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	options := []string{"tshark", "-r", file, "-Y", filter, "-T", "fields", "-e", "frame.number", "-e", "_ws.col.Protocol", "-e", "_ws.col.Info", "-e", "_ws.expert.message"}
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
