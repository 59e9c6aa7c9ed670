package ppp

import "strconv"

var stateNames = [NumStates]string{
	"Initial", "Starting", "Closed", "Stopped", "Closing", "Stopping",
	"Req-Sent", "Ack-Rcvd", "Ack-Sent", "Opened",
}

var eventNames = [NumEvents]string{
	"Up", "Down", "Open", "Close", "TO+", "TO-", "RCR+", "RCR-",
	"RCA", "RCN", "RTR", "RTA", "RUC", "RXJ+", "RXJ-", "RXR",
}

var actionNames = [NumActions]string{
	"tlu", "tld", "tls", "tlf", "irc", "zrc", "scr", "sca", "scn", "str", "sta", "scj", "ser",
}

// String returns the RFC's name of the state.
func (s State) String() string { return name(stateNames[:], int(s)) }

// String returns the RFC's name of the event.
func (e Event) String() string { return name(eventNames[:], int(e)) }

// String returns the RFC's three letters for the action.
func (a Action) String() string { return name(actionNames[:], int(a)) }

func name(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return strconv.Itoa(i)
}
