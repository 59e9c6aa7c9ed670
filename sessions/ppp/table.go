package ppp

// A cell is one entry of the table: a list of actions and the new state, written "list | state"
// where the RFC prints "list/state". A bare number changes the state without an action.
type cell uint16

// no is the RFC's dash: the event cannot happen in that state.
const no cell = 0xffff

// stateBits hold the new state; the list of actions stands above them.
const (
	stateBits = 4
	stateMask = 1<<stateBits - 1
)

// The lists of actions the table uses, each an index into lists.
const (
	tls cell = (iota + 1) << stateBits
	tlf
	tld
	str
	scr
	sta
	sca
	scn
	scj
	ser
	irc
	ircScr
	ircStr
	ircTlu
	scaTlu
	tldScr
	ircScrSca
	ircScrScn
	tldScrSca
	tldScrScn
	tldIrcStr
	tldZrcSta
	numLists
)

// lists spells out each list in the order the RFC prints it. Step hands out these very slices,
// capped, so that it never allocates and an append of a caller cannot write into the table.
var lists = [numLists >> stateBits][]Action{
	tls >> stateBits:       {ActTLS},
	tlf >> stateBits:       {ActTLF},
	tld >> stateBits:       {ActTLD},
	str >> stateBits:       {ActSTR},
	scr >> stateBits:       {ActSCR},
	sta >> stateBits:       {ActSTA},
	sca >> stateBits:       {ActSCA},
	scn >> stateBits:       {ActSCN},
	scj >> stateBits:       {ActSCJ},
	ser >> stateBits:       {ActSER},
	irc >> stateBits:       {ActIRC},
	ircScr >> stateBits:    {ActIRC, ActSCR},
	ircStr >> stateBits:    {ActIRC, ActSTR},
	ircTlu >> stateBits:    {ActIRC, ActTLU},
	scaTlu >> stateBits:    {ActSCA, ActTLU},
	tldScr >> stateBits:    {ActTLD, ActSCR},
	ircScrSca >> stateBits: {ActIRC, ActSCR, ActSCA},
	ircScrScn >> stateBits: {ActIRC, ActSCR, ActSCN},
	tldScrSca >> stateBits: {ActTLD, ActSCR, ActSCA},
	tldScrScn >> stateBits: {ActTLD, ActSCR, ActSCN},
	tldIrcStr >> stateBits: {ActTLD, ActIRC, ActSTR},
	tldZrcSta >> stateBits: {ActTLD, ActZRC, ActSTA},
}

// table is RFC 1661 section 4.1, its two halves side by side. Footnotes: [p] the passive option and
// [r] the restart option are not implemented, so the plain entry holds; [x] is taken as printed.
var table = [NumEvents][NumStates]cell{
	// Columns: 0 Initial, 1 Starting, 2 Closed, 3 Stopped, 4 Closing, 5 Stopping,
	// 6 Req-Sent, 7 Ack-Rcvd, 8 Ack-Sent, 9 Opened.
	EvUp:   {2, ircScr | 6, no, no, no, no, no, no, no, no},
	EvDown: {no, no, 0, tls | 1, 0, 1, 1, 1, 1, tld | 1},
	EvOpen: {tls | 1, 1, ircScr | 6, 3, 5, 5, 6, 7, 8, 9},
	//lint:ignore SA4016 "tlf | 0" is the RFC's "tlf/0"
	EvClose:    {0, tlf | 0, 2, 2, 4, 4, ircStr | 4, ircStr | 4, ircStr | 4, tldIrcStr | 4},
	EvTOPlus:   {no, no, no, no, str | 4, str | 5, scr | 6, scr | 6, scr | 8, no},
	EvTOMinus:  {no, no, no, no, tlf | 2, tlf | 3, tlf | 3, tlf | 3, tlf | 3, no},
	EvRCRPlus:  {no, no, sta | 2, ircScrSca | 8, 4, 5, sca | 8, scaTlu | 9, sca | 8, tldScrSca | 8},
	EvRCRMinus: {no, no, sta | 2, ircScrScn | 6, 4, 5, scn | 6, scn | 7, scn | 6, tldScrScn | 6},
	EvRCA:      {no, no, sta | 2, sta | 3, 4, 5, irc | 7, scr | 6, ircTlu | 9, tldScr | 6},
	EvRCN:      {no, no, sta | 2, sta | 3, 4, 5, ircScr | 6, scr | 6, ircScr | 8, tldScr | 6},
	EvRTR:      {no, no, sta | 2, sta | 3, sta | 4, sta | 5, sta | 6, sta | 6, sta | 6, tldZrcSta | 5},
	EvRTA:      {no, no, 2, 3, tlf | 2, tlf | 3, 6, 6, 8, tldScr | 6},
	EvRUC:      {no, no, scj | 2, scj | 3, scj | 4, scj | 5, scj | 6, scj | 7, scj | 8, scj | 9},
	EvRXJPlus:  {no, no, 2, 3, 4, 5, 6, 6, 8, 9},
	EvRXJMinus: {no, no, tlf | 2, tlf | 3, tlf | 2, tlf | 3, tlf | 3, tlf | 3, tlf | 3, tldIrcStr | 5},
	EvRXR:      {no, no, 2, 3, 4, 5, 6, 7, 8, ser | 9},
}

// Step is the option negotiation automaton of RFC 1661 section 4.1. It answers the next state and
// the actions to perform, in the RFC's order. A pair the RFC marks "-" stays where it is, performs
// nothing and is not legal. The caller must not write to the slice.
func Step(state State, event Event) (next State, actions []Action, legal bool) {
	if state >= NumStates || event >= NumEvents {
		return state, nil, false
	}
	c := table[event][state]
	if c == no {
		return state, nil, false
	}
	list := lists[c>>stateBits]
	return State(c & stateMask), list[:len(list):len(list)], true
}
