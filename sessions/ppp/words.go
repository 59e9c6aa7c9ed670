package ppp

// State is a state of the option negotiation automaton, RFC 1661 section 4.2.
// The numbers are the RFC's own, so a log line can be read beside its table.
type State uint8

// The ten states, in the RFC's order (section 4.1).
const (
	Initial State = iota
	Starting
	Closed
	Stopped
	Closing
	Stopping
	ReqSent
	AckRcvd
	AckSent
	Opened
	NumStates
)

// Event is an input of the automaton, RFC 1661 section 4.3.
type Event uint8

// The sixteen events, in the order of the table's rows (RFC 1661 section 4.1).
const (
	EvUp       Event = iota // lower layer is Up
	EvDown                  // lower layer is Down
	EvOpen                  // administrative Open
	EvClose                 // administrative Close
	EvTOPlus                // timeout with counter > 0
	EvTOMinus               // timeout with counter expired
	EvRCRPlus               // receive Configure-Request, good
	EvRCRMinus              // receive Configure-Request, bad
	EvRCA                   // receive Configure-Ack
	EvRCN                   // receive Configure-Nak/Rej
	EvRTR                   // receive Terminate-Request
	EvRTA                   // receive Terminate-Ack
	EvRUC                   // receive unknown code
	EvRXJPlus               // receive Code-Reject/Protocol-Reject, permitted
	EvRXJMinus              // receive Code-Reject/Protocol-Reject, catastrophic
	EvRXR                   // receive Echo-Request/Reply or Discard-Request
	NumEvents
)

// Action is an output of the automaton, RFC 1661 section 4.4. Actions are returned, never performed.
type Action uint8

// The actions of the table.
const (
	ActTLU Action = iota // This-Layer-Up
	ActTLD               // This-Layer-Down
	ActTLS               // This-Layer-Started
	ActTLF               // This-Layer-Finished
	ActIRC               // Initialize-Restart-Count
	ActZRC               // Zero-Restart-Count
	ActSCR               // Send-Configure-Request
	ActSCA               // Send-Configure-Ack
	ActSCN               // Send-Configure-Nak/Rej
	ActSTR               // Send-Terminate-Request
	ActSTA               // Send-Terminate-Ack
	ActSCJ               // Send-Code-Reject
	ActSER               // Send-Echo-Reply
	NumActions
)
