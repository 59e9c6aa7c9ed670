package port

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// tagOffloads are the kernel's names of what takes VLAN tags out of frames or puts them in (net/ethtool/common.c).
// Those of 802.1ad have no legacy flag.
var tagOffloads = [...]string{"tx-vlan-hw-insert", "rx-vlan-hw-parse", "tx-vlan-stag-hw-insert", "rx-vlan-stag-hw-parse"}

const (
	stringSetFeatures = 4  // ETH_SS_FEATURES
	stringBytes       = 32 // ETH_GSTRING_LEN
	// maxFeatures bounds what is asked for; Linux 6.18 has some 70.
	maxFeatures = 256
	blocks      = maxFeatures / 32
)

// A featureSet has a bit for each feature of a device.
type featureSet [blocks]uint32

// noTagOffloads has the device leave VLAN tags in the frames, both ways, and makes sure that it does.
func (d device) noTagOffloads() error {
	offloads, err := d.findFeatures(tagOffloads[:])
	if err != nil { // a device that tells no features has no such offloads
		return nil
	}
	active, size, err := d.activeFeatures()
	if err != nil || active.common(offloads) == (featureSet{}) {
		return nil
	}
	d.switchOff(active.common(offloads), size)
	if active, _, err = d.activeFeatures(); err != nil || active.common(offloads) != (featureSet{}) {
		return fmt.Errorf("device %s takes VLAN tags out of frames and cannot be told otherwise: use driver af-packet", d.name)
	}
	return nil
}

func (s featureSet) common(o featureSet) featureSet {
	for i := range s {
		s[i] &= o[i]
	}
	return s
}

// findFeatures finds the bits of features by their names; names that this kernel does not know are left out.
func (d device) findFeatures(names []string) (found featureSet, err error) {
	strings := struct {
		command, set, count uint32
		text                [maxFeatures][stringBytes]byte
	}{command: unix.ETHTOOL_GSTRINGS, set: stringSetFeatures}
	count, err := d.countFeatures()
	if err == nil && count > maxFeatures {
		err = fmt.Errorf("%d are more than %d", count, maxFeatures)
	}
	if err != nil {
		return found, fmt.Errorf("count features of %s: %w", d.name, err)
	}
	if err := d.ethtoolCall(unsafe.Pointer(&strings)); err != nil {
		return found, fmt.Errorf("read names of features of %s: %w", d.name, err)
	}
	for i := range min(strings.count, maxFeatures) {
		text, _, _ := bytes.Cut(strings.text[i][:], []byte{0})
		for _, name := range names {
			if string(text) == name {
				found[i/32] |= 1 << (i % 32)
			}
		}
	}
	return found, nil
}

// countFeatures asks how many names there are: the kernel writes all of them.
func (d device) countFeatures() (uint32, error) {
	info := [20]byte{}
	binary.NativeEndian.PutUint32(info[:], unix.ETHTOOL_GSSET_INFO)
	binary.NativeEndian.PutUint64(info[8:], 1<<stringSetFeatures)
	err := d.ethtoolCall(unsafe.Pointer(&info))
	return binary.NativeEndian.Uint32(info[16:]), err
}

// activeFeatures returns what is switched on, and how many blocks of features this kernel has.
func (d device) activeFeatures() (active featureSet, size uint32, err error) {
	request := struct {
		command, size uint32
		blocks        [blocks]struct{ available, requested, active, neverChanged uint32 }
	}{command: unix.ETHTOOL_GFEATURES, size: blocks}
	if err := d.ethtoolCall(unsafe.Pointer(&request)); err != nil {
		return active, 0, fmt.Errorf("read features of %s: %w", d.name, err)
	}
	for i := range min(request.size, blocks) {
		active[i] = request.blocks[i].active
	}
	return active, min(request.size, blocks), nil
}

// switchOff asks the device to go without features; whether it does, it tells later.
func (d device) switchOff(features featureSet, size uint32) {
	request := struct {
		command, size uint32
		blocks        [blocks]struct{ valid, requested uint32 }
	}{command: unix.ETHTOOL_SFEATURES, size: size}
	for i, block := range features {
		request.blocks[i].valid = block
	}
	_ = d.ethtoolCall(unsafe.Pointer(&request))
}

// ethtoolCall carries out a request that begins with its command.
func (d device) ethtoolCall(request unsafe.Pointer) error {
	r := struct {
		name    [unix.IFNAMSIZ]byte
		request unsafe.Pointer
		_       [16]byte
	}{request: request}
	copy(r.name[:unix.IFNAMSIZ-1], d.name)
	return d.call(unix.SIOCETHTOOL, unsafe.Pointer(&r))
}
