package gpu

import (
	"math"
	"unsafe"

	"utvi/internal/cuda"
)

// A launched kernel is one launch, recorded for trainings that run side by side.
type launched struct {
	kernel  cuda.Kernel
	grid    cuda.Grid
	threads int
	args    []byte    // for one network
	gated   bool      // its blocks wait for one another
	behind  bool      // it may start while the one before it ends
	spread  spreading // of its blocks over rows
}

// A recorder decides whether launches are queued or recorded.
type recorder struct {
	record     *[]launched // they are recorded here, if not nil
	sideBySide bool        // and run for several networks side by side
}

// launch queues a kernel for one network, or records it.
func launch[T any](w *weights, k cuda.Kernel, g cuda.Grid, threads int, args *many[T]) error {
	if w.record == nil {
		return cuda.Launch(w.stream, k, g, threads, args)
	}
	one := unsafe.Slice((*byte)(unsafe.Pointer(&args.One)), unsafe.Sizeof(args.One))
	*w.record = append(*w.record, launched{kernel: k, grid: g, threads: threads, args: append([]byte(nil), one...)})
	return nil
}

// launchGated is launch for a kernel whose blocks wait for one another.
func launchGated[T any](w *weights, k cuda.Kernel, g cuda.Grid, threads int, args *many[T]) error {
	if w.record == nil {
		return cuda.LaunchTogether(w.stream, k, g, threads, unsafe.Slice((*byte)(unsafe.Pointer(args)), unsafe.Sizeof(*args)))
	}
	if err := launch(w, k, g, threads, args); err != nil {
		return err
	}
	(*w.record)[len(*w.record)-1].gated = true
	return nil
}

// spreadLast says how the rows of the launch that was recorded last can be spread over blocks.
func (r *recorder) spreadLast(s spreading) {
	if r.record != nil {
		(*r.record)[len(*r.record)-1].spread = s
	}
}

// compile has the driver compile the kernels that run launches, before they are recorded
// as a graph or the first row waits for them.
func (w *weights) compile(run func() error) error {
	var calls []launched
	w.record = &calls
	err := run()
	w.record = nil
	if err != nil {
		return err
	}
	return w.kernels.compile(calls)
}

// launchBehind is launch for a kernel that may start while the one before it ends.
func launchBehind[T any](w *weights, k cuda.Kernel, g cuda.Grid, threads int, args *many[T]) error {
	if w.record == nil {
		return cuda.LaunchBehind(w.stream, k, g, threads, unsafe.Slice((*byte)(unsafe.Pointer(args)), unsafe.Sizeof(*args)))
	}
	if err := launch(w, k, g, threads, args); err != nil {
		return err
	}
	(*w.record)[len(*w.record)-1].behind = true
	return nil
}

// side returns the grid of a call for several networks: the first free axis counts them.
func (c *launched) side(networks int) cuda.Grid {
	g := c.grid
	if c.spread.unit > 0 {
		g.X = c.spread.blocks(networks)
	}
	if g.Y == 0 {
		g.Y = networks
	} else {
		g.Z = networks
	}
	return g
}

// A spreading is how the rows of a launch can be spread over blocks: unit blocks take a group
// of rows at a time, and most units run at once. The zero value: they cannot.
type spreading struct{ unit, groups, most int }

// blocks returns the blocks of each network with which several networks end earliest. To
// start takes a unit half as long as a group.
func (s spreading) blocks(networks int) int {
	best, least := 1, math.MaxInt
	for n := 1; n <= s.groups; n++ {
		if time := tiles(networks*n, s.most) * (2*tiles(s.groups, n) + 1); time < least {
			best, least = n, time
		}
	}
	return best * s.unit
}

// fits reports whether two networks make the same calls, but for their arguments.
func fits(a, b []launched) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].kernel != b[i].kernel || a[i].grid != b[i].grid || a[i].threads != b[i].threads || len(a[i].args) != len(b[i].args) {
			return false
		}
	}
	return true
}
