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

// modeOf is how the layer's products run on Hopper: on planes, or as those of a narrow layer;
// false: as on other cards. many says that the layer has enough weights for a product of its own.
func (h *hopper) modeOf(l *layer, p *vi.Params[float32], many bool) (mode, bool) {
	if h == nil || l.to == nn.Fixed || !p.Tensors[l.tensors[0]].Random {
		return 0, false
	}
	if many && max(l.in, l.out) >= leastSide && min(l.in, l.out) >= leastOther {
		return onPlanes, true
	}
	return narrow, l.out <= mostFew && l.in >= leastMany
}

// wideCols returns the most columns of a product that is cut, filled up to whole tiles.
func (p *plan) wideCols() (most int) {
	for _, l := range p.layers {
		if l.mode == onPlanes {
			most = max(most, tiles(max(l.in, l.out), wideSide)*wideSide)
		}
	}
	return most
}

// cutTensors returns the numbers of the tensors that are cut into planes.
func (p *plan) cutTensors() map[int]bool {
	all := map[int]bool{}
	for _, l := range p.layers {
		if l.mode == onPlanes {
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

// cutStage cuts a signal into planes.
type cutStage struct{ args many[cutArgs] }

func (s *cutStage) result() *product { return nil }

func (s *cutStage) reads() []cuda.Ptr { return []cuda.Ptr{s.args.One.A, s.args.One.B} }

func (s *cutStage) place(_ *weights, _, results cuda.Ptr) {
	s.args.One.Results = results
	s.args.One.Cuts.Apart = apartIn(results)
}

func (s *cutStage) run(w *weights, rows int) error {
	s.args.One.Rows = int32(rows)
	return launch(w, w.kernels.hopper.cut, w.cutGrid(rows, int(s.args.One.Cols), 4), cutThreads, &s.args)
}

// apartIn says whether each row has scales of its own: in predictions, a row does not depend on
// its neighbours.
func apartIn(results cuda.Ptr) int32 {
	if results == 0 {
		return 1
	}
	return 0
}

// A finish is the end of a product on Hopper: it adds the bias, applies the function behind the
// layer, and may cut what it writes.
type finish struct {
	args many[finishArgs]
	back bool
	cols int
}

func (s *finish) result() *product { return &s.args.One.P }

func (s *finish) reads() []cuda.Ptr { return s.args.One.P.reads() }

func (s *finish) place(_ *weights, _, results cuda.Ptr) {
	s.args.One.P.Results = results
	s.args.One.Cuts.Apart = apartIn(results)
}

// writes reports whether the product writes a signal.
func (s *finish) writes(m cuda.Ptr) bool {
	p := &s.args.One.P
	if p.Fused != 0 && !s.back {
		return p.P0 == m
	}
	return p.O0 == m
}

// any returns 0 if the function of the product is none or a common one, for which there
// are kernels that know it, else 1.
func (s *finish) any() int {
	p := &s.args.One.P
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

// planesStage is a product whose operands are cut: up to three matrix products side by side,
// whose sums another kernel brings together.
type planesStage struct {
	finish
	products []planesProduct
	call     many[planesArgs]
}

func (s *planesStage) place(w *weights, ops, results cuda.Ptr) {
	s.finish.place(w, ops, results)
	s.call.One = planesArgs{Products: place(w.memory, s.products, sizePlanesProduct)}
}

func (s *planesStage) run(w *weights, rows int) error {
	h := w.kernels.hopper
	multiply, finish := h.forward, h.finishForward
	if s.back {
		multiply, finish = h.backward, h.finishBackward
	}
	s.args.One.P.Rows = int32(rows)
	a := &s.call.One
	a.Rows = int32(rows)
	a.Count = int32(len(s.products) * tiles(rows, wideSide) * tiles(s.cols, wideSide))
	if err := launch(w, multiply, w.wideGrid(int(a.Count)), wideThreads, &s.call); err != nil {
		return err
	}
	return launch(w, finish[s.any()], w.cutGrid(rows, s.cols, 4), cutThreads, &s.args)
}

// wideGrid is the grid of a product of a number of tiles: a block for each multiprocessor,
// which takes one tile after the other.
func (w *weights) wideGrid(tiles int) cuda.Grid { return cuda.Grid{X: min(tiles, w.device.Processors)} }

// add adds a matrix product.
func (s *planesStage) add(a, b planes) {
	f := &s.args.One
	s.products = append(s.products, planesProduct{Out: f.Sums.Add(4 * int(f.Far) * len(s.products)), Pitch: int64(f.Pitch),
		Cols: f.P.Cols, Depth: int32(tiles(int(f.P.Depth), blockSide)), A: a, B: b})
	f.Products++
}

// multiplyPlanes adds a product whose operands are cut.
func (b *launches) multiplyPlanes(w *weights, l *layer, p product, back bool, rows int) {
	x := b.cutSignal(w, p.A0, p.A1, int(p.Depth), rows, back)
	t := w.tensors[l.tensors[0]].planes
	if b.sums == 0 {
		b.sums = w.floats(3 * rows * w.plan.wideCols())
	}
	cols := tiles(int(p.Cols), wideSide) * wideSide
	s := &planesStage{finish: finish{back: back, cols: int(p.Cols)}}
	s.args.One = finishArgs{P: p, Sums: b.sums, Far: int64(rows * cols), Pitch: int32(cols)}
	s.add(x[0], t[0])
	s.add(x[1], t[1])
	if back && p.O1 != 0 {
		s.add(x[1], t[2])
	}
	if !back && p.A1 != 0 {
		s.add(x[2], t[2])
	}
	b.stages = append(b.stages, s)
}

// cutSignal makes sure that a signal is cut: by the stage that writes it, or by one of its
// own. What is cut of moments is m, m²+v and v; of gradients, g and h.
func (b *launches) cutSignal(w *weights, m, v cuda.Ptr, width, rows int, gradients bool) [3]planes {
	if p, ok := b.cuts[m]; ok {
		return p
	}
	what := []int32{cutFirst, cutSquare}
	switch {
	case gradients:
		what = []int32{cutFirst, cutSecond}
	case v != 0:
		what = []int32{cutFirst, cutSum, cutSecond}
	}
	var c cuts
	var p [3]planes
	for i, x := range what {
		p[i] = w.newPlanes(rows, width)
		c.add(p[i], x)
	}
	if b.cuts == nil {
		b.cuts = map[cuda.Ptr][3]planes{}
	}
	b.cuts[m] = p
	if f := b.cutter(m); f != nil {
		f.args.One.Cuts = c
		return p
	}
	cut := cutArgs{A: m, B: v, Cols: int32(width), Cuts: c}
	if o := b.gathers(m); o != nil { // one launch gathers and cuts
		mean, variance, targets := o.gatheredFrom()
		cut.A = mean
		cut.B = variance
		cut.From = gathered{Index: o.Index, M: o.OM, V: o.OV, Targets: targets, Y: o.YO, Room: o.Room, Width: o.Count}
		b.ops = b.ops[:len(b.ops)-1]
		b.stages = b.stages[:len(b.stages)-1]
	}
	b.stages = append(b.stages, &cutStage{args: many[cutArgs]{One: cut}})
	return p
}

// cutter returns the end of the last product, if it writes the signal and can cut it.
func (b *launches) cutter(m cuda.Ptr) *finish {
	var f *finish
	switch s := b.last().(type) {
	case *planesStage:
		f = &s.finish
	case *narrowStage:
		if s.back {
			f = &s.finish
		}
	}
	if f == nil || !f.writes(m) {
		return nil
	}
	return f
}

// gathers returns the operation that gathers a signal, if it is the last launch.
func (b *launches) gathers(m cuda.Ptr) *op {
	s, ok := b.last().(*rowsStage)
	if !ok || s.first.Count != 1 {
		return nil
	}
	if o := &b.ops[len(b.ops)-1]; o.Kind == opInput && o.OM == m {
		return o
	}
	return nil
}
