package prompt

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// echoShell is the smallest Shell; it runs in a process of its own, on a terminal of its own.
type echoShell struct{}

func (echoShell) Prompt() string                  { return "test# " }
func (echoShell) Complete(string) (int, []Choice) { return 0, nil }
func (echoShell) Help(string) string              { return "" }
func (echoShell) Cancel()                         {}
func (echoShell) Loading() bool                   { return false }
func (echoShell) Run(line string) Result {
	fmt.Printf("<%s>\n", line)
	return Result{Done: line == "exit", Forget: strings.Contains(line, "secret")}
}

const childVariable = "VBNG_PROMPT_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		signal.Ignore(syscall.SIGHUP) // as under nohup: the end of input alone must do
		if err := Run(echoShell{}, "exit"); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// terminal starts the child on a new pseudo-terminal, which has no size.
func terminal(t *testing.T) (master *os.File, child *exec.Cmd, output func() string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	// Not by Fd, which would make reads block through Close.
	raw, err := master.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	number, failed := 0, error(nil)
	if err := raw.Control(func(fd uintptr) {
		if failed = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); failed == nil {
			number, failed = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	}); err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	child = exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childVariable+"=1", "TERM=xterm")
	child.Stdin, child.Stdout, child.Stderr = slave, slave, slave
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { child.Process.Kill(); master.Close() })
	var mu sync.Mutex
	var text strings.Builder
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := master.Read(b)
			mu.Lock()
			text.Write(b[:n])
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return master, child, func() string { mu.Lock(); defer mu.Unlock(); return text.String() }
}

func until(t *testing.T, what string, output func() string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s; terminal shows %q", what, output())
		}
	}
}

func TestTerminalWithoutSize(t *testing.T) {
	master, child, output := terminal(t)
	until(t, "prompt", output, func() bool { return strings.Contains(output(), "test# ") })
	fmt.Fprint(master, "hello\r")
	until(t, "answer", output, func() bool { return strings.Contains(output(), "<hello>") })
	fmt.Fprint(master, "exit\r")
	if err := child.Wait(); err != nil {
		t.Errorf("%v: %q", err, output())
	}
}

// TestHistory finds an earlier line by Ctrl-R and by the arrow, and never one that is to be forgotten.
func TestHistory(t *testing.T) {
	master, child, output := terminal(t)
	says := func(typed, answer string) {
		t.Helper()
		before := strings.Count(output(), answer)
		fmt.Fprint(master, typed)
		until(t, answer, output, func() bool { return strings.Count(output(), answer) > before })
		prompts := strings.Count(output(), "test# ")
		until(t, "prompt", output, func() bool { return strings.Count(output(), "test# ") >= prompts })
	}
	until(t, "prompt", output, func() bool { return strings.Contains(output(), "test# ") })
	says("show one\r", "<show one>")
	says("other\r", "<other>")
	says("my secret\r", "<my secret>")
	says("one\x12\r", "<show one>") // Ctrl-R
	says("\x1b[A\x1b[A\r", "<other>")
	says("secr\x12\r", "<secr>")
	// Pasted at once: nothing is lost when a line is forgotten.
	says("secret 1\rsecret 2\rsecret 3\rlast\r", "<last>")
	for _, line := range []string{"<secret 1>", "<secret 2>", "<secret 3>"} {
		if !strings.Contains(output(), line) {
			t.Errorf("no %s in %q", line, output())
		}
	}
	fmt.Fprint(master, "exit\r")
	if err := child.Wait(); err != nil {
		t.Errorf("%v: %q", err, output())
	}
}

// TestTerminalHungUp has the terminal vanish in the middle of a line.
func TestTerminalHungUp(t *testing.T) {
	master, child, output := terminal(t)
	until(t, "prompt", output, func() bool { return strings.Contains(output(), "test# ") })
	fmt.Fprint(master, "half a line")
	until(t, "echo", output, func() bool { return strings.Contains(output(), "line") })
	master.Close()
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("the shell goes on without a terminal")
	}
}
