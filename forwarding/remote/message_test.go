package remote

import (
	"bytes"
	"reflect"
	"testing"

	"vbng/forwarding/counter"
	"vbng/forwarding/entry"
)

func sampleAnswers() []Answer {
	return []Answer{
		{},
		{Refused: &entry.Refused{Op: 7, Reason: "no such port"}},
		{
			Sessions: []SessionSlot{{1 << 40, 5}, {2, 6}},
			Ports:    []PortSlot{{1, 0}},
			Finals: []entry.Final{{Session: 3, Counters: entry.SessionCounters{
				InputPackets: 1, InputBytes: 2, OutputPackets: 3, OutputBytes: 4}}},
		},
	}
}

func TestAnswersThereAndBack(t *testing.T) {
	var body []byte
	for _, a := range sampleAnswers() {
		body = appendAnswer(body, &a)
	}
	for i, want := range sampleAnswers() {
		got, rest, err := nextAnswer(body)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("answer %d: got %+v, %v", i, got, err)
		}
		body = rest
	}
	if len(body) != 0 {
		t.Errorf("%d bytes are left", len(body))
	}
}

func TestAnswerSlotsOutsideAreRefused(t *testing.T) {
	l := counter.Layout{Sessions: 2, Ports: 2}
	for _, a := range []Answer{{Sessions: []SessionSlot{{1, 2}}}, {Ports: []PortSlot{{1, 2}}}} {
		if a.check(l) == nil {
			t.Errorf("%+v is accepted", a)
		}
	}
}

func TestHelloOfStrangersIsRefused(t *testing.T) {
	for _, body := range []string{"", "{", `{"magic":"other"}`} {
		if _, err := parseHello([]byte(body)); err == nil {
			t.Errorf("%q is accepted", body)
		}
	}
	for _, l := range []counter.Layout{{}, {Workers: -1}, {Workers: 1, Sessions: 1 << 40}, {Workers: 1, Ports: -5}} {
		if h := (hello{Layout: l}); h.checkLayout() == nil {
			t.Errorf("%+v is accepted", l)
		}
	}
}

func FuzzAnswers(f *testing.F) {
	for _, a := range sampleAnswers() {
		f.Add(appendAnswer(nil, &a))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for len(body) > 0 {
			a, rest, err := nextAnswer(body)
			if err != nil {
				return
			}
			if again := appendAnswer(nil, &a); a.Refused == nil && !bytes.Equal(again, body[:len(body)-len(rest)]) {
				t.Fatalf("%+v encodes to %x, came from %x", a, again, body)
			}
			body = rest
		}
	})
}

func FuzzBatchesAndHello(f *testing.F) {
	f.Add(appendBatchMessage(appendBatchMessage(nil, []byte{1, 2, 3}), nil))
	f.Add(appendJSON(nil, hello{Magic: magic, Layout: fakeLayout}))
	f.Fuzz(func(t *testing.T, body []byte) {
		if h, err := parseHello(body); err == nil && h.checkLayout() == nil && counter.Size(h.Layout) < 0 {
			t.Errorf("layout %+v has a negative size", h.Layout)
		}
		_, _ = parsePortState(body)
		_ = parseGoodbye(body)
		for len(body) > 0 {
			_, rest, err := nextBatch(body)
			if err != nil {
				return
			}
			if len(rest) >= len(body) {
				t.Fatal("nothing was taken")
			}
			body = rest
		}
	})
}
