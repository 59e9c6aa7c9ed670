package bgp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	api "github.com/osrg/gobgp/v3/api"
	gobgp "github.com/osrg/gobgp/v3/pkg/server"
)

const (
	bgpPort = 179 // RFC 4271 8
	// stopPatience bounds the wait for GoBGP's goroutines when BGP is taken away.
	stopPatience = 10 * time.Second
	globalTable  = "global"
	importPolicy = "import"
	exportPolicy = "export"
)

var errStopped = errors.New("BGP does not run in this VRF")

// server is a GoBGP server that can be stopped without leaving anything behind.
type server struct {
	hook *endHook

	mu     sync.RWMutex // held for reading by whoever uses bgp
	bgp    *gobgp.BgpServer
	cancel context.CancelFunc // of the watch
}

// startServer starts a GoBGP server whose sockets are bound to a device ("" is none).
func startServer(s *settings, device string, l *logger) (*server, error) {
	hook := &endHook{ended: make(chan struct{})}
	srv := &server{hook: hook, bgp: gobgp.NewBgpServer(gobgp.LoggerOption(l), gobgp.TimingHookOption(hook))}
	go srv.bgp.Serve()
	err := srv.bgp.StartBgp(context.Background(), &api.StartBgpRequest{Global: &api.Global{
		Asn: s.as, RouterId: s.routerID.String(), ListenPort: bgpPort, BindToDevice: device,
		// GoBGP has one value of this for all its servers: it is always on, and the Speaker takes as many of the
		// paths as its VRF may have.
		UseMultiplePaths: true,
	}})
	if err == nil {
		err = srv.assignPolicies()
	}
	if err != nil {
		srv.stop(l.log)
		return nil, fmt.Errorf("start BGP: %w", err)
	}
	return srv, nil
}

// assignPolicies makes the two policies that the filters of all neighbours are compiled into.
func (srv *server) assignPolicies() error {
	ctx := context.Background()
	if err := srv.bgp.SetPolicies(ctx, &api.SetPoliciesRequest{Policies: []*api.Policy{{Name: importPolicy}, {Name: exportPolicy}}}); err != nil {
		return err
	}
	for name, direction := range map[string]api.PolicyDirection{importPolicy: api.PolicyDirection_IMPORT, exportPolicy: api.PolicyDirection_EXPORT} {
		err := srv.bgp.AddPolicyAssignment(ctx, &api.AddPolicyAssignmentRequest{Assignment: &api.PolicyAssignment{
			Name: globalTable, Direction: direction, Policies: []*api.Policy{{Name: name}}, DefaultAction: api.RouteAction_ACCEPT,
		}})
		if err != nil {
			return err
		}
	}
	return nil
}

// watch calls heard with best paths, End-of-RIB markers and states of neighbours, on a goroutine of its own.
func (srv *server) watch(heard func(*api.WatchEventResponse)) error {
	ctx, cancel := context.WithCancel(context.Background())
	srv.cancel = cancel
	return srv.bgp.WatchEvent(ctx, &api.WatchEventRequest{
		Peer: &api.WatchEventRequest_Peer{},
		Table: &api.WatchEventRequest_Table{Filters: []*api.WatchEventRequest_Table_Filter{
			{Type: api.WatchEventRequest_Table_Filter_BEST}, {Type: api.WatchEventRequest_Table_Filter_EOR},
		}},
	}, heard)
}

// use runs f with the GoBGP server, which is not stopped meanwhile. srv may be nil.
func (srv *server) use(f func(*gobgp.BgpServer) error) error {
	if srv == nil {
		return errStopped
	}
	srv.mu.RLock()
	defer srv.mu.RUnlock()
	if srv.bgp == nil {
		return errStopped
	}
	return f(srv.bgp)
}

// stop ends every session with a NOTIFICATION, closes the listeners and ends GoBGP's goroutines.
func (srv *server) stop(log *slog.Logger) {
	srv.mu.Lock()
	bgp := srv.bgp
	srv.bgp = nil
	srv.mu.Unlock()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		bgp.Stop()
		srv.end(bgp)
	}()
	select {
	case <-stopped:
	case <-time.After(stopPatience):
		log.Error("BGP does not stop; what is left of it is idle", "patience", stopPatience)
	}
}

// end lets the goroutine of Serve, which has no end of its own, exit after the last operation it is asked for.
func (srv *server) end(bgp *gobgp.BgpServer) {
	srv.hook.last.Store(true)
	if srv.cancel != nil {
		srv.cancel() // GoBGP's watcher answers by one operation, its deregistration
	} else {
		_ = bgp.StopBgp(context.Background(), &api.StopBgpRequest{})
	}
	<-srv.hook.ended
}

// endHook is called by Serve after everything that it does.
type endHook struct {
	last  atomic.Bool
	ended chan struct{}
}

// Observe implements GoBGP's FSMTimingHook, in which nothing but its being called is of interest.
func (h *endHook) Observe(op gobgp.FSMOperation, _, _ time.Duration) {
	if op == gobgp.FSMMgmtOp && h.last.Load() {
		close(h.ended)
		runtime.Goexit()
	}
}
