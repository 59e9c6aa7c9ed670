package netns

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// folder is where "ip netns" keeps its namespaces.
const folder = "/run/netns"

// Namespace is an open network namespace. A nil one is that of the process.
type Namespace struct{ file *os.File }

// Current returns the namespace of the calling thread.
func Current() (*Namespace, error) { return open("/proc/thread-self/ns/net") }

// Open opens a namespace by name, or by path when it holds a slash.
func Open(name string) (*Namespace, error) { return open(Path(name)) }

// Path returns the file that stands for a namespace.
func Path(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	return filepath.Join(folder, name)
}

func open(path string) (*Namespace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open network namespace: %w", err)
	}
	return &Namespace{f}, nil
}

// Close gives the descriptor back.
func (n *Namespace) Close() error {
	if n == nil {
		return nil
	}
	return n.file.Close()
}

// Do runs f on a thread in the namespace. What f leaves behind in other goroutines is not there. A
// nil namespace means: where we are.
func Do(n *Namespace, f func() error) error {
	if n == nil {
		return f()
	}
	failed := make(chan error, 1)
	go func() {
		// The thread is never unlocked while it is away: it ends with the goroutine if it cannot return.
		runtime.LockOSThread()
		home, err := Current()
		if err == nil {
			defer home.Close()
			err = n.set()
		}
		if err != nil {
			failed <- err
			return
		}
		err = f()
		if home.set() == nil {
			runtime.UnlockOSThread()
		}
		failed <- err
	}()
	return <-failed
}

// set moves the calling thread.
func (n *Namespace) set() error {
	if err := unix.Setns(int(n.file.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter network namespace %s: %w", n.file.Name(), err)
	}
	return nil
}

// What an execution tells the next one.
const (
	hostVariable = "VBNG_HOST_NETNS" // descriptor of the namespace that the first was started in
	madeVariable = "VBNG_NETNS_MADE" // the namespace was not there before
)

// Entered is where the process has come from.
type Entered struct {
	Host *Namespace // the namespace it was started in; nil: it is there still
	Made bool       // its own namespace did not exist before
}

// Enter makes the process live in the named namespace, made if absent. It does not return in the process
// that is elsewhere: that one is executed anew, with the same arguments, and returns there. It must be
// called before anything that does not survive an execution. An empty name: nothing happens.
func Enter(name string) (Entered, error) {
	if text, ok := os.LookupEnv(hostVariable); ok {
		return arrive(text)
	}
	if name == "" {
		return Entered{}, nil
	}
	made, err := Make(name)
	if err != nil {
		return Entered{}, err
	}
	return Entered{}, depart(name, made)
}

func arrive(text string) (e Entered, err error) {
	fd, err := strconv.Atoi(text)
	if err != nil || fd < 0 {
		return e, fmt.Errorf("variable %s: %q is no descriptor", hostVariable, text)
	}
	unix.CloseOnExec(fd)
	e = Entered{Host: &Namespace{os.NewFile(uintptr(fd), "host")}, Made: os.Getenv(madeVariable) != ""}
	return e, errors.Join(os.Unsetenv(hostVariable), os.Unsetenv(madeVariable))
}

func depart(name string, made bool) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find own executable: %w", err)
	}
	target, err := Open(name)
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	host, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY, 0) // stays open over the execution
	if err != nil {
		return fmt.Errorf("open own network namespace: %w", err)
	}
	if err := target.set(); err != nil {
		return err
	}
	environment := append(os.Environ(), hostVariable+"="+strconv.Itoa(host))
	if made {
		environment = append(environment, madeVariable+"=1")
	}
	err = unix.Exec(self, os.Args, environment)
	_ = (&Namespace{os.NewFile(uintptr(host), "host")}).set()
	return fmt.Errorf("execute %s in namespace %s: %w", self, name, err)
}
