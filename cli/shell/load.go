package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"vbng/control/commit"
	"vbng/control/config"
	"vbng/control/oper"
)

// terminalSource is the word for text that follows on the terminal.
const terminalSource = "terminal"

// loadPrompt stands before each line of text that is loaded.
const loadPrompt = "load> "

// endOfText is Ctrl-D as a line of its own.
const endOfText = "\x04"

func (s *Session) loadCommands() []*oper.Command {
	file := []oper.Arg{{Name: "file", Help: "Absolute path of a file on the router, or terminal: the lines that follow",
		Check: isSource, Complete: func() []string { return []string{terminalSource} }}}
	return []*oper.Command{
		{Words: "load merge", Help: "Add the lines of a text to the candidate", Args: file,
			Run: says(func(c oper.Call) (string, error) { return s.load(c, false) })},
		{Words: "load replace", Help: "Make the candidate what a text says, and nothing else", Args: file,
			Run: says(func(c oper.Call) (string, error) { return s.load(c, true) })},
	}
}

func isSource(word string) error {
	if word != terminalSource && !filepath.IsAbs(word) {
		return fmt.Errorf("expected an absolute path, or %s, found %q", terminalSource, word)
	}
	return nil
}

// loading is text that is being typed or pasted.
type loading struct {
	replace bool
	text    strings.Builder
	tooLong bool
}

func (s *Session) load(c oper.Call, replace bool) (string, error) {
	if c.Args["file"] == terminalSource {
		s.loading = &loading{replace: replace}
		return "The text, then Ctrl-D or \"end\" on a line of its own; \"abort\" loads nothing.\n", nil
	}
	path, err := reachable(c.Args["file"], s.user)
	if err != nil {
		return "", err
	}
	text, err := commit.ReadText(path, func(i fs.FileInfo) error {
		if !permitted(i, s.user, 0o004) {
			return errors.New("the file is neither yours nor readable by everybody")
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return s.loadText(text, replace)
}

// reachable returns the path without symbolic links, unless it leads through a folder that the operator may not enter:
// the router may read everything, and its complaints about a text show lines of it.
func reachable(path, name string) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		i, err := os.Stat(dir)
		if err != nil {
			return "", err
		}
		if !permitted(i, name, 0o001) {
			return "", fmt.Errorf("folder %s is neither yours nor open to everybody", dir)
		}
		if dir == filepath.Dir(dir) {
			return path, nil
		}
	}
}

// permitted reports whether everybody has the permission, or the operator owns the file or is root.
func permitted(i fs.FileInfo, name string, permission fs.FileMode) bool {
	if i.Mode().Perm()&permission != 0 || name == "root" {
		return true
	}
	stat, ok := i.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	owner, err := user.LookupId(strconv.FormatUint(uint64(stat.Uid), 10))
	return err == nil && owner.Username == name
}

// takes is a line of a text that is loaded.
func (s *Session) takes(line string) Reply {
	l := s.loading
	switch line {
	case "abort":
		s.loading = nil
		return Reply{Output: "Nothing is loaded.\n", Column: -1}
	case endOfText, "end":
		s.loading = nil
		if l.tooLong {
			return failure(fmt.Errorf("nothing is loaded: the text has more than %d bytes", commit.MaxTextBytes))
		}
		output, err := s.loadText(l.text.String(), l.replace)
		if err != nil {
			return failure(err)
		}
		return Reply{Output: output, Column: -1}
	}
	if l.text.Len()+len(line) >= commit.MaxTextBytes {
		l.tooLong = true
	} else {
		l.text.WriteString(line + "\n")
	}
	return Reply{Column: -1}
}

// loadText puts a text into the candidate, whole or not at all.
func (s *Session) loadText(text string, replace bool) (string, error) {
	s.candidate.Refresh()
	put := s.candidate.Merge
	if replace {
		put = s.candidate.Replace
	}
	if faults := put(text); len(faults) > 0 {
		return "", fmt.Errorf("nothing is loaded:\n%s", indented(config.Describe(errors.Join(faults...), shownFaults)))
	}
	if !s.configuring() {
		s.enter()
	}
	if !s.Dirty() {
		return "Loaded; it makes no difference.\n", nil
	}
	return "Loaded into the candidate; see \"show configuration changes\", then commit.\n", nil
}
