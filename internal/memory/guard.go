package memory

import (
	"io/fs"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// share of what is allowed, and all but rest of it, is for what the runtime holds; the others are for
// the program itself, and for what it takes between two looks.
const (
	share = 0.9
	rest  = 16 << 20
)

// Ceiling is how much memory the Go runtime of this process may hold, in bytes: a share of what a
// control group or the shell allows, infinite where neither sets a limit.
func Ceiling() float64 { return ceiling(os.DirFS("/")) }

func ceiling(root fs.FS) float64 {
	kib, _ := field(root, "proc/self/status", "RssAnon:")
	all := allowed(root) + 1024*kib
	return max(min(share*all, all-rest), 0)
}

// Guard keeps this process within its Ceiling. Near it garbage is collected sooner; and when what
// is in use no longer fits, full is called, with the ceiling, before the system ends the process
// without a word. It looks when garbage has been collected, which the runtime does in time.
//
// Where the environment has GOMEMLIMIT, somebody else has taken care.
func Guard(full func(ceiling float64)) {
	g := &guard{root: os.DirFS("/"), ceiling: Ceiling(), full: full}
	if _, told := os.LookupEnv("GOMEMLIMIT"); told || math.IsInf(g.ceiling, 1) {
		return
	}
	debug.SetMemoryLimit(int64(g.ceiling))
	g.arm()
}

type guard struct {
	root    fs.FS
	ceiling float64
	full    func(ceiling float64)
	above   int // looks in a row that saw too much in use
}

// arm makes the next collection of garbage look.
func (g *guard) arm() { runtime.AddCleanup(new(sentinel), (*guard).look, g) }

// A sentinel is garbage at once. It is larger than what the runtime packs together with others.
type sentinel [64]byte

func (g *guard) look() {
	g.see(float64(used()))
	g.arm()
}

// enough looks in a row are no chance: what was taken while garbage was collected counts as in use.
const enough = 4

// see compares what is in use with the ceiling. What was never touched is in use and takes
// nothing, so what is left has the last word.
func (g *guard) see(used float64) {
	least := max(g.ceiling*(1/share-1), rest)
	if used <= g.ceiling || allowed(g.root) >= least {
		g.above = 0
		return
	}
	g.above++
	if g.above == enough {
		g.full(g.ceiling)
	}
}

// used is the memory that the runtime holds and cannot do without: all but the heap, and of the
// heap what was in use when garbage was collected last.
func used() uint64 {
	sample := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"}, {Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/released:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"},
	}
	metrics.Read(sample)
	n := sample[0].Value.Uint64() + sample[1].Value.Uint64()
	for _, heap := range sample[2:] {
		n -= heap.Value.Uint64()
	}
	return n
}
