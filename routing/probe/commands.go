package probe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"vbng/control/oper"
)

const (
	pingPatience  = 2 * time.Second // for one reply
	pingPause     = 100 * time.Millisecond
	defaultCount  = 5
	maxCount      = 1000
	defaultBytes  = 56
	maxBytes      = 9000
	usualHops     = 64
	tracePatience = time.Second
	traceProbes   = 3
	traceHops     = 30
	// margin is what is left of the asker's patience for the answer itself.
	margin = 500 * time.Millisecond
)

// PingResult is what ping found.
type PingResult struct {
	To                string
	Sent, Received    int
	LeastMicroseconds int64
	MeanMicroseconds  int64
	MostMicroseconds  int64
	Lines             []string // one for each request
}

// Hop is one line of traceroute.
type Hop struct {
	Hop          int      `show:"Hop"`
	Address      string   `show:"Address"` // of the first that answered; * for nobody
	Milliseconds []string `show:"Times (ms)"`
	Note         string   `show:"Note"`
}

// Commands returns ping and traceroute.
func Commands(o Options) []*oper.Command {
	vrf := oper.Arg{Name: "vrf", Help: "VRF to ask from; management is the host's own stack", Keyword: true, Optional: true, Complete: o.VRFs}
	to := oper.Arg{Name: "address", Help: "IPv4 or IPv6 address", Check: checkAddress}
	source := oper.Arg{Name: "source", Help: "address of ours to ask from", Keyword: true, Optional: true, Check: checkAddress}
	return []*oper.Command{
		{
			Words: "ping", Help: "ask an address for echoes",
			Args: []oper.Arg{vrf, to,
				{Name: "count", Help: "requests", Keyword: true, Optional: true, Check: bounded(1, maxCount)},
				{Name: "size", Help: "bytes of data behind the ICMP header", Keyword: true, Optional: true, Check: bounded(0, maxBytes)},
				{Name: "df", Help: "do not fragment", Flag: true, Optional: true}, source},
			Run: o.ping,
		},
		{
			Words: "traceroute", Help: "show the routers on the way to an address",
			Args: []oper.Arg{vrf, to, source},
			Run:  o.traceroute,
		},
	}
}

func checkAddress(word string) error {
	if a, err := netip.ParseAddr(word); err != nil || a.Zone() != "" || a.IsMulticast() || a.IsUnspecified() {
		return fmt.Errorf("expected an IPv4 or IPv6 address, found %q", word)
	}
	return nil
}

func bounded(least, most int) func(string) error {
	return func(word string) error {
		if n, err := strconv.Atoi(word); err != nil || n < least || n > most {
			return fmt.Errorf("expected a number from %d to %d, found %q", least, most, word)
		}
		return nil
	}
}

func number(call oper.Call, name string, otherwise int) int {
	if n, err := strconv.Atoi(call.Args[name]); err == nil {
		return n
	}
	return otherwise
}

// begin opens the socket of a command, and leaves time for its answer.
func (o *Options) begin(ctx context.Context, call oper.Call) (*exchange, context.Context, context.CancelFunc, error) {
	to, err := netip.ParseAddr(call.Args["address"])
	if err != nil {
		return nil, nil, nil, err
	}
	source, _ := netip.ParseAddr(call.Args["source"])
	if source.IsValid() && source.Is4() != to.Is4() {
		return nil, nil, nil, fmt.Errorf("source %v is of another family than %v", source, to)
	}
	x, err := o.open(call.Args["vrf"], to, source, call.Has("df"))
	if err != nil {
		return nil, nil, nil, err
	}
	cancel := context.CancelFunc(func() {})
	if deadline, ok := ctx.Deadline(); ok {
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-margin))
	}
	return x, ctx, func() { cancel(); _ = x.conn.Close() }, nil
}

func (o *Options) ping(ctx context.Context, call oper.Call) (any, error) {
	x, ctx, end, err := o.begin(ctx, call)
	if err != nil {
		return nil, fmt.Errorf("ping: %w", err)
	}
	defer end()
	result := PingResult{To: x.to.String()}
	var times []time.Duration
	for count := number(call, "count", defaultCount); result.Sent < count && ctx.Err() == nil; {
		h, err := x.ask(ctx, usualHops, number(call, "size", defaultBytes), pingPatience)
		result.Sent++
		result.Lines = append(result.Lines, line(result.Sent, h, err))
		if h.reply {
			times = append(times, h.after)
		}
		if result.Sent < count {
			pause(ctx)
		}
	}
	result.measure(times)
	return result.document(), nil
}

// pause keeps a fast network from being flooded.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(pingPause):
	}
}

func line(sequence int, h heard, err error) string {
	switch {
	case errors.Is(err, unix.EMSGSIZE):
		return fmt.Sprintf("%d: longer than the MTU of the router's own stack", sequence)
	case err != nil:
		return fmt.Sprintf("%d: not sent: %v", sequence, err)
	case !h.from.IsValid():
		return fmt.Sprintf("%d: no answer", sequence)
	case h.reply:
		return fmt.Sprintf("%d: reply from %v, %s ms", sequence, h.from, milliseconds(h.after))
	}
	return fmt.Sprintf("%d: %v says: %s", sequence, h.from, h.text)
}

func milliseconds(d time.Duration) string {
	return strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', 3, 64)
}

func (r *PingResult) measure(times []time.Duration) {
	r.Received = len(times)
	if len(times) == 0 {
		return
	}
	least, most, sum := times[0], times[0], time.Duration(0)
	for _, t := range times {
		least, most, sum = min(least, t), max(most, t), sum+t
	}
	r.LeastMicroseconds, r.MostMicroseconds = least.Microseconds(), most.Microseconds()
	r.MeanMicroseconds = (sum / time.Duration(len(times))).Microseconds()
}

func (r PingResult) document() oper.Document {
	text := strings.Join(r.Lines, "\n")
	summary := fmt.Sprintf("%d sent, %d received, %d %% lost", r.Sent, r.Received, (r.Sent-r.Received)*100/max(r.Sent, 1))
	if r.Received > 0 {
		summary += fmt.Sprintf("; least/mean/most %s/%s/%s ms", milliseconds(time.Duration(r.LeastMicroseconds)*time.Microsecond),
			milliseconds(time.Duration(r.MeanMicroseconds)*time.Microsecond), milliseconds(time.Duration(r.MostMicroseconds)*time.Microsecond))
	}
	return oper.Document{Data: r, Sections: []oper.Section{{Title: "Ping " + r.To, Text: text + "\n" + summary}}}
}

func (o *Options) traceroute(ctx context.Context, call oper.Call) (any, error) {
	x, ctx, end, err := o.begin(ctx, call)
	if err != nil {
		return nil, fmt.Errorf("traceroute: %w", err)
	}
	defer end()
	var table oper.Table[Hop]
	for hops := 1; hops <= traceHops; hops++ {
		h, last, err := x.hop(ctx, hops)
		if err != nil {
			return nil, fmt.Errorf("traceroute: %w", err)
		}
		if ctx.Err() != nil {
			table.Summary = "Stopped: no time is left."
			break
		}
		table.Rows = append(table.Rows, h)
		if last {
			break
		}
	}
	return table, nil
}

// hop asks the router at a distance. last: nothing lies behind it.
func (x *exchange) hop(ctx context.Context, hops int) (h Hop, last bool, err error) {
	h = Hop{Hop: hops, Address: "*", Milliseconds: []string{}}
	for range traceProbes {
		got, err := x.ask(ctx, hops, defaultBytes, tracePatience)
		if err != nil {
			return h, false, err
		}
		if !got.from.IsValid() {
			h.Milliseconds = append(h.Milliseconds, "*")
			continue
		}
		if h.Address == "*" {
			h.Address = got.from.String()
		}
		h.Milliseconds = append(h.Milliseconds, milliseconds(got.after))
		if !got.reply && !got.expired {
			h.Note = got.text
		}
		last = last || !got.expired
	}
	return h, last, nil
}
