// Package monitor lets an operator see frames: one line each, or into a file for tshark. It owns all captures.
//
//	forwarder --entry.ClassCapture--> Punt --bounded queue--> the asker's goroutine --> a line each, or a file
//	          <--entry.Capture------- begin, finish
//
// A capture lives as long as its command: when that ends, by its bound, by Ctrl-C or with the operator's connection, the
// forwarder is told at once. What a control that died has left there, the sweep of the next one's generation takes
// away. A forwarder that dies is told the capture anew with everything else; the capture counts from the beginning
// again then, and the operator is told.
//
// Nothing here waits for an operator's terminal but the operator's own goroutine. What the queue, the ring to
// control or the class's policer had no room for is counted and told.
//
// Reading order: monitor.go (captures), commands.go, stream.go (one command), line.go, file.go and pcap.go, folder.go.
package monitor
