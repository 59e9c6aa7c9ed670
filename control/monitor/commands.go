package monitor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"vbng/control/oper"
	"vbng/forwarding/entry"
)

const (
	defaultPackets = 100
	defaultTime    = 30 * time.Second
	// Headers of every protocol that a line tells, with most of a DHCP message, fit into lineSnap.
	lineSnap   = 640
	minSnap    = 64
	maxSnap    = 65535
	snapArg    = "snap"
	fileArg    = "file"
	timeFormat = "2006-01-02T15:04:05Z"
)

// Commands returns the commands about captures.
func (m *Monitor) Commands() []*oper.Command {
	ofInterface := &oper.Command{
		Words: "monitor packets interface", Help: "Frames of a port as they are received and sent, or of a tagged interface",
		Args: slices.Concat([]oper.Arg{{Name: "interface", Help: "name of the interface", Complete: m.interfaces}}, arguments()),
	}
	ofInterface.Stream = m.stream(ofInterface, m.aimAtInterface)
	ofSubscriber := &oper.Command{
		Words: "monitor packets subscriber", Help: "Frames of one session, in both directions and with all headers",
		Args: slices.Concat(m.selectors(), arguments()),
	}
	ofSubscriber.Stream = m.stream(ofSubscriber, m.aimAtSubscriber)
	for _, c := range []*oper.Command{ofInterface, ofSubscriber} {
		c.Bound = oper.Bound{Pieces: defaultPackets, Time: defaultTime}
	}
	return []*oper.Command{
		ofInterface, ofSubscriber,
		{Words: "show captures", Help: "captures that run, and their files", Run: m.showCaptures},
		{Words: "clear captures", Help: "delete files of captures", Args: []oper.Arg{
			{Name: fileArg, Help: "only this file", Keyword: true, Optional: true, Check: checkName, Complete: m.folder().names},
		}, Run: m.clearCaptures},
	}
}

func arguments() []oper.Arg {
	return []oper.Arg{
		{Name: snapArg, Help: fmt.Sprintf("Bytes of each frame, from its beginning; %d for lines and all that is there for files otherwise", lineSnap),
			Keyword: true, Optional: true, Check: checkSnap},
		{Name: fileArg, Help: "Write a pcap file into the folder captures of the router's state, in place of lines", Keyword: true, Optional: true,
			Check: checkName},
	}
}

func checkSnap(word string) error {
	if n, err := strconv.Atoi(word); err != nil || n < minSnap || n > maxSnap {
		return fmt.Errorf("expected a number of bytes from %d to %d, found %q", minSnap, maxSnap, word)
	}
	return nil
}

func (m *Monitor) interfaces() []string {
	if m.options.Places == nil {
		return nil
	}
	return m.options.Places.InterfaceNames()
}

func (m *Monitor) selectors() []oper.Arg {
	if m.options.Subscribers == nil {
		return nil
	}
	return m.options.Subscribers.Selectors()
}

// aim is what a capture is of.
type aim struct {
	entry entry.Capture // Port, Interface or Session
	what  string
	stop  func() // ends the waiting for its end
}

func (m *Monitor) aimAtInterface(_ context.Context, call oper.Call, _ func(string)) (aim, error) {
	name := call.Args["interface"]
	port, tagged, err := m.options.Places.CapturePoint(name)
	return aim{entry.Capture{Port: port, Interface: tagged}, "interface " + name, func() {}}, err
}

func (m *Monitor) aimAtSubscriber(ctx context.Context, call oper.Call, ended func(string)) (aim, error) {
	id, name, stop, err := m.options.Subscribers.SelectOne(ctx, call, ended)
	return aim{entry.Capture{Session: id}, "subscriber " + name, stop}, err
}

// Row is a capture that runs, or a file of one.
type Row struct {
	Number  string `show:"Capture" json:"capture"` // "-": only the file is left
	Of      string `show:"Of" json:"of"`
	Began   string `show:"Began" json:"began"`
	Packets uint64 `show:"Packets" json:"packets"` // of those that run
	Lost    uint64 `show:"Lost" json:"lost"`
	File    string `show:"File" json:"file"`
	Bytes   int64  `show:"Bytes" json:"bytes"`
}

func (m *Monitor) showCaptures(context.Context, oper.Call) (any, error) {
	rows := m.rows()
	busy := map[string]bool{}
	for _, r := range rows {
		busy[r.File] = true
	}
	files, err := m.folder().list()
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if !busy[f.name] {
			rows = append(rows, Row{Number: "-", Of: "-", Began: f.changed.UTC().Format(timeFormat), File: f.name, Bytes: f.bytes})
		}
	}
	return oper.Table[Row]{Rows: rows, Summary: fmt.Sprintf("%d of %d files, in %s", len(files), maxFiles, m.options.Folder)}, nil
}

func (m *Monitor) rows() []Row {
	m.mu.Lock()
	defer m.mu.Unlock()
	rows := []Row{}
	for _, c := range slices.SortedFunc(maps.Values(m.running), func(a, b *capture) int { return a.number - b.number }) {
		rows = append(rows, Row{Number: strconv.Itoa(c.number), Of: c.what, Began: c.began.UTC().Format(timeFormat),
			Packets: c.packets.Load(), Lost: c.missing(), File: c.file, Bytes: int64(c.bytes.Load())})
	}
	return rows
}

func (m *Monitor) clearCaptures(_ context.Context, call oper.Call) (any, error) {
	busy := map[string]bool{}
	for _, r := range m.rows() {
		busy[r.File] = true
	}
	n, err := m.folder().clear(call.Args[fileArg], busy)
	if err != nil {
		return nil, err
	}
	return fmt.Sprintf("%d files deleted", n), nil
}
