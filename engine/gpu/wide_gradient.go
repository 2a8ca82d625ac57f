package gpu

import (
	"slices"

	"utvi/internal/cuda"
)

// wideGradients are the gradients of the layers that are cut, products of planes that the
// pass has left, and beside them those of biases and narrow layers.
type wideGradients struct {
	workers int // blocks of the launch
	args    many[wideGradientArgs]
}

// besideRows and slimRows are how many rows of a bias and of a narrow layer a warp adds up
// at least, slimOutputs for how many outputs at a time; besideWarps is how many warps of a
// block do.
const besideRows, slimRows, slimOutputs, besideWarps = 128, 64, 8, 3

// workersOf is how many workers a card has; tests change it.
var workersOf = func(d *cuda.Device) int { return d.Processors }

// plan settles the parts of the gradients, and returns the most of a layer. They are a
// function of the shapes and the card.
func (g *wideGradients) plan(w *weights, dense []denseGradient, rows int) (most int) {
	var lengths []int // of the tiles of all layers
	for i := range dense {
		d := &dense[i]
		if !d.alone() {
			continue
		}
		if d.layer.mode == onPlanes {
			n := d.planeTiles()
			lengths = append(lengths, slices.Repeat([]int{d.phases() * tiles(rows, blockSide)}, n)...)
			lengths = append(lengths, slices.Repeat([]int{tiles(rows, blockSide)}, n)...)
		}
		least := besideRows
		if d.layer.mode == narrow {
			least = slimRows
		}
		d.split = max(least, tiles(rows, partsFor(w.size)))
		d.parts = tiles(rows, d.split)
		for _, t := range d.layer.tensors {
			w.tensors[t].parts = d.parts
		}
		most = max(most, d.parts)
	}
	if len(lengths) == 0 {
		return most
	}
	return max(most, g.shareTiles(w, dense, lengths))
}

// shareTiles shares the tiles of all layers on planes among the workers, and returns the most
// parts of a layer.
func (g *wideGradients) shareTiles(w *weights, dense []denseGradient, lengths []int) (most int) {
	all := share(lengths, workersOf(w.device), partsFor(w.size))
	for _, s := range all {
		g.workers = max(g.workers, s.worker+1)
	}
	first := 0
	for i := range dense {
		d := &dense[i]
		if d.layer.mode != onPlanes {
			continue
		}
		n := 2 * d.planeTiles()
		parts := 1
		for len(all) > 0 && all[0].tile < first+n {
			s := all[0]
			s.tile -= first
			d.pieces = append(d.pieces, s)
			parts = max(parts, s.part+1)
			all = all[1:]
		}
		first += n
		w.tensors[d.layer.tensors[0]].parts = parts
		most = max(most, parts)
	}
	return most
}

// planeTiles is how many tiles the gradients of the means have; those of the variances have as
// many.
func (d *denseGradient) planeTiles() int {
	return tiles(d.layer.in, wideSide) * tiles(d.layer.out, wideSide)
}

// phases is how many products make the gradients of the means.
func (d *denseGradient) phases() int {
	if d.o.V == 0 {
		return 1
	}
	return 2
}

// place writes the parts to the card.
func (g *wideGradients) place(w *weights, pass *launches, dense []denseGradient, grad cuda.Ptr, rows int) {
	b := besideJobs{rows: rows}
	workers := make([][]gradientPart, g.workers)
	for i := range dense {
		d := &dense[i]
		if !d.alone() {
			continue
		}
		q := w.gradientProduct(d.layer, d.o, grad)
		b.add(d, q)
		for _, s := range d.pieces {
			workers[s.worker] = append(workers[s.worker], w.gradientPart(d, s, pass, q, rows))
		}
	}
	if g.workers == 0 {
		g.workers = min(tiles(len(b.jobs), besideWarps), w.device.Processors)
		workers = make([][]gradientPart, g.workers)
	}
	if g.workers == 0 {
		return
	}
	ends := []int32{0}
	for _, parts := range workers {
		ends = append(ends, ends[len(ends)-1]+int32(len(parts)))
	}
	a := &g.args.One
	if parts := slices.Concat(workers...); len(parts) > 0 {
		a.Parts = place(w.memory, parts, sizeGradientPart)
	}
	a.Workers = place(w.memory, ends, 4)
	a.Results = w.results
	a.Count = int32(len(b.jobs))
	if a.Count > 0 {
		a.Slim = place(w.memory, b.all, sizeSlim)
		a.Jobs = place(w.memory, b.jobs, sizeJob)
	}
}

// besideJobs are the gradients of biases and narrow layers, which some warps sum up beside the
// products.
type besideJobs struct {
	rows int
	all  []slim
	jobs []gradJob
}

// add adds those of a layer.
func (b *besideJobs) add(d *denseGradient, q product) {
	l, o := d.layer, d.o
	if l.mode == narrow {
		b.slim(d, q, slim{M: o.M, V: o.V, W: o.W, O0: q.O0, O1: q.O1, In: int32(l.in)}, l.in, tiles(l.out, slimOutputs))
	}
	if q.X0 != 0 {
		b.slim(d, q, slim{O0: q.X0, O1: q.X1}, l.out, 1)
	}
}

// slim adds the jobs of one gradient: a warp takes 32 columns of those across, for a group of
// outputs.
func (b *besideJobs) slim(d *denseGradient, q product, s slim, across, groups int) {
	s.G = d.o.G
	s.H = d.o.H
	s.Part = q.Part
	s.Rows = int32(b.rows)
	s.Split = int32(d.split)
	s.Out = int32(d.layer.out)
	for z := range d.parts {
		for y := range groups {
			for x := range tiles(across, 32) {
				b.jobs = append(b.jobs, gradJob{int32(len(b.all)), int32(x), int32(y), int32(z)})
			}
		}
	}
	b.all = append(b.all, s)
}

// gradientPart is the product of one piece of a layer on planes.
func (w *weights) gradientPart(d *denseGradient, s piece, pass *launches, q product, rows int) gradientPart {
	l := d.layer
	x, y := pass.cuts[d.o.M], pass.cuts[d.o.G]
	p := gradientPart{APlane: x[0].Plane, BPlane: y[0].Plane, AAcross: x[0].Across, BAcross: y[0].Across, Down: x[0].Down,
		Pitch: int32(l.out), Depth: int32(tiles(rows, blockSide)), From: int32(s.from), To: int32(s.to)}
	across := tiles(l.out, wideSide)
	tile := s.tile % d.planeTiles()
	i, j := tile/across, tile%across
	p.Rows = int32(l.in - i*wideSide)
	p.Cols = int32(l.out - j*wideSide)
	operands := func(phase int, x, y planes) {
		p.A[phase], p.AScales[phase] = x.from(i)
		p.B[phase], p.BScales[phase] = y.from(j)
	}
	to := q.O0
	switch {
	case s.tile >= d.planeTiles():
		to = q.O1
		operands(0, x[1], y[1])
	case d.phases() == 1:
		operands(0, x[0], y[0])
	default:
		operands(0, x[2], y[1])
		operands(1, x[0], y[0])
		p.Scale = q.E0.Add(4 * (i*l.out + j) * wideSide)
	}
	p.Out = to.Add(4 * (s.part*w.size + (i*l.out+j)*wideSide))
	return p
}

func (g *wideGradients) run(w *weights) error {
	if g.workers == 0 {
		return nil
	}
	return launch(w, w.kernels.hopper.gradients, cuda.Grid{X: g.workers}, wideThreads, &g.args)
}
