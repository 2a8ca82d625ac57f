package bench

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// onCore calls f on a core of those that this thread may run on, number i of them, counted round and round.
// What f starts in other goroutines runs anywhere.
func onCore(i int, f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, one unix.CPUSet
	if unix.SchedGetaffinity(0, &all) == nil && all.Count() > 0 {
		left := i % all.Count()
		for core := 0; ; core++ {
			if !all.IsSet(core) {
				continue
			}
			if left == 0 {
				one.Set(core)
				break
			}
			left--
		}
		if unix.SchedSetaffinity(0, &one) == nil {
			defer unix.SchedSetaffinity(0, &all)
		}
	}
	f()
}
