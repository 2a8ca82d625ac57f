package gpu

import (
	"cmp"
	"slices"

	"utvi/internal/cuda"
)

// What follows the pass in a step of a small network: the gradients of the weights, and
// the update.

// gradientTall and gradientAcross are the sides of tiles of weights, gradientElements how
// many elements of a thin layer or of a bias are a job; gradientShared is the shared
// memory of a tile.
const gradientTall, gradientAcross, gradientElements, gradientShared = 64, 32, 64, 4 * 2 * 64 * (64 + 32)

// What a job is, in its Y, if it is no tile: elements of a thin layer with its bias, or of
// the bias of another; numbers whose parts the pass left.
const jobElements, jobBias, jobParts = -1, -2, -3

// leastFused is the fewest rows of a part: with fewer, writing and adding up the parts takes
// longer than their sums.
const leastFused = 32

// planFused cuts the rows into parts, which are functions of the shapes alone.
func (g *gradients) planFused(w *weights, rows int) {
	split := max(leastFused, (tiles(rows, partsFor(w.size))+15)/16*16)
	g.parts = tiles(rows, split)
	for i := range g.dense {
		d := &g.dense[i]
		d.parts, d.split = g.parts, split
		for _, t := range d.layer.tensors {
			w.tensors[t].parts = g.parts
		}
	}
	set := func() []*jobSet {
		return []*jobSet{{kernel: w.kernels.fusedGradients, rows: gradientTall, cols: gradientAcross, threads: 256, fused: true}}
	}
	g.alone, g.side = set(), set()
}

// order puts tiles first, which take longest.
func (s *jobSet) order() {
	if s.fused {
		slices.SortStableFunc(s.jobs, func(a, b gradJob) int { return cmp.Compare(min(b.Y, 0), min(a.Y, 0)) })
	}
}

// addFused adds the jobs of a dense layer.
func (s *jobSet) addFused(p product, parts int) {
	number := int32(len(s.products))
	in := int(p.Rows)
	out := int(p.Cols)
	s.products = append(s.products, p)
	several := func(n, y, z int) {
		for x := range n {
			s.jobs = append(s.jobs, gradJob{number, int32(x), int32(y), int32(z)})
		}
	}
	for z := range parts {
		if min(in, out) <= mostThin {
			several(tiles((in+1)*out, gradientElements), jobElements, z)
			continue
		}
		for y := range tiles(in, s.rows) {
			several(tiles(out, s.cols), y, z)
		}
		if p.X0 != 0 {
			several(tiles(out, gradientElements), jobBias, z)
		}
	}
}

type updateArgs struct {
	Norm      normArgs
	Adam      adamArgs
	Gate      cuda.Ptr
	Halves, _ int32
}

// The halves of an update.
const firstHalf, secondHalf = 1, 2

func (p fusedPath) step(t *trainer, l *stepList) step {
	s := p.staged(t, l)
	t.placeOptimizer(s.grad)
	return &fusedStep{stagedStep: s, norm: t.optimizer.norm.One, gate: t.zeros(2)}
}

func (fusedPath) staged(t *trainer, l *stepList) *stagedStep {
	l.grads.planFused(t.weights, t.Batch)
	return newStagedStep(t, l)
}

// A fusedStep updates all parameters in one launch, or in two where blocks cannot wait for one
// another.
type fusedStep struct {
	*stagedStep
	norm  normArgs
	gate  cuda.Ptr
	calls [3]many[updateArgs] // the halves, and both
}

func (s *fusedStep) update() error {
	if err := s.queueColumns(); err != nil {
		return err
	}
	w := s.w
	grid := cuda.Grid{X: len(w.chunks) + 1}
	if w.device.Together && !w.sideBySide && grid.X <= 2*w.device.Processors {
		return launchGated(w, w.kernels.fusedUpdate, grid, 256, s.half(firstHalf|secondHalf))
	}
	if err := launch(w, w.kernels.fusedUpdate, grid, 256, s.half(firstHalf)); err != nil {
		return err
	}
	return launch(w, w.kernels.fusedUpdate, grid, 256, s.half(secondHalf))
}

// half returns the arguments of a half of the update, or of both.
func (s *fusedStep) half(h int32) *many[updateArgs] {
	u := &s.calls[h-1]
	u.One = updateArgs{Norm: s.norm, Adam: s.w.adam.One, Gate: s.gate, Halves: h}
	return u
}
