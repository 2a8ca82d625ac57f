package gpu

import (
	"runtime"

	"utvi/engine"
	"utvi/internal/cuda"
	"utvi/internal/special"
)

// newIntervals returns intervals that the card finds.
func (e *Engine) newIntervals(members, most int, shapes []engine.Shape) (engine.Intervals, error) {
	k := e.load()
	m, err := newMemory(e.device)
	if err != nil {
		return nil, err
	}
	parts := 0
	for _, s := range shapes {
		parts = max(parts, len(s.Weights))
	}
	packed := make([]float64, 2*parts*len(shapes)) // a weight of 0 is no part
	for t, s := range shapes {
		copy(packed[2*t*parts:], s.Weights)
		copy(packed[(2*t+1)*parts:], s.Factors)
	}
	n := members * most
	q := &intervals{memory: m, kernel: k.quantiles, most: most, in: pinned[float32](m, 2*n), out: pinned[float64](m, 2*most)}
	q.args = quantilesArgs{M: m.floats(2 * n), Shapes: place(m, packed, 8), Out: m.alloc(2*most, 8),
		Room: int32(most), Members: int32(members), Targets: int32(len(shapes)), Parts: int32(parts)}
	q.args.V = q.args.M.Add(4 * n)
	runtime.AddCleanup(q, (*memory).release, m)
	if m.err == nil {
		m.err = m.stream.Sync()
	}
	if m.err != nil {
		m.release()
		return nil, m.err
	}
	return q, nil
}

// intervals finds the intervals of many numbers in one launch.
type intervals struct {
	*memory
	kernel cuda.Kernel
	args   quantilesArgs
	most   int
	in     []float32 // means and variances of each member
	out    []float64 // lower and upper end of each number
}

// intervalThreads is how many ends a block of the kernel quantiles finds.
const intervalThreads = 128

// Find implements engine.Intervals.
func (q *intervals) Find(level float64, n int, mean, variance [][]float32, lo, hi []float64) error {
	members := int(q.args.Members)
	for k := range members {
		copy(q.in[k*q.most:], mean[k][:n])
		copy(q.in[(members+k)*q.most:], variance[k][:n])
	}
	q.args.N, q.args.P = int32(n), (1-level)/2
	q.args.Z = special.Quantile(q.args.P)
	if err := cuda.Upload(q.stream, q.args.M, q.in); err != nil {
		return err
	}
	if err := cuda.Launch(q.stream, q.kernel, cuda.Grid{X: tiles(2*n, intervalThreads)}, intervalThreads, &q.args); err != nil {
		return err
	}
	if err := cuda.Download(q.stream, q.out[:2*n], q.args.Out); err != nil {
		return err
	}
	if err := q.stream.Sync(); err != nil {
		return err
	}
	for i := range n {
		lo[i], hi[i] = q.out[2*i], q.out[2*i+1]
	}
	return nil
}
