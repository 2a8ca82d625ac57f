package gpu

import (
	"unsafe"

	"utvi/internal/cuda"
)

// A call is one launch of a kernel, recorded for trainings that run side by side.
type call struct {
	kernel  cuda.Kernel
	grid    cuda.Grid
	threads int
	args    []byte // for one network
}

// launch queues a kernel for one network, or records it.
func launch[T any](w *weights, k cuda.Kernel, g cuda.Grid, threads int, args *many[T]) error {
	if w.record == nil {
		return cuda.Launch(w.stream, k, g, threads, args)
	}
	one := unsafe.Slice((*byte)(unsafe.Pointer(&args.One)), unsafe.Sizeof(args.One))
	*w.record = append(*w.record, call{k, g, threads, append([]byte(nil), one...)})
	return nil
}

// side returns the grid of a call for several networks: the first free axis counts them.
func (c *call) side(networks int) cuda.Grid {
	g := c.grid
	if g.Y == 0 {
		g.Y = networks
	} else {
		g.Z = networks
	}
	return g
}

// fits reports whether two networks make the same calls, but for their arguments.
func fits(a, b []call) bool {
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
