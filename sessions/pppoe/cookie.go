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
type cookies struct{ key []byte }

// make returns the cookie for a client at a time.
func (c cookies) make(mac MAC, line Line, now time.Time) []byte {
	return cookie(c.key, mac, line, bucket(now))
}

// check accepts the cookies of this bucket and the one before.
func (c cookies) check(got []byte, mac MAC, line Line, now time.Time) bool {
	return hmac.Equal(got, cookie(c.key, mac, line, bucket(now))) ||
		hmac.Equal(got, cookie(c.key, mac, line, bucket(now)-1))
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
