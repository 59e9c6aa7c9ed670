package ppp

import "time"

// Config is what the owner decides before a link starts. Zero fields take the defaults.
type Config struct {
	Name         string        // ours, in CHAP challenges; default "vbng"
	MRU          uint16        // bytes we receive; default 1492; more only by RFC 4638
	Auth         []AuthMethod  // acceptable methods, most wanted first; empty demands none
	Restart      time.Duration // restart timer; default 3 s (RFC 1661 section 4.6)
	MaxConfigure int           // default 10
	MaxTerminate int           // default 2
	MaxFailure   int           // default 5
	AuthTimeout  time.Duration // between two challenges; default 3 s
	AuthTries    int           // challenges; PAP waits AuthTries times AuthTimeout; default 10
}

func (c Config) withDefaults() Config {
	setDefault(&c.Name, "vbng")
	setDefault(&c.MRU, EthernetMRU)
	setDefault(&c.Restart, 3*time.Second)
	setDefault(&c.MaxConfigure, 10)
	setDefault(&c.MaxTerminate, 2)
	setDefault(&c.MaxFailure, 5)
	setDefault(&c.AuthTimeout, 3*time.Second)
	setDefault(&c.AuthTries, 10)
	var methods []AuthMethod
	for _, m := range c.Auth {
		if m != AuthNone {
			methods = append(methods, m)
		}
	}
	c.Auth = methods
	return c
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (c Config) limits() limits {
	return limits{
		restart: c.Restart, maxConfigure: c.MaxConfigure,
		maxTerminate: c.MaxTerminate, maxFailure: c.MaxFailure,
	}
}

// Phase is where a link stands (RFC 1661 section 3.2).
type Phase uint8

// The phases.
const (
	PhaseEstablish    Phase = iota // LCP negotiates
	PhaseAuthenticate              // the peer proves itself, or the owner decides
	PhaseNetwork                   // authenticated
	PhaseTerminate                 // LCP closes
	PhaseDead                      // Finished was put out
)

// String names the phase.
func (p Phase) String() string {
	return name([]string{"establish", "authenticate", "network", "terminate", "dead"}, int(p))
}

// Link is one subscriber's PPP session. It is not safe for concurrent use. Its methods never block
// and never keep the slices they are given; after Finished they do nothing.
type Link struct {
	cfg    Config
	random func([]byte)
	shared *shared

	lcp      *lcp
	lcpFSM   automaton
	auth     authenticator
	net      NetConfig // granted
	ipcp     *ipcp
	ipv6cp   *ipv6cp
	networks [2]network // IPCP and IPV6CP, independent of each other

	phase    Phase
	open     bool // OpenNetwork was called
	restored bool // and not opened again since
	looped   int  // consecutive echo requests with our own magic number
	out      []Output
}

// NewLink makes a link. The random source fills the slice it is given: magic numbers and challenges
// come from it, so it must be unpredictable.
func NewLink(cfg Config, random func([]byte)) *Link {
	cfg = cfg.withDefaults()
	l := &Link{cfg: cfg, random: random, shared: &shared{}, lcp: newLCP(cfg, random), ipcp: newIPCP(), ipv6cp: newIPV6CP(random)}
	l.shared.peerMRU = l.lcp.peer.mru
	l.lcpFSM = automaton{
		proto: ProtoLCP, limits: cfg.limits(), neg: l.lcp, shared: l.shared, timer: timer{id: TimerLCP},
		ends: causes{
			timeout: CauseConfigureTimeout, terminated: CausePeerTerminated,
			refused: CauseLCPRefused, rejected: CauseRejected,
		},
	}
	l.networks[0].fsm = automaton{
		proto: ProtoIPCP, limits: cfg.limits(), neg: l.ipcp, shared: l.shared, timer: timer{id: TimerIPCP},
		ends: causes{
			timeout: CauseIPCPTimeout, terminated: CauseNetworkTerminated,
			refused: CauseIPCPRefused, rejected: CauseIPCPRefused,
		},
	}
	l.networks[1].fsm = automaton{
		proto: ProtoIPV6CP, limits: cfg.limits(), neg: l.ipv6cp, shared: l.shared, timer: timer{id: TimerIPV6CP},
		ends: causes{
			timeout: CauseIPV6CPTimeout, terminated: CauseNetworkTerminated,
			refused: CauseIPV6CPRefused, rejected: CauseIPV6CPRefused,
		},
	}
	l.auth.timer.id = TimerAuth
	return l
}

// Start opens the link: the lower layer is up, and negotiation begins.
func (l *Link) Start() []Output {
	return l.run(func() {
		if l.lcpFSM.state == Initial {
			l.apply(l.lcpFSM.start())
		}
	})
}

// Timeout tells that a timer fired. Old generations are counted and ignored.
func (l *Link) Timeout(id TimerID, generation uint32) []Output {
	return l.run(func() {
		switch id {
		case TimerLCP:
			l.apply(l.lcpFSM.timeout(generation))
		case TimerIPCP:
			l.apply(l.networks[0].fsm.timeout(generation))
		case TimerIPV6CP:
			l.apply(l.networks[1].fsm.timeout(generation))
		case TimerAuth:
			l.authTimeout(generation)
		}
	})
}

// Close ends the link in good order: Terminate-Request, at most Max-Terminate times, then Finished
// with the cause. An empty cause becomes CauseAdminClose; a cause already known stays.
func (l *Link) Close(cause Cause) []Output {
	return l.run(func() { l.close(cause) })
}

func (l *Link) close(cause Cause) {
	setDefault(&cause, CauseAdminClose)
	l.apply(l.lcpFSM.close(cause))
	if l.lcpFSM.state == Initial { // never started: there is nobody to say goodbye to
		l.finish(cause)
	}
}

// LowerDown ends the link at once, without a word to the peer: the PPPoE session is gone.
func (l *Link) LowerDown() []Output {
	return l.run(func() {
		l.lcpFSM.because(CauseLowerDown)
		l.apply(l.lcpFSM.down())
		l.finish(l.lcpFSM.cause)
	})
}

// Phase returns where the link stands.
func (l *Link) Phase() Phase { return l.phase }

// States returns the states of the automatons, for display.
func (l *Link) States() (lcp, ipcp, ipv6cp State) {
	return l.lcpFSM.state, l.networks[0].fsm.state, l.networks[1].fsm.state
}

// Counters returns what the link did not answer so far.
func (l *Link) Counters() Counters { return l.shared.counters }

// run is the door of every method: it collects the outputs, and turns a fault of ours into the end of
// this one link instead of the process.
func (l *Link) run(f func()) (out []Output) {
	if l.phase == PhaseDead {
		return nil
	}
	defer func() {
		if recover() != nil {
			l.shared.counters.Internal++
			l.finish(CauseInternal)
		}
		out, l.out = l.out, nil
	}()
	f()
	return nil
}

// apply passes on an automaton's outputs, and acts on its layer signals in their place among them.
func (l *Link) apply(outs []Output) {
	for _, o := range outs {
		switch o := o.(type) {
		case layerUp:
			l.layerUp(o.proto)
		case layerDown:
			l.layerDown(o.proto)
		case layerFinished:
			l.layerFinished(o.proto, o.cause)
		default:
			l.out = append(l.out, o)
		}
	}
}

func (l *Link) layerUp(proto uint16) {
	if n := l.network(proto); n != nil {
		l.networkUp(n)
		return
	}
	l.shared.peerMRU = l.lcp.peer.mru
	l.out = append(l.out, l.lcpUp())
	l.beginAuth()
}

func (l *Link) lcpUp() LCPUp {
	return LCPUp{
		LocalMagic: l.lcp.localMagic(), PeerMagic: l.lcp.peer.magic,
		LocalMRU: l.lcp.localMRU(), PeerMRU: l.lcp.peer.mru,
	}
}

// layerDown: when LCP leaves Opened, all above it has to be done anew (RFC 1661 section 3.4).
func (l *Link) layerDown(proto uint16) {
	if n := l.network(proto); n != nil {
		l.networkDown(n)
		return
	}
	for i := range l.networks {
		l.apply(l.networks[i].fsm.down())
		l.networks[i].held = nil
	}
	l.open = false
	l.endAuth()
	l.out = append(l.out, LCPDown{})
	l.phase = PhaseEstablish
	if l.lcpFSM.terminating() {
		l.phase = PhaseTerminate
	}
}

// finish is the only place where a link ends.
func (l *Link) finish(cause Cause) {
	if l.phase == PhaseDead {
		return
	}
	l.out = l.lcpFSM.timer.stop(l.out)
	for i := range l.networks {
		l.networkDown(&l.networks[i])
		l.out = l.networks[i].fsm.timer.stop(l.out)
	}
	l.out = l.auth.timer.stop(l.out)
	l.phase = PhaseDead
	l.out = append(l.out, Finished{Cause: cause})
}
