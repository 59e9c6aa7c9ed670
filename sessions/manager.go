package sessions

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"sync/atomic"
	"time"

	"vbng/control/clock"
	"vbng/control/loop"
	"vbng/control/store"
	"vbng/forwarding/entry"
	"vbng/sessions/pppoe"
)

const (
	// inboxLimit bounds the frames that wait; at 1,000 set-ups a second it is some seconds' work.
	inboxLimit = 1 << 15
	// setupTime bounds the time from PADR to up, whoever is slow.
	setupTime = 2 * time.Minute

	cookieKeyBytes = 32
)

// Needs is what the Manager works with. All fields but Random and Log are required.
type Needs struct {
	Clock      clock.Clock
	Log        *slog.Logger // nil: slog.Default
	Store      *store.Store
	Programmer entry.Programmer
	Counters   entry.Counters // may be a Base, too
	Ports      Ports
	Authorizer Authorizer
	Accountant Accountant
	Routes     Routes
	VRFs       VRFs  // nil: there is the default one only
	Relay      Relay // nil: DHCP relay does not work
	// Boot tells the boot of the machine and its age, by a clock that nobody steps; nil: the wall clock is believed
	// over a restart.
	Boot func() (id string, since time.Duration)
	// Random fills the slice with unpredictable bytes; nil: the system's.
	Random func([]byte)
}

// Manager owns all sessions: it is their only index and the only one to change them, from one loop.
// It is an entry.Receiver of the PPPoE punt classes and a commit.Subsystem.
type Manager struct {
	needs  Needs
	loop   *loop.Loop[message]
	log    *sampler
	jitter *mathrand.Rand

	// Read by other goroutines.
	settings  atomic.Pointer[settings] // the punt path's
	cookieKey []byte
	full      atomic.Bool // the box limit is reached: no offers
	stats     *stats

	// The loop's own.
	current   *settings
	index     *index
	spaces    map[entry.VRFID]*space
	pppoeIDs  *pppoe.SessionIDs
	ids       *store.Counter
	birth     uint32 // of the store, in Acct-Session-Ids
	records   *store.Bucket
	history   *history
	padts     *oncePerSecond
	pace      *pacer  // the punt path's
	refused   holdoff // IPoE clients
	decliners decliners
	pending   int // IPoE clients that are not authorized yet
	tending   time.Time
	restore   restoration
	// farewells are those who wait for a session's end.
	farewells map[entry.SessionID][]*farewell
	followers []*follower                 // "debug subscriber"; nil: nobody follows
	listening atomic.Pointer[[]*follower] // the same, for the punt path
}

// New returns a Manager without sessions. Register it with the commit engine and the punt path, then
// call Restore once, then Run.
func New(n Needs) (*Manager, error) {
	if n.Random == nil {
		n.Random = func(b []byte) { _, _ = rand.Read(b) } // never fails since Go 1.24
	}
	if n.Log == nil {
		n.Log = slog.Default()
	}
	m := &Manager{
		needs: n, loop: loop.New[message](n.Clock, inboxLimit), log: newSampler(n.Log, n.Clock),
		cookieKey: make([]byte, cookieKeyBytes), stats: newStats(),
		index: newIndex(), spaces: map[entry.VRFID]*space{}, pppoeIDs: pppoe.NewSessionIDs(n.Random),
		records: n.Store.Bucket("sessions"), history: newHistory(), padts: newOncePerSecond(), pace: newPacer(),
		decliners: decliners{},
	}
	n.Random(m.cookieKey)
	var seed [16]byte
	n.Random(seed[:])
	m.jitter = mathrand.New(mathrand.NewPCG(binary.BigEndian.Uint64(seed[:8]), binary.BigEndian.Uint64(seed[8:])))
	m.use(&settings{})
	var err error
	if m.ids, err = n.Store.Counter("session"); err != nil {
		return nil, fmt.Errorf("start sessions: %w", err)
	}
	if m.birth, err = n.Store.Birth(); err != nil {
		return nil, fmt.Errorf("start sessions: %w", err)
	}
	return m, nil
}

// Run runs the loop until ctx ends. Sessions outlive it: the forwarder goes on, and the store has them.
func (m *Manager) Run(ctx context.Context) error {
	m.loop.Run(ctx, m.handle)
	return nil
}

// Event takes news of the forwarder: PeerSilent and ForwarderState; others are ignored.
func (m *Manager) Event(e entry.Event) {
	switch e := e.(type) {
	case entry.PeerSilent:
		m.loop.Post(peerSilent{e.Session})
	case entry.ForwarderState:
		if e.Up {
			m.loop.Post(forwarderUp{})
		}
	}
}

// acctSessionID makes an Acct-Session-Id that no session had before, whatever happened to the store:
// a store begun anew counts from one again, but has another birth.
func (m *Manager) acctSessionID(id entry.SessionID) string {
	return fmt.Sprintf("%08X%08X", m.birth, uint64(id))
}
