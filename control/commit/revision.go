package commit

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"vbng/control/line"
)

// Revision tells of one committed configuration.
type Revision struct {
	Number  int
	Time    time.Time
	User    string
	Comment string
}

// headerMark begins the first line of every file of the state directory.
const headerMark = "! vbng"

// header is the line of comment that stands on top of a stored configuration.
func (r Revision) header() string {
	return fmt.Sprintf("%s revision %d time %s user %s comment %s\n", headerMark, r.Number,
		r.Time.UTC().Format(time.RFC3339), line.Quote(r.User), line.Quote(r.Comment))
}

// parseHeader reads the first line of a stored configuration. A file that an operator wrote has none;
// its number is 0.
func parseHeader(text string) Revision {
	said := headerWords(text)
	r := Revision{User: said["user"], Comment: said["comment"]}
	r.Number, _ = strconv.Atoi(said["revision"])
	r.Time, _ = time.Parse(time.RFC3339, said["time"])
	return r
}

// headerWords returns the names and values of a first line, nil when it is none of ours.
func headerWords(text string) map[string]string {
	first, _, _ := strings.Cut(text, "\n")
	rest, ours := strings.CutPrefix(first, headerMark+" ")
	words, err := line.Split(rest)
	if !ours || err != nil {
		return nil
	}
	said := map[string]string{}
	for i := 0; i+1 < len(words); i += 2 {
		said[words[i].Text] = words[i+1].Text
	}
	return said
}
