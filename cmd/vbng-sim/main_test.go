package main

import "testing"

func TestExitStatusOfTheCommandLine(t *testing.T) {
	for _, test := range []struct {
		arguments []string
		want      int
	}{
		{nil, 2}, {[]string{"dance"}, 2}, {[]string{"help"}, 0}, {[]string{"help", "pppoe"}, 0},
		{[]string{"pppoe"}, 2}, {[]string{"pppoe", "--interface", "no-such-device0"}, 2},
	} {
		if got := run(test.arguments); got != test.want {
			t.Errorf("%q: exit status %d, want %d", test.arguments, got, test.want)
		}
	}
}
