package service

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"

	"vbng/aaa"
	"vbng/aaa/acct"
	"vbng/aaa/chain"
	"vbng/aaa/local"
	"vbng/aaa/radius"
	"vbng/control/clock"
	"vbng/control/store"
)

// Options is what the service stands on. Zero fields get the real thing.
type Options struct {
	Clock         clock.Clock
	Log           *slog.Logger
	Random        io.Reader
	OpenSocket    radius.Opener  // nil: by Sockets
	Sockets       radius.Sockets // nil: those of the process, which then has no VRFs
	NASIdentifier string         // used when neither it nor a hostname is configured
	Records       *store.Bucket  // of undelivered accounting records; nil: they end with the process
}

// Service authorizes and accounts subscribers as configured. Authorize and Account may be called
// from any goroutine, also before the first Apply.
type Service struct {
	options    Options
	users      local.Users
	client     *radius.Client
	accountant *acct.Accountant
	active     atomic.Pointer[policy]
	tally      tally
}

// New returns a service that refuses everything until it is configured.
func New(options Options) *Service {
	if options.Clock == nil {
		options.Clock = clock.Real{}
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.OpenSocket == nil && options.Sockets != nil {
		options.OpenSocket = radius.OpenVia(options.Sockets)
	}
	s := &Service{options: options}
	s.client = radius.New(radius.Options{
		Clock: options.Clock, Log: options.Log, Random: options.Random, Open: options.OpenSocket,
	})
	accounting := acct.Options{Clock: options.Clock, Log: options.Log}
	if options.Records != nil {
		k := keeper{options.Records, options.Log}
		accounting.Store, accounting.Kept = k, k.load()
	}
	s.accountant = acct.New(sink{s.client}, accounting)
	s.active.Store(&policy{})
	return s
}

// AnnounceStart tells the servers that all sessions before this moment are gone (Accounting-On), if
// so configured: those of "aaa", and those of every group that has servers of its own. It is for a router that begins without sessions, after the first Apply: not for one
// whose control process alone was restarted. Accounting-Off is never sent: the end of control ends no
// session, and whoever ends the forwarder as well tells nobody.
func (s *Service) AnnounceStart() {
	p := s.active.Load()
	if !p.announce {
		return
	}
	now := s.options.Clock.Now()
	for _, name := range p.announced() {
		s.accountant.Account(aaa.Record{
			Type:  aaa.AccountingOn,
			Time:  now,
			Group: name,
			// RFC 2866 5.5 wants an Acct-Session-Id in every record.
			AcctSessionID: "nas-" + strconv.FormatInt(now.UnixNano(), 36),
		}, nil)
	}
}

// Run implements commit.Subsystem.
func (s *Service) Run(ctx context.Context) error {
	var parts sync.WaitGroup
	parts.Go(func() { s.client.Run(ctx) })
	parts.Go(func() { s.accountant.Run(ctx) })
	parts.Wait()
	return nil
}

// byRADIUS and byLocal are the methods of the chain.
func (s *Service) byRADIUS() chain.Method {
	return chain.Method{Name: methodRADIUS, Ask: func(request aaa.Request, done func(aaa.Answer, bool)) {
		s.client.Authorize(request, func(answer aaa.Answer) {
			silent := answer.Reject != nil && answer.Reject.Cause == aaa.NoAnswer
			done(answer, !silent)
		})
	}}
}

func (s *Service) byLocal() chain.Method {
	return chain.Method{Name: methodLocal, Ask: func(request aaa.Request, done func(aaa.Answer, bool)) {
		done(s.users.Authorize(request))
	}}
}

// sink lets the accountant deliver by RADIUS.
type sink struct{ client *radius.Client }

// Deliver implements acct.Sink.
func (s sink) Deliver(record aaa.Record, done func(acct.Outcome)) {
	s.client.Account(record, func(err error) {
		switch {
		case err == nil:
			done(acct.Taken)
		case errors.Is(err, radius.ErrUnsendable):
			done(acct.Impossible)
		default:
			done(acct.Unanswered)
		}
	})
}

// tally counts answers.
type tally struct {
	grantsLocal, grantsRADIUS atomic.Uint64
	rejects                   [causes]atomic.Uint64
	unaccounted               atomic.Uint64 // records that came while accounting was off
}

const causes = int(aaa.BadReply) + 1

func (t *tally) count(answer aaa.Answer) {
	switch {
	case answer.Reject != nil:
		t.rejects[answer.Reject.Cause].Add(1)
	case answer.Grant.Authentic == aaa.ByLocal:
		t.grantsLocal.Add(1)
	default:
		t.grantsRADIUS.Add(1)
	}
}
