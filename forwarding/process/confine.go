package process

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// confine keeps every thread of the process off the workers' CPUs; those that start later inherit it.
// A worker pins itself afterwards. Without it the runtime's own threads take the worker's core for
// milliseconds at a time. With no CPU left for the others nothing is done.
func confine(workers []int) error {
	if len(workers) == 0 {
		return nil
	}
	var others unix.CPUSet
	for cpu := range runtime.NumCPU() {
		if !slices.Contains(workers, cpu) {
			others.Set(cpu)
		}
	}
	if others.Count() == 0 {
		return nil
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return fmt.Errorf("list own threads: %w", err)
	}
	for _, t := range threads {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		if err := unix.SchedSetaffinity(id, &others); err != nil && err != unix.ESRCH {
			return fmt.Errorf("keep thread %d off the workers' CPUs: %w", id, err)
		}
	}
	return nil
}
