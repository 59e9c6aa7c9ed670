package netns

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// nsfsMagic is the file system of namespaces (linux/magic.h).
const nsfsMagic = 0x6e736673

// Make makes a namespace with a loopback that is up, unless it is there. It tells whether it did.
func Make(name string) (made bool, err error) {
	path := Path(name)
	if exists(path) {
		return false, nil
	}
	if err := prepare(filepath.Dir(path)); err != nil {
		return false, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o444) // one that is left of a run before is as good
	if err != nil {
		return false, fmt.Errorf("make network namespace: %w", err)
	}
	_ = f.Close()
	failed := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends here
		failed <- unshare(path)
	}()
	if err := <-failed; err != nil {
		_ = os.Remove(path)
		return false, err
	}
	return true, nil
}

func exists(path string) bool {
	var s unix.Statfs_t
	return unix.Statfs(path, &s) == nil && uint32(s.Type) == nsfsMagic
}

// prepare makes the folder of namespaces as "ip netns" does: what is mounted there is seen by all.
func prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make folder of network namespaces: %w", err)
	}
	err := unix.Mount("", dir, "none", unix.MS_SHARED|unix.MS_REC, "")
	if errors.Is(err, unix.EINVAL) { // no mount point yet
		if err := unix.Mount(dir, dir, "none", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("mount %s: %w", dir, err)
		}
		err = unix.Mount("", dir, "none", unix.MS_SHARED|unix.MS_REC, "")
	}
	if err != nil {
		return fmt.Errorf("share mounts of %s: %w", dir, err)
	}
	return nil
}

// unshare gives the calling thread a new namespace, and the namespace a name.
func unshare(path string) error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("make network namespace: %w", err)
	}
	if err := unix.Mount("/proc/thread-self/ns/net", path, "none", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount network namespace on %s: %w", path, err)
	}
	loopback, err := netlink.LinkByName("lo")
	if err == nil {
		err = netlink.LinkSetUp(loopback)
	}
	if err != nil {
		return fmt.Errorf("bring up loopback of the new network namespace: %w", err)
	}
	return nil
}

// Remove takes the name away. The namespace ends with the last process and descriptor in it. That it is not
// there is no error.
func Remove(name string) error {
	path := Path(name)
	if err := unix.Unmount(path, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("unmount network namespace %s: %w", name, err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove network namespace: %w", err)
	}
	return nil
}
