package memory

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"testing/fstest"
	"time"
)

// group is a file system in which a control group of 1 GB leaves so much.
func group(left int64) fstest.MapFS {
	return fstest.MapFS{
		"proc/self/cgroup":             {Data: []byte("0::/\n")},
		"proc/self/status":             {Data: []byte("RssAnon:\t    100 kB\n")},
		"sys/fs/cgroup/memory.max":     {Data: []byte("1000000000\n")},
		"sys/fs/cgroup/memory.current": {Data: fmt.Appendf(nil, "%d\n", 1_000_000_000-left)},
	}
}

func TestCeiling(t *testing.T) {
	for left, want := range map[int64]float64{
		500_000_000: 0.9 * 500_102_400,
		20_000_000:  20_102_400 - 16<<20,
		10_000_000:  0,
		-5:          0,
	} {
		if got := ceiling(group(left)); got != want {
			t.Errorf("the ceiling is %g where %d bytes are left beside 102,400 in use, not %g", got, left, want)
		}
	}
	if got := ceiling(fstest.MapFS{"proc/meminfo": {Data: []byte(meminfo)}}); !math.IsInf(got, 1) {
		t.Errorf("the ceiling is %g, and nobody set a limit", got)
	}
}

// Too much is in use if it is so at four looks in a row, with nothing left.
func TestGuardSees(t *testing.T) {
	const ceiling = 900_000_000 // of a billion
	for _, c := range []struct {
		name string
		used []float64
		left int64
		want int
	}{
		{"four times too much", []float64{9e8 + 1, 9e8 + 1, 9e8 + 1, 9e8 + 1}, 99_999_999, 1},
		{"and told once", []float64{1e9, 1e9, 1e9, 1e9, 1e9, 1e9, 1e9, 1e9}, 0, 1},
		{"three times", []float64{9e8 + 1, 9e8 + 1, 9e8 + 1}, 0, 0},
		{"not in a row", []float64{9e8 + 1, 9e8 + 1, 9e8 + 1, 9e8, 9e8 + 1}, 0, 0},
		{"never touched", []float64{1e9, 1e9, 1e9, 1e9}, 100_000_001, 0},
	} {
		told := 0
		g := &guard{root: group(c.left), ceiling: ceiling, full: func(got float64) {
			told++
			if got != ceiling {
				t.Errorf("%s: the ceiling is %g", c.name, got)
			}
		}}
		for _, n := range c.used {
			g.see(n)
		}
		if told != c.want {
			t.Errorf("%s: told %d times, want %d", c.name, told, c.want)
		}
	}
}

// Every collection of garbage looks.
func TestGuardLooks(t *testing.T) {
	full := make(chan bool, 1)
	g := &guard{root: group(0), ceiling: 1, full: func(float64) { full <- true }}
	g.arm()
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		runtime.GC()
		select {
		case <-full:
			return
		default:
		}
	}
	t.Error("nobody looked")
}

// What is kept is in use; garbage is not.
func TestUsed(t *testing.T) {
	const size = 64 << 20
	runtime.GC()
	before := used()
	kept := make([]byte, size)
	runtime.GC()
	with := used()
	runtime.KeepAlive(kept)
	kept = nil
	runtime.GC()
	without := used()
	if grown := int64(with - before); grown < size-size/8 || grown > size+size/8 {
		t.Errorf("%d bytes are in use for %d that are kept", grown, size)
	}
	if left := int64(without) - int64(before); left > size/8 {
		t.Errorf("%d bytes are in use for garbage", left)
	}
}
