package gpu

import "utvi/internal/cuda"

// A convNetPass is one launch: forward, or forward, score and backward.
type convNetPass struct {
	w         *weights
	four, two cuda.Kernel // for clusters of so many blocks
	args      many[convNetArgs]
}

// pass implements path.
func (convNetPath) pass(w *weights, b *launches) pass { return newConvNetPass(w, b.ops) }

// newConvNetPass takes the arguments of a conv net's launch from its operations.
func newConvNetPass(w *weights, ops []op) *convNetPass {
	c := &convNetPass{w: w}
	c.four, c.two = w.convNetKernels()
	a := &c.args.One
	a.Control = w.control
	for i := range ops {
		o := &ops[i]
		if o.Kind == opScore {
			a.NLL = o.NLL
			a.Floored = o.Floored
			a.P = o.P
			a.takeBackward(ops[i+1:])
			break
		}
		a.takeForward(w, o)
		a.OM = o.OM
		a.OV = o.OV
	}
	return c
}

// convNetKernels are the kernels for the functions of a conv net.
func (w *weights) convNetKernels() (four, two cuda.Kernel) {
	k := w.kernels.convNets
	first, second := &w.plan.layers[1], &w.plan.layers[3]
	switch {
	case !first.leaky() || !second.leaky() || first.f.Rule != second.f.Rule:
		return k.four.any, k.two.any
	case first.f.Rule == closedForm:
		return k.four.exact, k.two.exact
	}
	return k.four.three, k.two.three
}

// takeForward takes what the launch needs of an operation before the score.
func (a *convNetArgs) takeForward(w *weights, o *op) {
	switch o.Kind {
	case opInput:
		a.Index = o.Index
		a.X, _, a.Y = o.gatheredFrom()
		a.Room = o.Room
		a.Targets = o.Count
	case opConv:
		a.takeConv(w, o)
	case opDense:
		a.takeDense(o)
	case opApply:
		switch {
		case a.W == 0:
			a.Inner = o.F
		case a.TW == 0:
			a.Outer = o.F
		default:
			a.unit(o)
		}
	case opScale, opNoise, opMultiply:
		a.unit(o)
	case opConditional:
		u := a.unit(o)
		l := &w.plan.layers[5+a.Count-1]
		u.At = [3]int32(l.table)
		u.N = [3]float64(l.points)
	}
}

// takeConv takes the convolution.
func (a *convNetArgs) takeConv(w *weights, o *op) {
	if a.X == 0 { // no batch is gathered
		a.X = o.M
	}
	a.Image = o.Image
	a.Pixels = o.In
	high, wide := a.Image.bordered()
	a.Cells = a.Image.KH * a.Image.KW * a.Image.C
	a.Features = int32(w.plan.layers[0].features())
	a.High = int32(high)
	a.Wide = int32(wide)
	a.CW = o.W
	a.CS = o.S
	a.CB = o.B
	a.CBS = o.BS
}

// takeDense takes the broad layer, then the last one.
func (a *convNetArgs) takeDense(o *op) {
	if a.W == 0 {
		a.W = o.W
		a.S = o.S
		a.B = o.B
		a.BS = o.BS
		a.In = o.In
		a.Out = o.Out
		return
	}
	a.TW = o.W
	a.TS = o.S
	a.TB = o.B
	a.TBS = o.BS
	a.Last = o.Out
}

// unit adds a layer behind the last dense layer.
func (a *convNetArgs) unit(o *op) *unitArgs {
	u := &a.Units[a.Count]
	a.Count++
	*u = unitArgs{Kind: o.Kind, F: o.F, Raw: o.Raw, B: o.B}
	return u
}

// takeBackward takes what the launch needs of the operations behind the score.
func (a *convNetArgs) takeBackward(ops []op) {
	for i := range ops {
		o := &ops[i]
		switch o.Kind {
		case opScaleBack, opNoiseBack:
			for j := range a.Units[:a.Count] {
				if u := &a.Units[j]; u.Kind == o.Kind-1 && u.Raw == o.Raw {
					u.Tape = o.Tape
				}
			}
		case opDenseBack:
			if o.W == a.W {
				a.M = o.M
				a.V = o.V
				a.G = o.G
				a.H = o.H
			} else {
				a.LM = o.M
				a.LV = o.V
				a.LG = o.G
				a.LH = o.H
			}
		case opConvGradient:
			a.Parts = o.Tape
			a.Width = o.Room
		}
	}
}

func (c *convNetPass) forward(rows int) error { return c.run(rows, 0) }

func (c *convNetPass) whole(rows int) error { return c.run(rows, 1) }

// run queues the launch; back is 1 if it goes back from the score. Clusters of four leave some
// multiprocessors idle: on an H200, sixty run at once, two on a multiprocessor. So a network
// alone has clusters of two, if the card takes all of its rows at once.
func (c *convNetPass) run(rows int, back int32) error {
	w := c.w
	a := &c.args.One
	a.Rows = int32(rows)
	a.Back = back
	kernel := c.four
	blocks := convNetBlocks
	most := max(1, 2*w.device.Processors*10/11/convNetBlocks)
	pairs := w.device.Processors / pairBlocks
	if withPairs && !w.sideBySide && tiles(rows, pairBlocks*convNetEach) <= pairs && w.clustered(pairBlocks) {
		kernel = c.two
		blocks = pairBlocks
		most = pairs
	}
	layout, bytes := w.sharedLayout(blocks)
	a.Shared = layout
	spread := spreading{unit: blocks, groups: tiles(rows, blocks*convNetEach), most: most}
	if err := launchBehind(w, kernel.Sharing(bytes).Together(blocks), cuda.Grid{X: spread.blocks(1)}, convNetThreads, &c.args); err != nil {
		return err
	}
	w.spreadLast(spread)
	return nil
}
