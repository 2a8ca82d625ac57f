package gpu

import "utvi/internal/cuda"

// wideGradients are the gradients of the layers that are cut, products of planes that the
// pass has left, and those of narrow layers.
type wideGradients struct {
	count  int
	args   many[wideArgs]
	biases many[biasArgs]
	sums   int // tiles of biases
	narrow []many[product]
}

// fewJobs is how many tiles of a layer's gradients keep a card busy; with fewer, rows are
// cut into parts.
const fewJobs = 32

// cut settles the parts of a layer's gradients: a function of the shapes alone.
func (d *denseGradient) cut(w *weights, rows int) {
	if d.layer.narrow {
		d.parts = max(1, min(partsFor(w.size), rows/narrowStep))
		d.split = tiles(rows, d.parts)
		d.parts = tiles(rows, d.split)
		for _, t := range d.layer.tensors {
			w.tensors[t].parts = d.parts
		}
		return
	}
	n := tiles(d.layer.in, wideSide) * tiles(d.layer.out, wideSide)
	d.parts = max(1, min(partsFor(w.size), tiles(fewJobs, n), rows/leastRows))
	blocks := tiles(rows, blockSide)
	d.split = tiles(blocks, d.parts)
	d.parts = tiles(blocks, d.split)
	w.tensors[d.layer.tensors[0]].parts = d.parts
}

// place writes the jobs to the card: long ones first.
func (g *wideGradients) place(w *weights, pass *launches, dense []denseGradient, grad cuda.Ptr, rows int) {
	var products []wideProduct
	var jobs [2][]gradJob // of one product, of two
	var biases []biasSum
	var sums []gradJob
	for _, d := range dense {
		l, o := d.layer, d.o
		if l.narrow {
			p := w.gradientProduct(l, o, grad)
			p.Rows, p.Cols, p.Depth, p.Split, p.Results = int32(l.in), int32(l.out), int32(rows), int32(d.split), w.results
			g.narrow = append(g.narrow, many[product]{One: p})
		}
		if !l.cut {
			continue
		}
		x, y := pass.cuts[o.M], pass.cuts[o.G]
		q := w.gradientProduct(l, o, grad)
		p := wideProduct{Scale: q.E0, Pitch: int64(l.out), Part: q.Part, Rows: int32(l.in), Cols: int32(l.out), Depth: int32(tiles(rows, blockSide)), Split: int32(d.split), Phases: 1}
		add := func(p wideProduct) {
			for z := range d.parts {
				for i := range tiles(l.in, wideSide) {
					for j := range tiles(l.out, wideSide) {
						jobs[p.Phases-1] = append(jobs[p.Phases-1], gradJob{int32(len(products)), int32(j), int32(i), int32(z)})
					}
				}
			}
			products = append(products, p)
		}
		mean, variance := p, p
		mean.Out, variance.Out = q.O0, q.O1
		if o.V == 0 {
			mean.A[0], mean.B[0] = x[0], y[0]
		} else {
			mean.Phases = 2
			mean.A, mean.B = [2]planes{x[2], x[0]}, [2]planes{y[1], y[0]}
		}
		variance.A[0], variance.B[0] = x[1], y[1]
		add(mean)
		add(variance)
		if q.X0 != 0 {
			for j := range tiles(l.out, 32) {
				sums = append(sums, gradJob{Product: int32(len(biases)), X: int32(j)})
			}
			biases = append(biases, biasSum{G: o.G, H: o.H, X0: q.X0, X1: q.X1, Rows: int32(rows), Cols: int32(l.out)})
		}
	}
	all := append(jobs[1], jobs[0]...)
	if g.count = len(all); g.count == 0 {
		return
	}
	g.args.One = wideArgs{Products: place(w.memory, products, sizeWideProduct), Jobs: place(w.memory, all, sizeJob), Count: int32(len(all)), Results: w.results}
	if g.sums = len(sums); g.sums > 0 {
		g.biases.One = biasArgs{place(w.memory, biases, sizeBiasSum), place(w.memory, sums, sizeJob), w.results}
	}
}

func (g *wideGradients) run(w *weights) error {
	for i := range g.narrow {
		p := &g.narrow[i]
		grid := cuda.Grid{X: tiles(int(p.One.Rows), narrowSide) * tiles(int(p.One.Depth), int(p.One.Split))}
		if err := launch(w, w.kernels.hopper.narrowGradients, grid, cutThreads, p); err != nil {
			return err
		}
	}
	if g.count == 0 {
		return nil
	}
	if err := launch(w, w.kernels.hopper.gradients, w.wideGrid(g.count), wideThreads, &g.args); err != nil || g.sums == 0 {
		return err
	}
	return launch(w, w.kernels.hopper.biases, cuda.Grid{X: g.sums}, 1024, &g.biases)
}
