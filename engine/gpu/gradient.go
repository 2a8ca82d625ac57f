package gpu

import (
	"slices"

	"utvi/internal/cuda"
)

// gradients are the gradients of all dense layers, summed over the rows of a batch.
// Tiles of weights, and parts of the rows, are jobs; the parts are added in order when
// the parameters are updated.
type gradients struct {
	dense  []denseGradient
	folded []foldedGradient
	parts  int // the most of a layer
	alone  []*jobSet
	side   []*jobSet // for several networks side by side
}

type denseGradient struct {
	layer   *layer
	o       op
	set     int // of its jobs
	parts   int
	split   int     // rows of a part
	pieces  []piece // of a layer that is cut
	sense   senseGradients
	outputs int // whose sensitivities are carried, where correlations are
}

// alone reports whether kernels of Hopper compute the gradient, in launches of their own.
func (d *denseGradient) alone() bool { return d.layer.mode == onPlanes || d.layer.mode == narrow }

// A jobSet is one launch: jobs with tiles of the same size.
type jobSet struct {
	kernel              cuda.Kernel
	rows, cols, threads int
	products            []product
	jobs                []gradJob
	args                many[gradientsArgs]
	fused               bool
}

// enoughJobs is how many jobs of a layer keep a card busy; mostParts and leastRows bound
// the parts into which rows are cut.
const enoughJobs, mostParts, leastRows = 264, 16, 128

// plan settles parts, which are functions of the shapes alone, and tiles.
func (g *gradients) plan(w *weights, rows int) {
	g.parts = 1
	tensor := false // then for all layers: one launch
	for _, d := range g.dense {
		tensor = tensor || !d.alone() && w.kernels.tilings != nil && d.layer.in*d.layer.out >= 1<<12
	}
	for i := range g.dense {
		d := &g.dense[i]
		in, out := d.layer.in, d.layer.out
		if d.alone() {
			continue
		}
		side := 64
		if !tensor && tiles(in, 64)*tiles(out, 64) < 64 {
			side = 32
		}
		d.parts = max(1, min(partsFor(w.size), enoughJobs/(tiles(in, side)*tiles(out, side)), rows/leastRows))
		d.split = (tiles(rows, d.parts) + 15) / 16 * 16
		d.parts = tiles(rows, d.split)
		all := d.parts
		if d.sense.adds != 0 {
			all *= 2
		}
		g.parts = max(g.parts, all)
		for _, t := range d.layer.tensors {
			w.tensors[t].parts = all
		}
	}
	g.alone, g.side = g.cut(w, tensor, false), g.cut(w, tensor, true)
}

// cut returns sets of jobs with tiles of one size each, and says which one a layer has.
func (g *gradients) cut(w *weights, tensor, sideBySide bool) []*jobSet {
	k := w.kernels
	if tensor {
		t := w.tiling(sideBySide, func(t *tiling) (n int) {
			for _, d := range g.dense {
				if d.alone() {
					continue
				}
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

// partsFor is the most parts for a number of parameters: their memory is bounded.
func partsFor(size int) int {
	most := mostParts
	for most > 1 && most*size > 1<<26 {
		most /= 2
	}
	return most
}

// gradientProduct is the product of a layer's gradients, without its sizes.
func (w *weights) gradientProduct(l *layer, o op, grad cuda.Ptr) product {
	t := l.tensors[0]
	p := product{A0: o.M, A1: o.V, B0: o.G, B1: o.H, O0: grad.Add(4 * w.mean[t]), E0: o.W, Part: int64(w.size)}
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
	return p
}

// place writes the jobs to the card; grad are the partial gradients.
func (g *gradients) place(w *weights, grad cuda.Ptr, rows int) {
	for i := range g.dense {
		d := &g.dense[i]
		l, o := d.layer, d.o
		if d.alone() {
			continue
		}
		p := w.gradientProduct(l, o, grad)
		p.Rows = int32(l.in)
		p.Cols = int32(l.out)
		p.Depth = int32(rows)
		p.Split = int32(d.split)
		g.job(d, p)
		if d.sense.adds != 0 {
			g.placeSense(d, p, 4*d.parts*w.size, rows)
		}
	}
	g.placeFolded(w, grad)
	for _, s := range slices.Concat(g.alone, g.side) {
		s.order()
		s.args.One = gradientsArgs{place(w.memory, s.products, sizeProduct), place(w.memory, s.jobs, sizeJob), w.results}
	}
}

// placeSense writes the jobs for what correlations add to a layer's gradients, as further
// parts: with e what the weights add to the variances, a the sensitivities to the outputs
// and b the gradients by those to the inputs, ∂s += (m²+v)ᵀ∂e and ∂w += bᵀa.
func (g *gradients) placeSense(d *denseGradient, p product, parts, rows int) {
	if p.O1 != 0 {
		q := p
		q.B0, q.B1 = d.sense.adds, d.sense.adds
		q.O0 = 0
		q.O1 = p.O1.Add(parts)
		q.X0 = 0
		if q.X1 != 0 {
			q.X1 = p.X1.Add(parts)
		}
		g.job(d, q)
	}
	if d.sense.b != 0 {
		q := p
		q.A0 = d.sense.b
		q.A1 = 0
		q.B0 = d.sense.a
		q.B1 = 0
		q.Depth, q.Split = int32(d.outputs*rows), int32(d.outputs*d.split)
		q.O0 = p.O0.Add(parts)
		q.O1 = 0
		q.X0 = 0
		q.X1 = 0
		g.job(d, q)
	}
}

// job adds the tiles and parts of a product.
func (g *gradients) job(d *denseGradient, p product) {
	if (p.A0|p.A1|p.B0|p.B1)%16 == 0 && p.Rows%4 == 0 && p.Cols%4 == 0 {
		p.Aligned = 1
	}
	g.alone[d.set].add(p, d.parts)
	g.side[d.set].add(p, d.parts)
}

// add adds the tiles and parts of a product.
func (s *jobSet) add(p product, parts int) {
	if s.fused {
		s.addFused(p, parts)
		return
	}
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
	if w.sideBySide {
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
