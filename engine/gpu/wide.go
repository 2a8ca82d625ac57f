package gpu

import (
	"utvi/internal/compute/kernel"
	"utvi/internal/cuda"
	"utvi/nn"
	"utvi/vi"
)

// leastSide and leastOther are how many inputs and outputs a layer has at least, in either
// order, whose operands are cut into planes: then its tiles are full enough.
const leastSide, leastOther = 256, 64

// mostFew and leastMany bound the outputs and inputs of narrow layers.
const mostFew, leastMany = 16, 256

// takes reports how the layer's products run on Hopper: on planes, or as those of a narrow
// layer.
func (h *hopper) takes(l *layer, p *vi.Params[float32]) (cut, narrow bool) {
	if h == nil || l.kind != opDense || l.sense || l.to == nn.Fixed || !p.Tensors[l.tensors[0]].Random {
		return false, false
	}
	cut = l.wide() && max(l.in, l.out) >= leastSide && min(l.in, l.out) >= leastOther
	return cut, l.out <= mostFew && l.in >= leastMany
}

// wideCols returns the most columns of a product that is cut, filled up to whole tiles.
func (p *plan) wideCols() (most int) {
	for _, l := range p.layers {
		if l.cut {
			most = max(most, tiles(max(l.in, l.out), wideSide)*wideSide)
		}
	}
	return most
}

// cutTensors returns the numbers of the tensors that are cut into planes.
func (p *plan) cutTensors() map[int]bool {
	all := map[int]bool{}
	for _, l := range p.layers {
		if l.cut {
			all[l.tensors[0]] = true
		}
	}
	return all
}

// placeCuts writes to the card which tensors are cut into which planes.
func (w *weights) placeCuts() {
	var all []cutTensor
	blocks := 0
	for i, t := range w.tensors {
		if t.planes[0].At != 0 {
			all = append(all, cutTensor{Mean: w.at(i), Rho: w.theta.Add(4 * w.rho[i]), Rows: int32(t.rows), Cols: int32(t.cols), First: int32(blocks), Chunk: w.firstChunk(i), To: t.planes})
			blocks += tiles(t.rows, blockSide) * tiles(t.cols, blockSide)
		}
	}
	if blocks == 0 {
		return
	}
	w.cutting.One = cutWeightsArgs{All: place(w.memory, all, sizeCutTensor), Count: int32(len(all)), Blocks: int32(blocks)}
}

// cutWeights cuts the weights of wide layers.
func (w *weights) cutWeights() error {
	n := int(w.cutting.One.Blocks)
	if n == 0 {
		return nil
	}
	return launch(w, w.kernels.hopper.cutWeights, cuda.Grid{X: min(n, 4*w.device.Processors)}, cutThreads, &w.cutting)
}

// A wideStage cuts a signal, or is a product whose operands are cut: up to three matrix
// products side by side, whose sums another kernel brings together. Or it is the product
// of a narrow layer.
type wideStage struct {
	cutting  *many[cutArgs] // nil: the stage is a product
	back     bool
	products []wideProduct // nil: of a narrow layer
	cols     int
	args     many[wideArgs]
	finish   many[finishArgs]
	score    many[narrowScore] // of the launch under way
}

// cuts reports whether the stage writes a signal, and so can cut it.
func (s *wideStage) cuts(m cuda.Ptr) bool {
	if s == nil || s.cutting != nil || s.products == nil && !s.back {
		return false
	}
	p := &s.finish.One.P
	if p.Fused != 0 && !s.back {
		return p.P0 == m
	}
	return p.O0 == m
}

// cutSignal makes sure that a signal is cut: by the stage that writes it, or by one of its
// own. What is cut of moments is m, m²+v and v; of gradients, g and h.
func (b *launches) cutSignal(w *weights, m, v cuda.Ptr, width, rows int, gradients bool) [3]planes {
	if p, ok := b.cuts[m]; ok {
		return p
	}
	var c cuts
	var p [3]planes
	add := func(i int, what int32) {
		p[i] = w.newPlanes(rows, width)
		c.add(p[i], what)
	}
	add(0, cutFirst)
	switch {
	case gradients:
		add(1, cutSecond)
	case v != 0:
		add(1, cutSum)
		add(2, cutSecond)
	default:
		add(1, cutSquare)
	}
	if b.cuts == nil {
		b.cuts = map[cuda.Ptr][3]planes{}
	}
	b.cuts[m] = p
	if n := len(b.all); n > 0 && b.all[n-1].wide.cuts(m) {
		b.all[n-1].wide.finish.One.Cuts = c
		return p
	}
	cut := cutArgs{A: m, B: v, Cols: int32(width), Cuts: c}
	if o := b.gathers(m); o != nil { // one launch gathers and cuts
		cut.A = o.TM
		cut.B = o.TV
		cut.From = gathered{Index: o.Index, M: o.OM, V: o.OV, Targets: o.TY, Y: o.YO, Room: o.Room, Width: o.Targets}
		b.ops, b.all = b.ops[:len(b.ops)-1], b.all[:len(b.all)-1]
	}
	b.all = append(b.all, stage{wide: &wideStage{cutting: &many[cutArgs]{One: cut}}})
	return p
}

// gathers returns the operation that gathers a signal, if it is the last launch.
func (b *launches) gathers(m cuda.Ptr) *op {
	if n := len(b.all); n == 0 || b.all[n-1].rows == nil || b.all[n-1].rows.Count != 1 {
		return nil
	}
	if o := &b.ops[len(b.ops)-1]; o.Kind == opInput && o.OM == m {
		return o
	}
	return nil
}

// cutGradients makes sure that the gradients by the outputs of a layer are cut.
func (b *launches) cutGradients(w *weights, l *layer, o op, rows int) {
	b.cutSignal(w, o.G, o.H, l.out, rows, true)
}

// multiplyCut adds a product whose operands are cut.
func (b *launches) multiplyCut(w *weights, l *layer, p product, back bool, rows int) {
	x, t := b.cutSignal(w, p.A0, p.A1, int(p.Depth), rows, back), w.tensors[l.tensors[0]].planes
	if b.sums == 0 {
		b.sums = w.floats(3 * rows * w.plan.wideCols())
	}
	cols := tiles(int(p.Cols), wideSide) * wideSide
	s := &wideStage{back: back, cols: int(p.Cols)}
	s.finish.One = finishArgs{P: p, Sums: b.sums, Far: int64(rows * cols), Pitch: int32(cols)}
	add := func(a, b planes) {
		f := &s.finish.One
		q := wideProduct{Out: f.Sums.Add(4 * int(f.Far) * len(s.products)), Pitch: int64(cols), Cols: p.Cols, Depth: int32(tiles(int(p.Depth), blockSide)), A: a, B: b}
		s.products = append(s.products, q)
		f.Products++
	}
	add(x[0], t[0])
	add(x[1], t[1])
	if back && p.O1 != 0 {
		add(x[1], t[2])
	}
	if !back && p.A1 != 0 {
		add(x[2], t[2])
	}
	b.all = append(b.all, stage{wide: s})
}

func (s *wideStage) place(w *weights, results cuda.Ptr) {
	var apart int32
	if results == 0 { // in predictions, a row does not depend on its neighbours
		apart = 1
	}
	if s.cutting != nil {
		s.cutting.One.Results, s.cutting.One.Cuts.Apart = results, apart
		return
	}
	s.finish.One.P.Results, s.finish.One.Cuts.Apart = results, apart
	if s.products == nil {
		return
	}
	s.args.One = wideArgs{Products: place(w.memory, s.products, sizeWideProduct)}
}

func (s *wideStage) run(w *weights, rows int) error {
	h := w.kernels.hopper
	if s.cutting != nil {
		s.cutting.One.Rows = int32(rows)
		return launch(w, h.cut, w.cutGrid(rows, int(s.cutting.One.Cols), 4), cutThreads, s.cutting)
	}
	a, f := &s.args.One, &s.finish.One
	a.Rows, f.P.Rows = int32(rows), int32(rows)
	if s.products == nil {
		if s.back {
			return launch(w, h.narrowBackward[s.any()], w.cutGrid(rows, s.cols, 2), cutThreads, &s.finish)
		}
		return launch(w, h.narrowForward, cuda.Grid{X: tiles(rows, narrowRows)}, narrowThreads, &s.finish)
	}
	a.Count = int32(len(s.products) * tiles(rows, wideSide) * tiles(s.cols, wideSide))
	multiply, finish := h.forward, h.finishForward
	if s.back {
		multiply, finish = h.backward, h.finishBackward
	}
	if err := launch(w, multiply, w.wideGrid(int(a.Count)), wideThreads, &s.args); err != nil {
		return err
	}
	return launch(w, finish[s.any()], w.cutGrid(rows, s.cols, 4), cutThreads, &s.finish)
}

// any returns 0 if the function of the product is none or a common one, for which there
// are kernels that know it, else 1.
func (s *wideStage) any() int {
	p := &s.finish.One.P
	variances := p.O1
	if s.back {
		variances = p.Q1
	}
	f := &p.F
	three := f.Rule == byPoints && f.Op == int32(kernel.OpLeakyReLU) && f.Points == 3 && f.Three[0] == 0
	if p.Fused == 0 || variances != 0 && (f.Rule == closedForm || three) {
		return 0
	}
	return 1
}

// wideGrid is the grid of a product of a number of tiles: a block for each multiprocessor,
// which takes one tile after the other.
func (w *weights) wideGrid(tiles int) cuda.Grid { return cuda.Grid{X: min(tiles, w.device.Processors)} }
