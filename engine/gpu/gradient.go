package gpu

import "utvi/internal/cuda"

// gradients are the gradients of all dense layers, summed over the rows of a batch.
// Tiles of weights, and parts of the rows, are jobs; the parts are added in order when
// the parameters are updated.
type gradients struct {
	dense []denseGradient
	parts int // the most of a layer
	sets  [3]jobSet
}

type denseGradient struct {
	layer *layer
	o     op
	set   int // 0: tiles of 32, 1: of 64, 2: of 64 on tensor cores
	parts int
	split int // rows of a part
}

// A jobSet is one launch: jobs with tiles of the same size.
type jobSet struct {
	products []product
	jobs     []gradJob
	args     gradientsArgs
}

// sides are those of the tiles of each set.
var sides = [3]int{32, 64, 64}

func (g *gradients) add(l *layer, o op) { g.dense = append(g.dense, denseGradient{layer: l, o: o}) }

// enoughJobs is how many jobs of a layer keep a card busy; mostParts and leastRows bound
// the parts into which rows are cut.
const enoughJobs, mostParts, leastRows = 264, 16, 64

// plan settles tiles and parts: functions of the shapes alone.
func (g *gradients) plan(w *weights, rows int) {
	g.parts = 1
	tensor := false // then for all layers: one launch
	for _, d := range g.dense {
		tensor = tensor || w.kernels.tensor && d.layer.in*d.layer.out >= 1<<12
	}
	for i := range g.dense {
		d := &g.dense[i]
		in, out := d.layer.in, d.layer.out
		switch {
		case tensor:
			d.set = 2
		case tiles(in, 64)*tiles(out, 64) >= 64:
			d.set = 1
		}
		side := sides[d.set]
		most := mostParts
		for most > 1 && most*w.size > 1<<26 {
			most /= 2
		}
		n := tiles(in, side) * tiles(out, side)
		d.parts = max(1, min(most, enoughJobs/n, rows/leastRows))
		d.split = (tiles(rows, d.parts) + 15) / 16 * 16
		d.parts = tiles(rows, d.split)
		g.parts = max(g.parts, d.parts)
		for _, t := range d.layer.tensors {
			w.tensors[t].parts = d.parts
		}
	}
}

// place writes the jobs to the card; grad are the partial gradients.
func (g *gradients) place(w *weights, grad cuda.Ptr, rows int) {
	for _, d := range g.dense {
		s, side := &g.sets[d.set], sides[d.set]
		l, o := d.layer, d.o
		t := l.tensors[0]
		p := product{A0: o.M, A1: o.V, B0: o.G, B1: o.H, Rows: int32(l.in), Cols: int32(l.out), Depth: int32(rows), Split: int32(d.split),
			O0: grad.Add(4 * w.mean[t]), E0: o.W, Part: int64(w.size)}
		if (p.A0|p.A1|p.B0|p.B1)%16 == 0 && p.Rows%4 == 0 && p.Cols%4 == 0 {
			p.Aligned = 1
		}
		if w.tensors[t].random {
			p.O1 = grad.Add(4 * w.rho[t])
		}
		if len(l.tensors) > 1 {
			b := l.tensors[1]
			p.X0 = grad.Add(4 * w.mean[b])
			if w.tensors[b].random {
				p.X1 = grad.Add(4 * w.rho[b])
			}
		}
		for z := range d.parts {
			for y := range tiles(l.in, side) {
				for x := range tiles(l.out, side) {
					s.jobs = append(s.jobs, gradJob{int32(len(s.products)), int32(x), int32(y), int32(z)})
				}
			}
		}
		s.products = append(s.products, p)
	}
	for i := range g.sets {
		s := &g.sets[i]
		s.args = gradientsArgs{place(w.memory, s.products, sizeProduct), place(w.memory, s.jobs, sizeJob), w.results}
	}
}

func (g *gradients) run(w *weights) error {
	for i, k := range []cuda.Kernel{w.kernels.gradients32, w.kernels.gradients64, w.kernels.gradientsT} {
		s := &g.sets[i]
		if len(s.jobs) == 0 {
			continue
		}
		threads := 256
		if i == 2 {
			threads = tensorThreads
		}
		if err := cuda.Launch(w.stream, k, cuda.Grid{X: len(s.jobs)}, threads, &s.args); err != nil {
			return err
		}
	}
	return nil
}
