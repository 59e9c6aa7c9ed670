package remote

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"vbng/forwarding/counter"
	"vbng/forwarding/punt"
)

// sharedMemory is everything that both processes map, as one of them sees it.
type sharedMemory struct {
	layout   counter.Layout
	counters memoryFile
	puntBell int // event descriptor, rung by all punt rings
	worker   []workerMemory
}

// workerMemory is one worker's rings.
type workerMemory struct {
	punt, inject memoryFile
	injectBell   int // event descriptor
}

// memoryFile is a mapped memory file; its maker keeps the descriptor to pass it on.
type memoryFile struct {
	descriptor int
	bytes      []byte
}

// makeSharedMemory makes what a forwarder offers.
func makeSharedMemory(layout counter.Layout, ringDataBytes int) (m *sharedMemory, err error) {
	m = &sharedMemory{layout: layout, puntBell: -1}
	defer func() {
		if err != nil {
			m.close()
			m = nil
		}
	}()
	if m.counters, err = makeMemoryFile("vbng-counters", counter.Size(layout)); err != nil {
		return m, err
	}
	if m.puntBell, err = makeBell(); err != nil {
		return m, err
	}
	for i := range layout.Workers {
		w := workerMemory{injectBell: -1}
		size := punt.RingSize(ringDataBytes)
		if w.punt, err = makeMemoryFile(fmt.Sprintf("vbng-punt-%d", i), size); err != nil {
			return m, err
		}
		w.inject, err = makeMemoryFile(fmt.Sprintf("vbng-inject-%d", i), size)
		if err == nil {
			w.injectBell, err = makeBell()
		}
		m.worker = append(m.worker, w)
		if err != nil {
			return m, err
		}
	}
	return m, nil
}

func makeBell() (int, error) {
	descriptor, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("make event descriptor: %w", err)
	}
	return descriptor, nil
}

// makeMemoryFile makes a file of a size that nobody can change: a peer that cut it off would kill us at
// the next access.
func makeMemoryFile(name string, bytes int) (memoryFile, error) {
	descriptor, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return memoryFile{}, fmt.Errorf("make memory file %s: %w", name, err)
	}
	f := memoryFile{descriptor: descriptor}
	err = unix.Ftruncate(descriptor, int64(bytes))
	if err == nil {
		_, err = unix.FcntlInt(uintptr(descriptor), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err == nil {
		f.bytes, err = unix.Mmap(descriptor, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err != nil {
		_ = unix.Close(descriptor)
		return memoryFile{}, fmt.Errorf("make memory file %s of %d bytes: %w", name, bytes, err)
	}
	return f, nil
}

// mapMemoryFile maps the whole file, which must be sealed. The mapping holds the file without the descriptor.
func mapMemoryFile(descriptor, protection int) (memoryFile, error) {
	seals, err := unix.FcntlInt(uintptr(descriptor), unix.F_GET_SEALS, 0)
	if err != nil {
		return memoryFile{}, fmt.Errorf("read seals of memory file: %w", err)
	}
	if seals&unix.F_SEAL_SHRINK == 0 {
		return memoryFile{}, errors.New("memory file is not sealed against shrinking")
	}
	var stat unix.Stat_t
	if err := unix.Fstat(descriptor, &stat); err != nil {
		return memoryFile{}, fmt.Errorf("read size of memory file: %w", err)
	}
	bytes, err := unix.Mmap(descriptor, 0, int(stat.Size), protection, unix.MAP_SHARED)
	if err != nil {
		return memoryFile{}, fmt.Errorf("map memory file: %w", err)
	}
	return memoryFile{-1, bytes}, nil
}

func (f *memoryFile) close() {
	if f.bytes != nil {
		_ = unix.Munmap(f.bytes)
		if f.descriptor >= 0 {
			_ = unix.Close(f.descriptor)
		}
		f.bytes = nil
	}
}

// descriptors lists all descriptors in the order of hello.
func (m *sharedMemory) descriptors() []int {
	all := []int{m.counters.descriptor, m.puntBell}
	for _, w := range m.worker {
		all = append(all, w.punt.descriptor, w.inject.descriptor, w.injectBell)
	}
	return all
}

// attachSharedMemory maps what a forwarder's hello brought. The descriptors are its own from here on, also
// when it fails: those of files are closed once they are mapped, only the bells stay open.
func attachSharedMemory(h hello, descriptors []int) (*sharedMemory, error) {
	if err := h.checkLayout(); err != nil {
		closeAll(descriptors)
		return nil, err
	}
	workers := h.Layout.Workers
	if len(descriptors) != 2+3*workers {
		closeAll(descriptors)
		return nil, fmt.Errorf("attach to forwarder: %d workers, but %d descriptors", workers, len(descriptors))
	}
	m := &sharedMemory{layout: h.Layout, puntBell: descriptors[1], worker: make([]workerMemory, workers)}
	var err error
	m.counters, err = mapMemoryFile(descriptors[0], unix.PROT_READ)
	_ = unix.Close(descriptors[0])
	for i := range m.worker {
		d, w := descriptors[2+3*i:], &m.worker[i]
		w.injectBell = d[2]
		defer closeAll(d[:2])
		if err == nil {
			w.punt, err = mapRing(d[0])
		}
		if err == nil {
			w.inject, err = mapRing(d[1])
		}
	}
	if err != nil {
		m.close()
		return nil, fmt.Errorf("attach to forwarder: %w", err)
	}
	return m, nil
}

func mapRing(descriptor int) (memoryFile, error) {
	f, err := mapMemoryFile(descriptor, unix.PROT_READ|unix.PROT_WRITE)
	if err == nil && !punt.ValidSize(len(f.bytes)) {
		_ = unix.Munmap(f.bytes)
		return memoryFile{}, fmt.Errorf("ring of %d bytes", len(f.bytes))
	}
	return f, err
}

func (m *sharedMemory) close() {
	m.counters.close()
	if m.puntBell >= 0 {
		_ = unix.Close(m.puntBell)
		m.puntBell = -1
	}
	for i := range m.worker {
		w := &m.worker[i]
		w.punt.close()
		w.inject.close()
		if w.injectBell >= 0 {
			_ = unix.Close(w.injectBell)
			w.injectBell = -1
		}
	}
}

// puntRings lays rings over the punt memory; all of them ring the one bell.
func (m *sharedMemory) puntRings() []*punt.Ring {
	var rings []*punt.Ring
	for _, w := range m.worker {
		r := punt.NewRing(w.punt.bytes)
		r.SetBell(m.puntBell)
		rings = append(rings, r)
	}
	return rings
}

// injectRings lays rings over the inject memory, each with its worker's bell.
func (m *sharedMemory) injectRings() []*punt.Ring {
	var rings []*punt.Ring
	for _, w := range m.worker {
		r := punt.NewRing(w.inject.bytes)
		r.SetBell(w.injectBell)
		rings = append(rings, r)
	}
	return rings
}
