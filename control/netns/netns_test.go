package netns

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const insideVariable = "VBNG_TEST_INSIDE"

// inside runs the calling test once more with mounts and a network of its own. Outside it returns false.
func inside(t *testing.T) bool {
	t.Helper()
	if os.Getenv(insideVariable) != "" {
		return true
	}
	if os.Getuid() != 0 {
		t.Skip("making network namespaces needs root")
	}
	command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	command.Env = append(os.Environ(), insideVariable+"=1")
	command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET}
	out, err := command.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skipf("no namespaces here: %v", err)
	}
	if err != nil {
		t.Errorf("inside: %v\n%s", err, out)
	}
	return false
}

func TestMakeDoRemove(t *testing.T) {
	if !inside(t) {
		return
	}
	name := filepath.Join(t.TempDir(), "netns", "own")
	for n, want := range []bool{true, false} {
		if made, err := Make(name); err != nil || made != want {
			t.Fatalf("make, time %d: made %v, error %v", n+1, made, err)
		}
	}
	own, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	// A listener of the namespace is heard there, and not here.
	var l net.Listener
	if err := Do(own, func() (err error) { l, err = net.Listen("tcp4", "127.0.0.1:1790"); return err }); err != nil {
		t.Fatalf("listen: %v", err)
	}
	dial := func() error {
		c, err := net.Dial("tcp4", "127.0.0.1:1790")
		if err == nil {
			_ = c.Close()
		}
		return err
	}
	if err := Do(own, dial); err != nil {
		t.Errorf("there: %v", err)
	}
	if dial() == nil {
		t.Error("the listener is heard here as well")
	}
	broken := errors.New("broken")
	if err := Do(own, func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	_ = l.Close()
	if err := errors.Join(own.Close(), Remove(name), Remove(name)); err != nil {
		t.Errorf("remove: %v", err)
	}
	if _, err := Open(name); err == nil {
		t.Error("it is still there")
	}
	_ = syscall.Unmount(filepath.Dir(name), syscall.MNT_DETACH)
}

func TestEnterNowhere(t *testing.T) {
	e, err := Enter("")
	if err != nil || e.Host != nil || e.Made {
		t.Errorf("%+v, error %v", e, err)
	}
	ran := false
	if err := Do(nil, func() error { ran = true; return nil }); err != nil || !ran {
		t.Errorf("ran %v, error %v", ran, err)
	}
	if got := Path("vbng"); !strings.HasPrefix(got, "/run/netns/") {
		t.Errorf("path %s", got)
	}
	t.Setenv(hostVariable, "x")
	if _, err := Enter("vbng"); err == nil {
		t.Error("a variable that is no descriptor is believed")
	}
}
