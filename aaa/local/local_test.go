package local

import (
	"crypto/md5"
	"net/netip"
	"testing"
	"time"

	"vbng/aaa"
)

func users() *Users {
	u := &Users{}
	u.Set([]User{{Name: "alice", Password: "wonderland", Address: netip.MustParseAddr("100.64.0.9"),
		Pool: "gold", SessionTimeout: time.Hour, Address6: netip.MustParseAddr("2001:db8::9"), Pool6: "na",
		Prefix: netip.MustParsePrefix("2001:db8:1::/64"), PrefixPool: "ra",
		Delegated: netip.MustParsePrefix("2001:db8:2::/56"), DelegatedPool: "pd"}})
	return u
}

func chap(id byte, secret, challenge string) aaa.Request {
	sum := md5.Sum([]byte(string(id) + secret + challenge))
	return aaa.Request{Username: "alice", Method: aaa.CHAPMD5, CHAPID: id, CHAPChallenge: []byte(challenge), CHAPResponse: sum[:]}
}

func TestAuthorize(t *testing.T) {
	short := chap(7, "wonderland", "0123456789abcdef")
	short.CHAPResponse = short.CHAPResponse[:15]
	tests := []struct {
		name           string
		request        aaa.Request
		granted, known bool
	}{
		{"PAP", aaa.Request{Username: "alice", Method: aaa.PAP, Password: []byte("wonderland")}, true, true},
		{"line", aaa.Request{Username: "alice", Method: aaa.ByLine, Password: []byte("wonderland")}, true, true},
		{"line wrong", aaa.Request{Username: "alice", Method: aaa.ByLine, Password: []byte("")}, false, true},
		{"PAP wrong", aaa.Request{Username: "alice", Method: aaa.PAP, Password: []byte("wonderlanD")}, false, true},
		{"PAP empty", aaa.Request{Username: "alice", Method: aaa.PAP}, false, true},
		{"CHAP", chap(7, "wonderland", "0123456789abcdef"), true, true},
		{"CHAP wrong", chap(7, "wonder", "0123456789abcdef"), false, true},
		{"CHAP short", short, false, true},
		{"no method", aaa.Request{Username: "alice"}, false, true},
		{"unknown", aaa.Request{Username: "bob", Method: aaa.PAP, Password: []byte("wonderland")}, false, false},
	}
	for _, tt := range tests {
		answer, known := users().Authorize(tt.request)
		if known != tt.known || (answer.Grant != nil) != tt.granted || (answer.Reject != nil) == tt.granted {
			t.Errorf("%s: known %v, answer %+v", tt.name, known, answer)
		}
	}
}

func TestGrant(t *testing.T) {
	answer, _ := users().Authorize(chap(0, "wonderland", ""))
	g := answer.Grant
	if g == nil || g.Address != netip.MustParseAddr("100.64.0.9") || g.Pool != "gold" ||
		g.SessionTimeout != time.Hour || g.Authentic != aaa.ByLocal || g.Source != "local" {
		t.Errorf("grant %+v", g)
	}
	if g.Address6 != netip.MustParseAddr("2001:db8::9") || g.Prefix != netip.MustParsePrefix("2001:db8:1::/64") ||
		g.Delegated != netip.MustParsePrefix("2001:db8:2::/56") || g.Pool6+g.PrefixPool+g.DelegatedPool != "narapd" {
		t.Errorf("IPv6 of grant %+v", g)
	}
}

func TestNoUsers(t *testing.T) {
	if _, known := (&Users{}).Authorize(aaa.Request{Username: "alice", Method: aaa.PAP}); known {
		t.Error("an empty database knows alice")
	}
}
