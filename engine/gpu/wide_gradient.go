package gpu

import (
	"slices"

	"utvi/internal/cuda"
)

// wideGradients are the gradients of the layers that are cut, products of planes that the
// pass has left, and beside them those of biases and narrow layers.
type wideGradients struct {
	lanes  int // blocks of the launch
	args   many[wideGradientArgs]
	update many[wideUpdate] // what follows
	blocks int              // of the update
}

// besideRows and slimRows are how many rows of a bias and of a narrow layer a warp adds up
// at least, slimOutputs for how many outputs at a time; besideWarps is how many warps of a
// block do.
const besideRows, slimRows, slimOutputs, besideWarps = 128, 64, 8, 3

// lanesOf is how many lanes a card has; tests change it.
var lanesOf = func(d *cuda.Device) int { return d.Processors }

// plan settles the parts of the gradients, and returns the most of a layer. They are a
// function of the shapes and the card.
func (g *wideGradients) plan(w *weights, dense []denseGradient, rows int) (most int) {
	var lengths []int
	for i := range dense {
		d := &dense[i]
		if !d.alone() {
			continue
		}
		if d.layer.cut {
			n := tiles(d.layer.in, wideSide) * tiles(d.layer.out, wideSide)
			lengths = append(lengths, slices.Repeat([]int{d.phases() * tiles(rows, blockSide)}, n)...)
			lengths = append(lengths, slices.Repeat([]int{tiles(rows, blockSide)}, n)...)
		}
		least := besideRows
		if d.layer.narrow {
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
	all := share(lengths, lanesOf(w.device), partsFor(w.size))
	for _, s := range all {
		g.lanes = max(g.lanes, s.lane+1)
	}
	first := 0
	for i := range dense {
		d := &dense[i]
		if !d.layer.cut {
			continue
		}
		n := 2 * tiles(d.layer.in, wideSide) * tiles(d.layer.out, wideSide)
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

// phases is how many products make the gradients of the means.
func (d *denseGradient) phases() int {
	if d.o.V == 0 {
		return 1
	}
	return 2
}

// place writes the parts to the card.
func (g *wideGradients) place(w *weights, pass *launches, dense []denseGradient, grad cuda.Ptr, rows int) {
	lanes := make([][]gradientPart, g.lanes)
	var all []slim
	var jobs []gradJob
	for _, d := range dense {
		if !d.alone() {
			continue
		}
		l, o := d.layer, d.o
		q := w.gradientProduct(l, o, grad)
		add := func(s slim, across, groups int) {
			s.G = o.G
			s.H = o.H
			s.Part = q.Part
			s.Rows = int32(rows)
			s.Split = int32(d.split)
			s.Out = int32(l.out)
			for z := range d.parts {
				for y := range groups {
					for x := range tiles(across, 32) {
						jobs = append(jobs, gradJob{int32(len(all)), int32(x), int32(y), int32(z)})
					}
				}
			}
			all = append(all, s)
		}
		if l.narrow {
			add(slim{M: o.M, V: o.V, W: o.W, O0: q.O0, O1: q.O1, In: int32(l.in)}, l.in, tiles(l.out, slimOutputs))
		}
		if q.X0 != 0 {
			add(slim{O0: q.X0, O1: q.X1}, l.out, 1)
		}
		if !l.cut {
			continue
		}
		x, y := pass.cuts[o.M], pass.cuts[o.G]
		p := gradientPart{APlane: x[0].Plane, BPlane: y[0].Plane, AAcross: x[0].Across, BAcross: y[0].Across, Down: x[0].Down, Pitch: int32(l.out), Depth: int32(tiles(rows, blockSide))}
		across := tiles(l.out, wideSide)
		n := across * tiles(l.in, wideSide)
		for _, s := range d.pieces {
			p, tile := p, s.tile%n
			i, j := tile/across, tile%across
			operands := func(f int, x, y planes) {
				p.A[f], p.AScales[f] = x.from(i)
				p.B[f], p.BScales[f] = y.from(j)
			}
			to := q.O0
			switch {
			case s.tile >= n:
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
			p.Rows = int32(l.in - i*wideSide)
			p.Cols = int32(l.out - j*wideSide)
			p.From = int32(s.from)
			p.To = int32(s.to)
			lanes[s.lane] = append(lanes[s.lane], p)
		}
	}
	if g.lanes == 0 {
		g.lanes = min(tiles(len(jobs), besideWarps), w.device.Processors)
		lanes = make([][]gradientPart, g.lanes)
	}
	if g.lanes == 0 {
		return
	}
	a := &g.args.One
	ends := []int32{0}
	for _, l := range lanes {
		ends = append(ends, ends[len(ends)-1]+int32(len(l)))
	}
	if parts := slices.Concat(lanes...); len(parts) > 0 {
		a.Parts = place(w.memory, parts, sizeGradientPart)
	}
	a.Lanes, a.Results = place(w.memory, ends, 4), w.results
	a.Count = int32(len(jobs))
	if a.Count > 0 {
		a.Slim, a.Jobs = place(w.memory, all, sizeSlim), place(w.memory, jobs, sizeJob)
	}
}

func (g *wideGradients) run(w *weights) error {
	if g.lanes == 0 {
		return nil
	}
	return launch(w, w.kernels.hopper.gradients, cuda.Grid{X: g.lanes}, wideThreads, &g.args)
}

// turn completes the arguments of what follows the gradients, if a layer is cut.
func (g *wideGradients) turn(t *trainer) {
	if t.plan.wideCols() == 0 {
		return
	}
	turn := t.alloc(1, sizeTurn)
	g.args.One.Turn = turn
	jobs := t.updateJobs()
	g.blocks = len(jobs)
	g.update.One = wideUpdate{Norm: t.norm.One, Adam: t.weights.adam.One, Turn: turn, Stretches: place(t.memory, jobs, sizeJob), Cuts: t.cutting.One.All}
}

// updateJobs shares the parameters among the blocks of the update: as many as run at a time.
func (w *weights) updateJobs() (all []updateJob) {
	each := tiles(int(w.cutting.One.Blocks), 3*w.device.Processors)
	tensor := int32(-1)
	for i, c := range w.chunks {
		t := w.tensors[c.Tensor]
		if t.planes[0].At == 0 {
			all = append(all, updateJob{Tensor: -1, Chunk: int32(i)})
			continue
		}
		if c.Lo > 0 { // its first chunk stands for the tensor
			continue
		}
		tensor++
		n := tiles(t.rows, blockSide) * tiles(t.cols, blockSide)
		for from := 0; from < n; from += each {
			all = append(all, updateJob{tensor, int32(from), int32(min(n, from+each)), int32(i)})
		}
	}
	return all
}

// queueWide queues the sums of the gradients, with one block more for the scores, and AdamW.
func (t *trainer) queueWide() error {
	w, h := t.weights, t.kernels.hopper
	if err := launch(w, h.wideNorm, cuda.Grid{X: len(w.chunks) + 1}, 256, &t.wide.update); err != nil {
		return err
	}
	return launch(w, h.adamw, cuda.Grid{X: t.wide.blocks}, 256, &t.wide.update)
}
