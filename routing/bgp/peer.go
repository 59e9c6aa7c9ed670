package bgp

import (
	"slices"
	"time"

	api "github.com/osrg/gobgp/v3/api"
)

const (
	// restartSeconds is how long neighbours are asked to keep our routes while control restarts (RFC 4724 3).
	restartSeconds = 120
	// deferralSeconds is how long after a restart our announcements wait for the neighbours' End-of-RIB.
	deferralSeconds = 30
	connectRetry    = 5 * time.Second
	idleHold        = 5 * time.Second
)

var familyMessages = [families]*api.Family{
	{Afi: api.Family_AFI_IP, Safi: api.Family_SAFI_UNICAST},
	{Afi: api.Family_AFI_IP6, Safi: api.Family_SAFI_UNICAST},
}

// peer returns a neighbour in GoBGP's words. The description stays with us: for GoBGP it would be a
// reason to end the session.
func (n *neighbor) peer(device string, restarting bool) *api.Peer {
	p := &api.Peer{
		Conf: &api.PeerConf{
			NeighborAddress: n.addr.String(), PeerAsn: n.as, AuthPassword: n.password, AdminDown: n.shutdown,
		},
		Timers: &api.Timers{Config: &api.TimersConfig{
			HoldTime: uint64(n.hold / time.Second), KeepaliveInterval: uint64(n.keepalive / time.Second),
			ConnectRetry: uint64(connectRetry / time.Second), IdleHoldTimeAfterReset: uint64(idleHold / time.Second),
		}},
		Transport: &api.Transport{BindInterface: device},
		GracefulRestart: &api.GracefulRestart{
			Enabled: true, RestartTime: restartSeconds, DeferralTime: deferralSeconds, LocalRestarting: restarting,
		},
	}
	if n.source.IsValid() {
		p.Transport.LocalAddress = n.source.String()
	}
	if n.multihop > 0 {
		p.EbgpMultihop = &api.EbgpMultihop{Enabled: true, MultihopTtl: uint32(n.multihop)}
	}
	for f := range families {
		if n.active[f] {
			p.AfiSafis = append(p.AfiSafis, n.families[f].afiSafi(f))
		}
	}
	return p
}

func (x exchange) afiSafi(f family) *api.AfiSafi {
	a := &api.AfiSafi{
		Config:            &api.AfiSafiConfig{Family: familyMessages[f], Enabled: true},
		MpGracefulRestart: &api.MpGracefulRestart{Config: &api.MpGracefulRestartConfig{Enabled: true}},
	}
	if x.maximum > 0 && !x.warningOnly {
		a.PrefixLimits = &api.PrefixLimit{Family: familyMessages[f], MaxPrefixes: x.maximum, ShutdownThresholdPct: 75}
	}
	return a
}

// adjustable reports whether two settings of one neighbour differ in what GoBGP changes in place.
func adjustable(a, b *neighbor) bool {
	return a.multihop != b.multihop || a.keepalive != b.keepalive || a.hold != b.hold ||
		!slices.EqualFunc(a.families[:], b.families[:], func(x, y exchange) bool {
			return x.maximum == y.maximum && x.warningOnly == y.warningOnly
		})
}
