package remote

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// Spawn returns a ClientConfig.Start that runs a forwarder process in a session of its own, so that what
// ends control does not end it. Its output goes where ours goes.
func Spawn(executable string, arguments ...string) func() error {
	return func() error {
		command := exec.Command(executable, arguments...)
		command.Stdout, command.Stderr = os.Stdout, os.Stderr
		command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := command.Start(); err != nil {
			return fmt.Errorf("run %s: %w", executable, err)
		}
		go func() { _ = command.Wait() }() // its end shows at the socket
		return nil
	}
}
