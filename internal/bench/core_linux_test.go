package bench

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// One thread is on another core in each round, and afterwards where it may be again.
func TestOnCore(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	allowed := func() (s unix.CPUSet) {
		if err := unix.SchedGetaffinity(0, &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	before := allowed()
	seen := map[unix.CPUSet]bool{}
	for i := range 2 * before.Count() {
		onCore(i, func() { seen[allowed()] = true })
	}
	for s := range seen {
		if s.Count() != 1 {
			t.Errorf("f may run on %d cores", s.Count())
		}
	}
	if len(seen) != before.Count() {
		t.Errorf("%d of %d cores were used", len(seen), before.Count())
	}
	if allowed() != before {
		t.Error("the thread does not have all its cores back")
	}
}
