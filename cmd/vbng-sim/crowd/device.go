package crowd

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"vbng/cmd/vbng-sim/frame"
	"vbng/forwarding/entry"
	"vbng/forwarding/port"
)

// namespaceFolder is where iproute2 keeps its named network namespaces.
const namespaceFolder = "/run/netns"

// device names a network device, in another network namespace if need be.
type device struct {
	namespace string // path, empty: the process's own
	name      string
}

// parseDevice reads DEV or NS:DEV; NS is a name that "ip netns" knows or a path like /proc/7/ns/net.
func parseDevice(s string) (device, error) {
	i := strings.LastIndexByte(s, ':')
	d := device{name: s[i+1:]}
	if i >= 0 {
		d.namespace = s[:i]
	}
	if d.name == "" || i == 0 {
		return device{}, fmt.Errorf("device %q: want DEV or NAMESPACE:DEV", s)
	}
	if d.namespace != "" && !strings.Contains(d.namespace, "/") {
		d.namespace = filepath.Join(namespaceFolder, d.namespace)
	}
	return d, nil
}

// open opens the device. A packet socket stays in the network namespace in which it was made, so only
// the thread that makes it has to go there; that thread ends with its goroutine.
func (d device) open(mac frame.MAC) (port.Port, error) {
	type result struct {
		port port.Port
		err  error
	}
	done := make(chan result)
	go func() {
		if d.namespace != "" {
			runtime.LockOSThread()
			if err := enterNamespace(d.namespace); err != nil {
				done <- result{nil, err}
				return
			}
		}
		p, err := port.OpenAFPacket(entry.Port{Driver: entry.DriverAFPacket, Device: d.name, MAC: entry.MAC(mac)})
		if err != nil {
			done <- result{nil, err}
			return
		}
		done <- result{p, nil}
	}()
	r := <-done
	return r.port, r.err
}

// enterNamespace moves the calling thread.
func enterNamespace(path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open network namespace %s: %w", path, err)
	}
	defer unix.Close(fd)
	if err := unix.Setns(fd, unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter network namespace %s: %w", path, err)
	}
	return nil
}
