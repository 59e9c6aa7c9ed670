//go:build lab

package lab

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// transferPort is where the Internet side takes and gives counted bytes.
const transferPort = 40000

// ServeTransfers answers, on the Internet side, "put N" followed by N bytes with their count and
// SHA-256, and "get N" with N random bytes whose SHA-256 is kept in the lab's folder. The guests use it
// to compare, byte for byte, what TCP carried each way.
func (l *Lab) ServeTransfers() {
	l.t.Helper()
	listener := l.listen("I", transferPort)
	l.t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go transfer(conn)
		}
	}()
}

// listen opens a listener inside a namespace: the socket stays there when the thread has gone.
func (l *Lab) listen(ns string, port int) net.Listener {
	l.t.Helper()
	type result struct {
		net.Listener
		error
	}
	answer := make(chan result)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		file, err := os.Open(filepath.Join("/run/netns", l.NS(ns)))
		if err == nil {
			defer file.Close()
			err = unix.Setns(int(file.Fd()), unix.CLONE_NEWNET)
		}
		if err != nil {
			answer <- result{error: err}
			return
		}
		listener, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		answer <- result{listener, err}
	}()
	r := <-answer
	if r.error != nil {
		l.t.Fatal(r.error)
	}
	return r.Listener
}

func transfer(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	line, err := in.ReadString('\n')
	if err != nil {
		return
	}
	verb, count, _ := strings.Cut(strings.TrimSpace(line), " ")
	n, _ := strconv.ParseInt(count, 10, 64)
	hash := sha256.New()
	switch verb {
	case "put":
		got, _ := io.CopyN(hash, in, n)
		fmt.Fprintf(conn, "%d %x\n", got, hash.Sum(nil))
	case "get":
		// The digest goes first, so that the other side can judge alone.
		data := make([]byte, n)
		rand.Read(data)
		hash.Write(data)
		fmt.Fprintf(conn, "%x\n", hash.Sum(nil))
		conn.Write(data)
	}
}
