package gpu

import (
	"utvi/internal/cuda"
	"utvi/nn"
)

// A conv is the argument of the kernels of convolutions: a product whose left operand is
// gathered from images.
type conv struct {
	P     product
	Image image
}

const sizeConv = sizeProduct + 48

// window translates how a kernel walks over an image.
func window(in, out nn.Shape, kernel [2]int, down, across int, padding nn.Padding, pad [4]int) image {
	g := image{H: int32(in.H), W: int32(in.W), C: int32(in.C), KH: int32(kernel[0]), KW: int32(kernel[1]),
		Down: int32(down), Across: int32(across), Top: int32(pad[0]), Left: int32(pad[1]), OH: int32(out.H), OW: int32(out.W)}
	if padding == nn.Same {
		g.Top, g.Left = max(0, (g.OH-1)*g.Down+g.KH-g.H)/2, max(0, (g.OW-1)*g.Across+g.KW-g.W)/2
	}
	return g
}

// onlyPlain refuses convolutions that the kernels would misread.
func onlyPlain(n *nn.Node[float32]) error {
	x, ok := n.Layer.(nn.Conv2D)
	if line, is := n.Layer.(nn.Conv1D); is {
		x, ok = line.Flat(), true
	}
	switch {
	case !ok:
		return nil
	case x.Groups > 1:
		return unsupported(n, "a convolution with %d groups runs on the CPU only", x.Groups)
	case x.Dilation[0] > 1 || x.Dilation[1] > 1:
		return unsupported(n, "a convolution with the dilation %v runs on the CPU only", x.Dilation)
	case x.Strides[0] != x.Strides[1]:
		return unsupported(n, "a convolution with the strides %v runs on the CPU only; equal strides run", x.Strides)
	}
	return nil
}

func (l *layer) convolution(n *nn.Node[float32], x nn.Conv2D) {
	most := max(n.In.H+x.Pad[0]+x.Pad[2], n.In.W+x.Pad[1]+x.Pad[3])
	stride := min(max(1, x.Stride, x.Strides[0]), most) // beyond is the same
	l.kind, l.image = opConv, window(n.In, n.Out, x.Kernel, stride, stride, x.Padding, x.Pad)
}

func (l *layer) pool(n *nn.Node[float32], kind int32, size [2]int, stride int, pad [4]int) {
	down, across := stride, stride
	if stride == 0 {
		down, across = size[0], size[1]
	}
	l.kind, l.image = kind, window(n.In, n.Out, size, down, across, "", pad)
}

// convForward and convBackward are the products of a convolution.
func convForward(l *layer, o op) *conv {
	g := l.image
	return &conv{P: product{A0: o.M, A1: o.V, B0: o.W, B1: o.S, Cols: int32(l.out) / (g.OH * g.OW), Depth: g.KH * g.KW * g.C,
		O0: o.OM, O1: o.OV, E0: o.B, E1: o.BS}, Image: g}
}

func convBackward(l *layer, o op) *conv {
	g := l.image
	return &conv{P: product{A0: o.G, A1: o.H, B0: o.W, B1: o.S, Cols: g.C, Depth: g.KH * g.KW * (int32(l.out) / (g.OH * g.OW)),
		O0: o.DM, O1: o.DV, E0: o.M}, Image: g}
}

// convRows and convCols are the sides of the tiles; few columns have narrow tiles.
const convRows, convCols, convFew = 64, 64, 16

func (c *conv) cols() int {
	if c.P.Cols <= convFew {
		return convFew
	}
	return convCols
}

// convStage is a convolution, perhaps with the function behind it.
type convStage struct {
	conv *conv
	call many[conv] // of the launch under way
	back bool
}

func (s *convStage) result() *product { return &s.conv.P }

func (s *convStage) reads() []cuda.Ptr { return s.conv.P.reads() }

func (s *convStage) place(_ *weights, _, results cuda.Ptr) { s.conv.P.Results = results }

func (s *convStage) run(w *weights, rows int) error {
	s.call.One = *s.conv
	c := &s.call.One
	few := c.cols() == convFew
	places := c.Image.OH * c.Image.OW
	kernel := pick(few, w.kernels.convForward16, w.kernels.convForward)
	if s.back {
		places = c.Image.H * c.Image.W
		kernel = pick(few, w.kernels.convBackward16, w.kernels.convBackward)
	}
	c.P.Rows = int32(rows) * places
	return launch(w, kernel, cuda.Grid{X: tiles(int(c.P.Rows), convRows), Y: tiles(int(c.P.Cols), c.cols())}, 256, &s.call)
}

// convGradients are the gradients of all convolutions, like gradients of dense layers.
type convGradients struct {
	all  []convGradient
	sets [2]convSet // of wide tiles and of narrow ones

	shared []many[sharedGradient]
}

type convGradient struct {
	layer        *layer
	o            op
	parts, split int
	sense        senseGradients
	outputs      int // whose sensitivities are carried, where correlations are
}

type convSet struct {
	convs []conv
	jobs  []gradJob
	args  many[gradientsArgs]
}

// plan settles the parts and returns the most of a layer: functions of the shapes alone.
func (g *convGradients) plan(w *weights, rows int) int {
	most := 1
	for i := range g.all {
		d := &g.all[i]
		c := convForward(d.layer, d.o)
		depth := rows * int(c.Image.OH*c.Image.OW)
		n := tiles(int(c.P.Depth), convRows) * tiles(int(c.P.Cols), c.cols())
		// The depth counts places, many more than rows: a few blocks would take long.
		d.parts = max(1, min(4*partsFor(4*w.size), enoughJobs/n, depth/leastRows))
		d.split = (tiles(depth, d.parts) + 15) / 16 * 16
		d.parts = tiles(depth, d.split)
		most = max(most, d.shareParts())
		for _, t := range d.layer.tensors {
			w.tensors[t].parts = d.shareParts()
		}
	}
	return most
}

// place writes the jobs to the card; grad are the partial gradients.
func (g *convGradients) place(w *weights, grad cuda.Ptr, rows int) {
	for i := range g.all {
		d := &g.all[i]
		l, o := d.layer, d.o
		c := convForward(l, o)
		s := &g.sets[0]
		if c.cols() == convFew {
			s = &g.sets[1]
		}
		p := w.gradientProduct(l, o, grad)
		p.Rows = c.P.Depth
		p.Cols = c.P.Cols
		p.Depth = int32(rows) * c.Image.OH * c.Image.OW
		p.Split = int32(d.split)
		for _, p := range append(g.placeShared(w, d, p, rows), p) {
			for z := range d.parts {
				for y := range tiles(int(p.Rows), convRows) {
					for x := range tiles(int(p.Cols), c.cols()) {
						s.jobs = append(s.jobs, gradJob{int32(len(s.convs)), int32(x), int32(y), int32(z)})
					}
				}
			}
			s.convs = append(s.convs, conv{p, c.Image})
		}
	}
	for i := range g.sets {
		s := &g.sets[i]
		s.args.One = gradientsArgs{place(w.memory, s.convs, sizeConv), place(w.memory, s.jobs, sizeJob), w.results}
	}
}

func (g *convGradients) run(w *weights) error {
	for i, k := range []cuda.Kernel{w.kernels.convGradients, w.kernels.convGradients16} {
		if s := &g.sets[i]; len(s.jobs) > 0 {
			if err := launch(w, k, cuda.Grid{X: len(s.jobs)}, 256, &s.args); err != nil {
				return err
			}
		}
	}
	return g.runShared(w)
}
