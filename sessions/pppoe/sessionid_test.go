package pppoe

import (
	"testing"
	"time"
)

func ids() *SessionIDs {
	return NewSessionIDs(func(b []byte) { b[0], b[1] = 0xff, 0xfc }) // near the end of the space
}

func TestSessionIDs(t *testing.T) {
	s := ids()
	var got []uint16
	for range 4 {
		id, err := s.Allocate(line, noon)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, id)
	}
	if want := [4]uint16{0xfffd, 0xfffe, 1, 2}; [4]uint16(got) != want {
		t.Fatalf("%x", got)
	}
	if id, _ := s.Allocate(Line{Port: 3, Outer: 100, Inner: 8}, noon); id != 0xfffd {
		t.Fatalf("the neighbour's space begins at %x", id)
	}
	if s.InUse(line) != 4 {
		t.Fatal(s.InUse(line))
	}
}

func TestSessionIDsRest(t *testing.T) {
	s := ids()
	for range numIDs {
		if _, err := s.Allocate(line, noon); err != nil {
			t.Fatal(err)
		}
	}
	s.Release(line, 77, noon)
	s.Release(line, 77, noon) // twice is once
	if id, err := s.Allocate(line, noon.Add(59*time.Second)); err != ErrExhausted {
		t.Fatalf("%d %v", id, err)
	}
	if id, err := s.Allocate(line, noon.Add(time.Minute)); err != nil || id != 77 {
		t.Fatalf("%d %v", id, err)
	}
}

func TestSessionIDsReserve(t *testing.T) {
	s := ids()
	if err := s.Reserve(line, 0xfffd); err != nil {
		t.Fatal(err)
	}
	if err := s.Reserve(line, 0xfffd); err != ErrInUse {
		t.Fatal(err)
	}
	if err := s.Reserve(line, 0xffff); err != ErrSessionID {
		t.Fatal(err)
	}
	if id, _ := s.Allocate(line, noon); id != 0xfffe {
		t.Fatalf("%x", id)
	}
	s.Release(line, 0xfffd, noon)
	if err := s.Reserve(line, 0xfffd); err != nil { // while it rests
		t.Fatal(err)
	}
	s.Release(line, 0xfffd, noon.Add(30*time.Second))
	s.wake(noon.Add(time.Minute))
	if !s.lines[line].has(0xfffd) {
		t.Fatal("the second rest ended with the first")
	}
}

func TestSessionIDsForget(t *testing.T) {
	s := ids()
	for i := range 1000 {
		l := Line{Port: uint32(i)}
		id, _ := s.Allocate(l, noon)
		s.Release(l, id, noon)
		s.Release(Line{Port: 5000}, 1, noon) // never allocated
	}
	s.wake(noon.Add(time.Hour))
	if len(s.lines) != 0 || len(s.resting) != 0 {
		t.Fatalf("%d lines, %d at rest", len(s.lines), len(s.resting))
	}
}
