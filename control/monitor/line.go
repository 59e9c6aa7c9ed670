package monitor

import (
	"fmt"
	"strings"
	"time"

	"vbng/control/dissect"
	"vbng/control/oper"
	"vbng/forwarding/entry"
)

// Packet is a frame that was seen.
type Packet struct {
	Time        string `json:"time"` // UTC
	Direction   string `json:"direction"`
	Port        string `json:"port"`
	Tags        string `json:"tags"`
	Source      string `json:"source"`
	Destination string `json:"destination"`
	Bytes       int    `json:"bytes"` // on the wire, without FCS
	Text        string `json:"text"`
	Note        string `json:"note,omitempty"`
}

// lines shows packets to an operator.
type lines struct {
	monitor  *Monitor
	capture  *capture
	emit     func(any) bool
	told     uint64 // missing packets
	restarts uint32
}

func (l *lines) take(p *entry.Punt) (bool, error) {
	shown := l.monitor.describe(p)
	shown.Note = l.note()
	text := shown.line()
	if shown.Note != "" {
		text = shown.Note + "\n" + text
	}
	return l.emit(oper.Document{Sections: []oper.Section{{Text: text}}, Data: shown}), nil
}

func (l *lines) close() (string, error) { return "", nil }

// note tells what happened between two packets.
func (l *lines) note() string {
	var said []string
	if n := l.capture.missing(); n > l.told {
		said = append(said, fmt.Sprintf("-- %d packets are missing here", n-l.told))
		l.told = n
	}
	if n := l.capture.restarts.Load(); n != l.restarts {
		said = append(said, "-- a new forwarder was programmed; the count begins anew")
		l.restarts = n
	}
	return strings.Join(said, "\n")
}

func (m *Monitor) describe(p *entry.Punt) Packet {
	s := dissect.Frame(p.Data)
	port, _, _, ok := m.options.Places.Port(p.Port)
	if !ok {
		port = fmt.Sprint(p.Port)
	}
	direction := "in"
	if p.Output {
		direction = "out"
	}
	return Packet{
		Time: time.Unix(0, p.UnixNanos).UTC().Format("2006-01-02T15:04:05.000000000Z"), Direction: direction, Port: port,
		Tags: s.Tags, Source: s.Source, Destination: s.Destination, Bytes: p.Length, Text: s.Text,
	}
}

// line prints a packet; its date is left out.
func (p *Packet) line() string {
	clock := p.Time[len("2006-01-02T"):len("2006-01-02T15:04:05.000000")]
	return fmt.Sprintf("%s %-3s %s %s %s > %s %s (%d bytes)", clock, p.Direction, p.Port, p.Tags, p.Source, p.Destination, p.Text, p.Bytes)
}
