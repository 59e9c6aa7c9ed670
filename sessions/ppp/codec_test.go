package ppp

import (
	"errors"
	"testing"
)

func TestParsePacket(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []byte
		data string
		err  error
	}{
		{"plain", []byte{1, 2, 0, 5, 'a'}, "a", nil},
		{"padding is ignored", []byte{1, 2, 0, 5, 'a', 0, 0}, "a", nil},
		{"no header", []byte{1, 2, 0}, "", ErrShort},
		{"length under four", []byte{1, 2, 0, 3, 0}, "", ErrLength},
		{"length past the end", []byte{1, 2, 0, 6, 'a'}, "", ErrLength},
	} {
		p, err := ParsePacket(c.in)
		if !errors.Is(err, c.err) || string(p.Data) != c.data {
			t.Errorf("%s: %+v, %v", c.name, p, err)
		}
	}
}

func TestParseOptions(t *testing.T) {
	opts, err := ParseOptions([]byte{1, 4, 5, 0xd4, 7, 2})
	if err != nil || len(opts) != 2 || !opts[0].equal(mruOpt(1492)) || len(opts[1].Data) != 0 {
		t.Errorf("%v, %v", opts, err)
	}
	var de *DecodeError
	if _, err := ParseOptions([]byte{1, 4, 5, 0xd4, 7, 1}); !errors.As(err, &de) || de.Offset != 5 {
		t.Errorf("length under two: %v", err)
	}
	if _, err := ParseOptions([]byte{1, 5, 5, 0xd4}); !errors.Is(err, ErrOptionLen) {
		t.Errorf("length past the end: %v", err)
	}
	if _, err := ParseOptions([]byte{1}); !errors.Is(err, ErrShort) {
		t.Errorf("half an option: %v", err)
	}
}

func TestParseCredentials(t *testing.T) {
	user, pw, err := ParsePAPRequest([]byte("\x02me\x03pw!trailing"))
	if err != nil || user != "me" || pw != "pw!" {
		t.Errorf("%q %q %v", user, pw, err)
	}
	for _, bad := range []string{"", "\x02m", "\x02me", "\x02me\x04pw!"} {
		if _, _, err := ParsePAPRequest([]byte(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	value, name, err := ParseCHAPValue([]byte("\x02xyme"))
	if err != nil || string(value) != "xy" || name != "me" {
		t.Errorf("%q %q %v", value, name, err)
	}
	for _, bad := range []string{"", "\x00me", "\x09xy"} {
		if _, _, err := ParseCHAPValue([]byte(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestNames(t *testing.T) {
	if AckRcvd.String() != "Ack-Rcvd" || EvRXJMinus.String() != "RXJ-" || ActSCJ.String() != "scj" ||
		NumStates.String() != "10" || AuthCHAPMD5.String() != "chap-md5" || PhaseDead.String() != "dead" {
		t.Error("a name is wrong")
	}
}
