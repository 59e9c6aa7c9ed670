package sessions

import (
	"maps"
	"slices"

	"vbng/aaa"
	"vbng/sessions/ppp"
)

// Cause names why a session ended or why a client got none. It is what show, logs and counters say.
type Cause string

// The causes that the lifecycle finds. Those that the PPP link finds (ppp.Cause) and those of a
// refused authorization (aaa.RejectCause) keep their own names.
const (
	CausePADT            Cause = "padt-received"
	CauseReplaced        Cause = "replaced-by-new-session"
	CausePeerSilent      Cause = "peer-silent"
	CauseSessionTimeout  Cause = "session-timeout"
	CauseIdleTimeout     Cause = "idle-timeout"
	CauseCleared         Cause = "cleared-by-operator"
	CausePortRemoved     Cause = "port-removed"
	CausePortShutdown    Cause = "port-shutdown"
	CauseProfileRemoved  Cause = "profile-removed"
	CauseSetupTimeout    Cause = "setup-timeout"
	CausePoolExhausted   Cause = "pool-exhausted"
	CausePoolUnknown     Cause = "pool-unknown"
	CauseAddressInUse    Cause = "address-in-use"
	CauseAddressUnusable Cause = "address-unusable"
	CauseAddressOwn      Cause = "address-is-routers-own"
	CauseProgramRefused  Cause = "forwarder-refused"
	CauseRouteRefused    Cause = "route-refused"
	CauseIdentityChanged Cause = "identity-changed"
	CauseRestoreFailed   Cause = "restore-failed"

	CauseLeaseExpired Cause = "lease-expired"
	CauseOfferExpired Cause = "offer-expired"
	CauseReleased     Cause = "released-by-client"
	CauseOtherServer  Cause = "other-server-chosen"
	CauseDeclined     Cause = "address-declined"
	CauseServerNak    Cause = "server-refused-lease"
	CauseLineChanged  Cause = "line-changed"

	CauseLimitBox  Cause = "limit-box"
	CauseLimitPort Cause = "limit-port"
	CauseLimitVLAN Cause = "limit-vlan"
	CauseLimitMAC  Cause = "limit-mac"
	CauseNoPPPoEID Cause = "no-pppoe-session-id"
)

// causeInfo is what a cause means to others.
type causeInfo struct {
	terminate aaa.TerminateCause
	text      string // for the log, and for the peer where a message can reach it
}

// meanings holds every cause there is; a test compares it with the constants.
var meanings = map[Cause]causeInfo{
	CausePADT:            {aaa.UserRequest, "the client ended the PPPoE session"},
	CauseReplaced:        {aaa.LostCarrier, "the client dialled in anew"},
	CausePeerSilent:      {aaa.LostCarrier, "the client does not answer LCP echoes"},
	CauseSessionTimeout:  {aaa.SessionTimeout, "the session time is over"},
	CauseIdleTimeout:     {aaa.IdleTimeout, "the subscriber was idle for too long"},
	CauseCleared:         {aaa.AdminReset, "the operator ended the session"},
	CausePortRemoved:     {aaa.PortError, "the access port was removed"},
	CausePortShutdown:    {aaa.AdminReset, "the access port was shut down"},
	CauseProfileRemoved:  {aaa.NASRequest, "the subscriber's VLAN or port is not served by a profile any more"},
	CauseSetupTimeout:    {aaa.NASRequest, "the session did not come up in time"},
	CausePoolExhausted:   {aaa.ServiceUnavail, "no address is free"},
	CausePoolUnknown:     {aaa.NASError, "the address pool is not configured"},
	CauseAddressInUse:    {aaa.NASError, "the address or prefix is in use by another session, or overlaps one in use"},
	CauseAddressUnusable: {aaa.NASError, "the address or prefix cannot be a subscriber's"},
	CauseAddressOwn:      {aaa.NASError, "the address is the router's own"},
	CauseProgramRefused:  {aaa.NASError, "the forwarder refused the session"},
	CauseRouteRefused:    {aaa.NASError, "the subscriber's route was refused"},
	CauseIdentityChanged: {aaa.NASRequest, "the client came back as somebody else, or to another address"},
	CauseRestoreFailed:   {aaa.NASReboot, "the session could not be restored after a restart"},

	CauseLeaseExpired: {aaa.LostCarrier, "the client did not renew its lease"},
	CauseOfferExpired: {aaa.LostCarrier, "the client did not take what it was offered"},
	CauseReleased:     {aaa.UserRequest, "the client released its lease"},
	CauseOtherServer:  {aaa.UserRequest, "the client took the offer of another DHCP server"},
	CauseDeclined:     {aaa.UserError, "the client found its address in use by another station"},
	CauseServerNak:    {aaa.NASRequest, "the DHCP server took the lease back"},
	CauseLineChanged:  {aaa.LostCarrier, "the client's address came from another line of its access node"},

	CauseLimitBox:  {aaa.NASRequest, "the router holds as many sessions as it may"},
	CauseLimitPort: {aaa.NASRequest, "the port holds as many sessions as it may"},
	CauseLimitVLAN: {aaa.NASRequest, "the VLAN holds as many sessions as it may"},
	CauseLimitMAC:  {aaa.NASRequest, "the client holds as many sessions as it may"},
	CauseNoPPPoEID: {aaa.NASError, "no PPPoE session id is free on the VLAN"},

	Cause(ppp.CausePeerTerminated):    {aaa.UserRequest, "the client terminated LCP"},
	Cause(ppp.CauseNetworkTerminated): {aaa.UserRequest, "the client terminated the last network protocol"},
	Cause(ppp.CauseAdminClose):        {aaa.AdminReset, "closed"},
	Cause(ppp.CauseLowerDown):         {aaa.LostCarrier, "the PPPoE session is gone"},
	Cause(ppp.CauseConfigureTimeout):  {aaa.LostCarrier, "the client does not answer LCP"},
	Cause(ppp.CauseLCPRefused):        {aaa.UserError, "LCP options cannot be agreed"},
	Cause(ppp.CauseLoopDetected):      {aaa.PortError, "the line is looped"},
	Cause(ppp.CauseNoAuthProtocol):    {aaa.UserError, "the client refuses every authentication protocol"},
	Cause(ppp.CauseAuthTimeout):       {aaa.UserError, "the client sent no credentials in time"},
	Cause(ppp.CauseAuthFailed):        {aaa.UserError, "authentication failed"},
	Cause(ppp.CauseNoNetwork):         {aaa.NASError, "there is no address to offer"},
	Cause(ppp.CauseIPCPTimeout):       {aaa.LostCarrier, "the client does not answer IPCP"},
	Cause(ppp.CauseIPCPRefused):       {aaa.UserError, "the client refuses its address, or IPCP"},
	Cause(ppp.CauseIPV6CPTimeout):     {aaa.LostCarrier, "the client does not answer IPV6CP"},
	Cause(ppp.CauseIPV6CPRefused):     {aaa.UserError, "the client refuses every interface identifier, or IPV6CP"},
	Cause(ppp.CauseRejected):          {aaa.UserError, "the client rejects LCP"},
	Cause(ppp.CauseInternal):          {aaa.NASError, "internal error in PPP"},

	Cause(aaa.BadCredentials.String()): {aaa.UserError, "authentication was rejected"},
	Cause(aaa.NoAnswer.String()):       {aaa.NASError, "no authentication server answers"},
	Cause(aaa.NoSuchMethod.String()):   {aaa.NASError, "no authentication method is configured"},
	Cause(aaa.BadReply.String()):       {aaa.NASError, "the authentication server granted what cannot be honoured"},
}

// Causes returns every cause there is, sorted by name.
func Causes() []Cause { return slices.Sorted(maps.Keys(meanings)) }

// Text explains the cause.
func (c Cause) Text() string {
	if m, ok := meanings[c]; ok {
		return m.text
	}
	return string(c)
}

// Terminate is what accounting calls it.
func (c Cause) Terminate() aaa.TerminateCause {
	if m, ok := meanings[c]; ok {
		return m.terminate
	}
	return aaa.NASError
}
