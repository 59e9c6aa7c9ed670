package port

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// namespaceFolder is where "ip netns" keeps namespaces by name.
const namespaceFolder = "/run/netns"

// withinNamespace runs f on a thread in a network namespace, given by name or by path; empty: where we are. What f
// opens stays there.
func withinNamespace(namespace string, f func() error) error {
	if namespace == "" {
		return f()
	}
	failed := make(chan error, 1)
	go func() {
		// Unlocked only when it is back home: a thread that cannot return ends with the goroutine.
		runtime.LockOSThread()
		home, err := os.Open("/proc/thread-self/ns/net")
		if err != nil {
			failed <- fmt.Errorf("open own network namespace: %w", err)
			return
		}
		defer home.Close()
		err = enterNamespace(namespace)
		if err == nil {
			err = f()
		}
		if unix.Setns(int(home.Fd()), unix.CLONE_NEWNET) == nil {
			runtime.UnlockOSThread()
		}
		failed <- err
	}()
	return <-failed
}

func enterNamespace(namespace string) error {
	path := namespace
	if !strings.Contains(path, "/") {
		path = filepath.Join(namespaceFolder, path)
	}
	target, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open network namespace: %w", err)
	}
	defer target.Close()
	if err := unix.Setns(int(target.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter network namespace %s: %w", path, err)
	}
	return nil
}
