package gpu

import (
	"slices"

	"utvi/internal/cuda"
)

// gradients are the gradients of all dense layers, summed over the rows of a batch.
// Tiles of weights, and parts of the rows, are jobs; the parts are added in order when
// the parameters are updated.
type gradients struct {
	dense []denseGradient
	parts int // the most of a layer
	alone []*jobSet
	side  []*jobSet // for several networks side by side
}

type denseGradient struct {
	layer *layer
	o     op
	set   int // of its jobs
	parts int
	split int // rows of a part
}

// A jobSet is one launch: jobs with tiles of the same size.
type jobSet struct {
	kernel              cuda.Kernel
	rows, cols, threads int
	products            []product
	jobs                []gradJob
	args                many[gradientsArgs]
}

func (g *gradients) add(l *layer, o op) { g.dense = append(g.dense, denseGradient{layer: l, o: o}) }

// enoughJobs is how many jobs of a layer keep a card busy; mostParts and leastRows bound
// the parts into which rows are cut.
const enoughJobs, mostParts, leastRows = 264, 16, 128

// plan settles parts, which are functions of the shapes alone, and tiles.
func (g *gradients) plan(w *weights, rows int) {
	g.parts = 1
	tensor := false // then for all layers: one launch
	for _, d := range g.dense {
		tensor = tensor || w.kernels.tilings != nil && d.layer.in*d.layer.out >= 1<<12
	}
	for i := range g.dense {
		d := &g.dense[i]
		in, out := d.layer.in, d.layer.out
		side := 64
		if !tensor && tiles(in, 64)*tiles(out, 64) < 64 {
			side = 32
		}
		most := mostParts
		for most > 1 && most*w.size > 1<<26 {
			most /= 2
		}
		d.parts = max(1, min(most, enoughJobs/(tiles(in, side)*tiles(out, side)), rows/leastRows))
		d.split = (tiles(rows, d.parts) + 15) / 16 * 16
		d.parts = tiles(rows, d.split)
		g.parts = max(g.parts, d.parts)
		for _, t := range d.layer.tensors {
			w.tensors[t].parts = d.parts
		}
	}
	g.alone, g.side = g.cut(w, tensor, false), g.cut(w, tensor, true)
}

// cut returns sets of jobs with tiles of one size each, and says which one a layer has.
func (g *gradients) cut(w *weights, tensor, crowded bool) []*jobSet {
	k := w.kernels
	if tensor {
		t := w.tiling(crowded, func(t *tiling) (n int) {
			for _, d := range g.dense {
				n += d.parts * tiles(d.layer.in, t.rows) * tiles(d.layer.out, t.cols)
			}
			return n
		})
		return []*jobSet{{kernel: t.gradients, rows: t.rows, cols: t.cols, threads: t.threads}}
	}
	for i := range g.dense {
		if d := &g.dense[i]; tiles(d.layer.in, 64)*tiles(d.layer.out, 64) < 64 {
			d.set = 1
		}
	}
	return []*jobSet{{kernel: k.gradients64, rows: 64, cols: 64, threads: 256}, {kernel: k.gradients32, rows: 32, cols: 32, threads: 256}}
}

// place writes the jobs to the card; grad are the partial gradients.
func (g *gradients) place(w *weights, grad cuda.Ptr, rows int) {
	for _, d := range g.dense {
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
		g.alone[d.set].add(p, d.parts)
		g.side[d.set].add(p, d.parts)
	}
	for _, s := range slices.Concat(g.alone, g.side) {
		s.args.One = gradientsArgs{place(w.memory, s.products, sizeProduct), place(w.memory, s.jobs, sizeJob), w.results}
	}
}

// add adds the jobs of a layer.
func (s *jobSet) add(p product, parts int) {
	for z := range parts {
		for y := range tiles(int(p.Rows), s.rows) {
			for x := range tiles(int(p.Cols), s.cols) {
				s.jobs = append(s.jobs, gradJob{int32(len(s.products)), int32(x), int32(y), int32(z)})
			}
		}
	}
	s.products = append(s.products, p)
}

func (g *gradients) run(w *weights) error {
	sets := g.alone
	if w.crowded {
		sets = g.side
	}
	for _, s := range sets {
		if len(s.jobs) == 0 {
			continue
		}
		if err := launch(w, s.kernel, cuda.Grid{X: len(s.jobs)}, s.threads, &s.args); err != nil {
			return err
		}
	}
	return nil
}
