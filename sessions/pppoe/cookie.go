package pppoe

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"time"
)

const (
	cookieBytes  = 16 // of the 32 of SHA-256 (RFC 2104 section 5: not under half)
	cookieBucket = 60 * time.Second
)

// cookies makes and checks AC-Cookies without memory of a client (RFC 2516 section 5.2 and appendix A):
// a keyed hash over who asks, from which line, and when. A cookie is good for one to two minutes.
type cookies struct {
	current  []byte
	previous []byte // key before the last rotation; nil: none
}

// make returns the cookie for a client at a time.
func (c *cookies) make(mac MAC, line Line, now time.Time) []byte {
	return cookie(c.current, mac, line, bucket(now))
}

// check accepts the cookies of this bucket and the one before, made with either key.
func (c *cookies) check(got []byte, mac MAC, line Line, now time.Time) bool {
	for _, key := range [...][]byte{c.current, c.previous} {
		if key == nil {
			continue
		}
		for _, b := range [...]int64{bucket(now), bucket(now) - 1} {
			if hmac.Equal(got, cookie(key, mac, line, b)) {
				return true
			}
		}
	}
	return false
}

func bucket(now time.Time) int64 { return now.Unix() / int64(cookieBucket/time.Second) }

func cookie(key []byte, mac MAC, line Line, bucket int64) []byte {
	h := hmac.New(sha256.New, key)
	var b [22]byte
	copy(b[:6], mac[:])
	binary.BigEndian.PutUint32(b[6:], line.Port)
	binary.BigEndian.PutUint16(b[10:], line.Outer)
	binary.BigEndian.PutUint16(b[12:], line.Inner)
	binary.BigEndian.PutUint64(b[14:], uint64(bucket))
	h.Write(b[:])
	return h.Sum(nil)[:cookieBytes]
}
