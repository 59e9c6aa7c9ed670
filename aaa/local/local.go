// Package local knows the subscribers that the configuration itself names.
//
// RFCs: 1334 (PAP), 1994 (CHAP).
package local

import (
	"crypto/md5"
	"crypto/sha256"
	"crypto/subtle"
	"net/netip"
	"sync/atomic"
	"time"

	"vbng/aaa"
)

// User is a subscriber with its password and rights.
type User struct {
	Name           string
	Password       string
	Address        netip.Addr   // invalid: from the pool
	Pool           string       // empty: the pool of the subscriber's profile
	Address6       netip.Addr   // for IA_NA; invalid: from Pool6
	Pool6          string       // empty: the profile's, as for the pools below
	Prefix         netip.Prefix // for router advertisements; invalid: from PrefixPool
	PrefixPool     string
	Delegated      netip.Prefix // for IA_PD; invalid: from DelegatedPool
	DelegatedPool  string
	SessionTimeout time.Duration
}

// Users is the set of local users. It may be used from any goroutine.
type Users struct {
	byName atomic.Pointer[map[string]User]
}

// Set replaces all users.
func (u *Users) Set(users []User) {
	byName := make(map[string]User, len(users))
	for _, user := range users {
		byName[user.Name] = user
	}
	u.byName.Store(&byName)
}

// Authorize checks the credentials. For a name that it does not know, known is false and the answer
// a refusal: another method may know better.
func (u *Users) Authorize(request aaa.Request) (answer aaa.Answer, known bool) {
	user, known := u.lookup(request.Username)
	if !known || !proven(request, user.Password) {
		return aaa.Answer{Reject: &aaa.Reject{Cause: aaa.BadCredentials}}, known
	}
	return aaa.Answer{Grant: &aaa.Grant{
		Address:        user.Address,
		Pool:           user.Pool,
		Address6:       user.Address6,
		Pool6:          user.Pool6,
		Prefix:         user.Prefix,
		PrefixPool:     user.PrefixPool,
		Delegated:      user.Delegated,
		DelegatedPool:  user.DelegatedPool,
		SessionTimeout: user.SessionTimeout,
		Source:         "local",
		Authentic:      aaa.ByLocal,
	}}, true
}

func (u *Users) lookup(name string) (User, bool) {
	users := u.byName.Load()
	if users == nil {
		return User{}, false
	}
	user, known := (*users)[name]
	return user, known
}

// proven compares in constant time.
func proven(request aaa.Request, password string) bool {
	switch request.Method {
	case aaa.PAP, aaa.ByLine: // sums, so that the time does not tell the length
		given, want := sha256.Sum256(request.Password), sha256.Sum256([]byte(password))
		return subtle.ConstantTimeCompare(given[:], want[:]) == 1
	case aaa.CHAPMD5: // RFC 1994 4.1, Value: of identifier, secret, challenge
		sum := md5.New()
		sum.Write([]byte{request.CHAPID})
		sum.Write([]byte(password))
		sum.Write(request.CHAPChallenge)
		return subtle.ConstantTimeCompare(sum.Sum(nil), request.CHAPResponse) == 1
	}
	return false
}
