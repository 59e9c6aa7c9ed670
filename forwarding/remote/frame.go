package remote

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// kind is the type of a message.
type kind uint8

// From control to the forwarder, and the answers. Every message of control but hello is answered, in order.
const (
	kindHello   kind = 1 + iota // first of each side; JSON, so that versions can disagree in words
	kindBatches                 // several batches, each validated and applied on its own
	kindBegin                   // generation u64
	kindEnd                     // generation u64
	kindTrace                   // text
	kindAnswers                 // to batches
	kindDone                    // to begin and end
	kindText                    // to trace
	kindEvent                   // the forwarder's own: a port state
	kindGoodbye                 // why the forwarder closes the connection: text
	numKinds
)

const (
	frameHeaderBytes = 5 // length u32 of what follows, kind u8
	maxFrameBytes    = 16 << 20
	maxDescriptors   = 200

	// writeTimeout bounds how long a peer may not read; without it a stopped control would stop the
	// forwarder's writer.
	writeTimeout = 5 * time.Second
)

var errFrameTooLong = fmt.Errorf("message is longer than %d bytes", maxFrameBytes)

// conn is one end of the stream. Reading and writing may go on at once, each on one goroutine.
type conn struct {
	socket *net.UnixConn
	header [frameHeaderBytes]byte
	body   []byte // of the message read last
	out    []byte
}

func newConn(socket *net.UnixConn) *conn { return &conn{socket: socket} }

// begin starts a message; the caller appends its body and hands the whole to send.
func (c *conn) begin(k kind) []byte { return append(c.out[:0], 0, 0, 0, 0, byte(k)) }

// send writes a message that begin started, with descriptors if there are any.
func (c *conn) send(message []byte, descriptors ...int) error {
	c.out = message
	body := len(message) - frameHeaderBytes
	if body > maxFrameBytes {
		return errFrameTooLong
	}
	binary.LittleEndian.PutUint32(message, uint32(body))
	if err := c.socket.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if len(descriptors) == 0 {
		_, err := c.socket.Write(message)
		return err
	}
	n, _, err := c.socket.WriteMsgUnix(message, unix.UnixRights(descriptors...), nil)
	if err == nil && n < len(message) {
		_, err = c.socket.Write(message[n:])
	}
	return err
}

// receive reads the next message; its body is valid until the next call.
func (c *conn) receive() (kind, []byte, error) {
	if _, err := io.ReadFull(c.socket, c.header[:]); err != nil {
		return 0, nil, err
	}
	return c.receiveBody()
}

// receiveWithDescriptors is receive for a message that may carry descriptors, which the caller closes.
func (c *conn) receiveWithDescriptors() (k kind, body []byte, descriptors []int, err error) {
	rights := make([]byte, unix.CmsgSpace(maxDescriptors*4))
	n, rightsBytes, flags, _, err := c.socket.ReadMsgUnix(c.header[:], rights)
	if err == nil && n == 0 {
		err = io.EOF
	}
	if err != nil {
		return 0, nil, nil, err
	}
	descriptors, err = parseRights(rights[:rightsBytes])
	if flags&unix.MSG_CTRUNC != 0 {
		err = errors.New("more descriptors than expected")
	}
	if err == nil {
		_, err = io.ReadFull(c.socket, c.header[n:])
	}
	if err == nil {
		k, body, err = c.receiveBody()
	}
	if err != nil {
		closeAll(descriptors)
		return 0, nil, nil, err
	}
	return k, body, descriptors, nil
}

func (c *conn) receiveBody() (kind, []byte, error) {
	size := binary.LittleEndian.Uint32(c.header[:])
	k := kind(c.header[4])
	switch {
	case size > maxFrameBytes:
		return 0, nil, errFrameTooLong
	case k == 0 || k >= numKinds:
		return 0, nil, fmt.Errorf("unknown message type %d", k)
	}
	if cap(c.body) < int(size) {
		c.body = make([]byte, size)
	}
	c.body = c.body[:size]
	if _, err := io.ReadFull(c.socket, c.body); err != nil {
		return 0, nil, fmt.Errorf("read message of %d bytes: %w", size, err)
	}
	return k, c.body, nil
}

func parseRights(b []byte) ([]int, error) {
	messages, err := unix.ParseSocketControlMessage(b)
	if err != nil {
		return nil, fmt.Errorf("parse descriptors: %w", err)
	}
	var all []int
	for _, m := range messages {
		descriptors, err := unix.ParseUnixRights(&m)
		if err != nil {
			closeAll(all)
			return nil, fmt.Errorf("parse descriptors: %w", err)
		}
		all = append(all, descriptors...)
	}
	for _, d := range all {
		unix.CloseOnExec(d)
	}
	return all, nil
}

func closeAll(descriptors []int) {
	for _, d := range descriptors {
		_ = unix.Close(d)
	}
}
