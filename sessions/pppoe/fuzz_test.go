package pppoe

import (
	"bytes"
	"testing"
)

func FuzzTags(f *testing.F) {
	f.Add([]byte{1, 1, 0, 0})
	f.Add(unhex(f, `0105 000f 00000de9 0103 616263 8104 00000001`))
	f.Add(unhex(f, `0120 0002 05dc 0000 0000 ff`))
	f.Fuzz(func(t *testing.T, b []byte) {
		tags, err := ParseTags(b)
		if err != nil {
			return
		}
		var again []byte
		for _, tag := range tags {
			again = tag.Append(again)
		}
		if !bytes.HasPrefix(b, again) {
			t.Fatalf("%x became %x", b, again)
		}
		sortTags(tags)
	})
}

// FuzzHandle offers any bytes as any packet, with a cookie that is good for half of them.
func FuzzHandle(f *testing.F) {
	f.Add([]byte{0x11, 9, 0, 0, 0, 4, 1, 1, 0, 0}, false)
	f.Add([]byte{0x11, 0x19, 0, 0, 0, 10, 1, 1, 0, 0, 1, 3, 0, 2, 1, 2}, true)
	f.Add([]byte{0x11, 0xa7, 0, 1, 0, 0}, false)
	r := responder(f, func(c *Config) { c.Services, c.MaxPayload = []string{"net", "tv"}, 1500 })
	f.Fuzz(func(t *testing.T, b []byte, good bool) {
		if p, err := ParsePacket(b); err == nil && good {
			tag := Tag{TagACCookie, cookie(r.cookies.key, client, line, bucket(noon))}
			b = append(tag.Append(bytes.Clone(b[:headerBytes])), p.Tags...)
			if n := len(b) - headerBytes; n <= 0xffff {
				b[4], b[5] = byte(n>>8), byte(n)
			}
		}
		reply, ev := r.handle(frame(ours, b), noon)
		checkReply(t, reply)
		if ev.Kind == EventRequested {
			pads, err := BuildPADS(ev.Request, 9)
			if err != nil {
				t.Fatal(err)
			}
			checkReply(t, pads)
		}
		if (ev.Kind == EventRefused) != (ev.Reason != ReasonNone) {
			t.Fatalf("%+v", ev)
		}
	})
}

func checkReply(t *testing.T, b []byte) {
	t.Helper()
	if b == nil {
		return
	}
	p, err := ParsePacket(b)
	if err != nil || len(b) > maxPacketBytes {
		t.Fatalf("%x: %v", b, err)
	}
	if _, err := ParseTags(p.Tags); err != nil {
		t.Fatalf("%x: %v", b, err)
	}
}
