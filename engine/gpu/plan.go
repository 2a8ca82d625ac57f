package gpu

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"utvi/engine"
	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
	"utvi/internal/cuda"
	"utvi/internal/expr"
	"utvi/moment"
	"utvi/nn"
	"utvi/vi"
)

// A layer is one step of a network as the kernels run it.
type layer struct {
	kind       int32 // of its forward operation; the reverse follows it
	name       string
	in, out    int
	from, to   nn.Form
	tensors    []int // numbers of its tensors
	f          function
	formula    *expr.Formula
	kernel     cuda.Kernel // of the formula
	nodes      []float32   // points, then weights
	by         []float32   // factors of Multiply; edges of Piecewise
	plus       []float32   // what Multiply adds; nil: nothing
	table      []int32     // numbers of units
	p, q       float64     // of Dropout, LayerNorm and AvgPool2D
	points     []float64   // of a joint rule
	count      int         // of them
	groups     int         // that they form
	scratch    int         // float64 of a row
	image      image       // of convolutions and pools
	cov        bool        // the outputs have covariances that a layer behind needs
	needs      bool        // the inputs' covariances
	levels     []levels    // tables of an Embed
	input      int         // its signal: 0 is the input of the network, 1 the output of layer 0
	skip       int         // the signal that is added to it
	off        bool        // Noise that adds nothing
	sense      bool        // correlations are carried
	first      bool        // the first of layers that carry correlations together
	last       bool        // the last of them
	mode       mode        // how it runs: see path.go
	transposed bool        // a kernel reads its weights transposed
}

// fusable reports whether the layer can be part of a wide product before it, or behind it
// on the way back.
func (l *layer) fusable() bool {
	if l.f.Rule == closedForm && (l.f.Op != int32(kernel.OpLeakyReLU) || l.f.Points != 0) {
		return false
	}
	return l.kind == opApply && !l.sense && !l.cov && l.formula == nil && l.f.Rule != learned && l.f.Rule != bySamples
}

// A plan is a network as the kernels run it.
type plan struct {
	layers []layer
	params *vi.Params[float32] // in the memory of the host
	graph  *nn.Node[float32]
	form   nn.Form // of the inputs
	inputs int
}

// makePlan binds a network and translates its layers, or names the first one that the
// kernels do not run.
func makePlan(n engine.Network[float32], form nn.Form) (*plan, error) {
	b := &nn.Binder[float32]{Form: form}
	if _, err := engine.Bind(n, b); err != nil {
		return nil, err
	}
	p := &plan{params: b.Params, graph: b.Graph(), form: form, inputs: n.Input.Size()}
	number := map[*vi.Tensor[float32]]int{}
	for i, t := range b.Params.Tensors {
		number[t] = i
	}
	t := &translator{plan: p, number: number}
	for _, node := range p.graph.Steps() {
		if err := t.step(node); err != nil {
			return nil, named(err, node)
		}
	}
	if err := p.wantCovariances(); err != nil {
		return nil, err
	}
	if len(p.layers) == 0 {
		return nil, &Unsupported{Layer: cmp.Or(p.graph.Name, "0"), What: "the network computes nothing"}
	}
	return p, nil
}

// named gives a refused layer its kind for a name where it is the whole network and has none.
func named(err error, node *nn.Node[float32]) error {
	var u *Unsupported
	if errors.As(err, &u) && u.Layer == "" && node.Name == "" {
		u.Layer = node.Layer.Kind()
	}
	return err
}

// A translator turns the nodes of a network into layers.
type translator struct {
	*plan
	number map[*vi.Tensor[float32]]int
	index  uint32 // of the layers that may draw
	sense  bool
	at     int // the signal that the next layer reads
}

// step translates one step of a network.
func (t *translator) step(node *nn.Node[float32]) error {
	switch x := node.Layer.(type) {
	case nn.Correlated:
		return t.correlated(node)
	case nn.Residual:
		if _, ok := x.Elementwise(); !ok {
			return t.residual(node)
		}
	}
	l := layer{name: node.Name, in: node.In.Size(), out: node.Out.Size(), from: node.From, to: node.To, sense: t.sense && node.To != nn.Fixed}
	for _, x := range node.Tensors {
		l.tensors = append(l.tensors, t.number[x])
	}
	if err := l.translate(node, &t.index); err != nil {
		return err
	}
	if l.kind >= 0 {
		l.input = t.at
		t.layers = append(t.layers, l)
		t.at = len(t.layers)
	}
	return nil
}

// correlated translates layers that carry correlations. Behind them, the kernels take
// variances alone: layers that act on each unit need no more.
func (t *translator) correlated(node *nn.Node[float32]) error {
	if node.To == nn.Fixed {
		return t.children(node)
	}
	before := len(t.layers)
	t.sense = true
	defer func() { t.sense = false }()
	if err := t.children(node); err != nil {
		return err
	}
	for before < len(t.layers) && !t.layers[before].sense {
		before++
	}
	if before < len(t.layers) { // else nothing is random but the inputs, and nothing changes
		t.layers[before].first, t.layers[len(t.layers)-1].last = true, true
	}
	return nil
}

// children translates the layers of a composite, one after the other.
func (t *translator) children(node *nn.Node[float32]) error {
	for _, c := range node.Children {
		for _, step := range c.Steps() {
			if err := t.step(step); err != nil {
				return err
			}
		}
	}
	return nil
}

func unsupported(n *nn.Node[float32], format string, args ...any) error {
	return &Unsupported{n.Name, fmt.Sprintf(format, args...)}
}

// none is the kind of a layer that leaves its input as it is.
const none = -1

// translate fills a layer in. Layers that may draw have numbers of their own, which index counts.
func (l *layer) translate(n *nn.Node[float32], index *uint32) error {
	switch x := n.Layer.(type) {
	case nn.Apply:
		*index++
		l.kind = opApply
		l.f.Index = *index
		return l.apply(n, x)
	case nn.Residual: // one function; see translator.residual for others
		*index++
		l.kind = opApply
		l.f.Index = *index
		return l.applyWithX(n, x)
	case nn.Joint:
		*index++
		l.needs = n.From == nn.Covariant
		l.f.Index = *index
		return l.joint(n, x)
	case nn.Conditional:
		*index++
		l.needs = n.From == nn.Covariant
		return l.conditional(n, x)
	}
	if err := onlyPlain(n); err != nil {
		return err
	}
	if l.translateImage(n) || l.translateUnits(n.Layer) {
		return nil
	}
	return unsupported(n, "it is a layer of kind %s, which only the CPU runs", n.Layer.Kind())
}

// translateImage translates a layer of images; false: it is another.
func (l *layer) translateImage(n *nn.Node[float32]) bool {
	switch x := n.Layer.(type) {
	case nn.Conv2D:
		l.convolution(n, x)
	case nn.Conv1D:
		l.convolution(n, x.Flat())
	case nn.AvgPool2D:
		l.pool(n, opAvgPool, x.Size, x.Stride, x.Pad)
		if x.Pad != [4]int{} && !x.CountPad {
			l.q = 1
		}
	case nn.MaxPool2D:
		l.pool(n, opMaxPool, x.Size, x.Stride, x.Pad)
	case nn.GlobalAvgPool:
		l.pool(n, opAvgPool, x.Over(n.In).Size, 0, [4]int{})
	case nn.GlobalMaxPool:
		l.pool(n, opMaxPool, x.Over(n.In).Size, 0, [4]int{})
	case nn.Flatten:
		l.kind = none
	default:
		return false
	}
	return true
}

// translateUnits translates a layer that acts on units; false: the kernels do not run it.
func (l *layer) translateUnits(x nn.Layer) bool {
	switch x := x.(type) {
	case nn.Dense:
		l.kind = opDense
	case nn.Noise:
		l.kind = opNoise
		l.off = x.Off
	case nn.Scale:
		l.kind = opScale
	case nn.Multiply:
		l.kind = opMultiply
		l.by = make([]float32, len(x.By))
		compute.Convert(l.by, x.By)
	case nn.Dropout:
		l.kind = opDropout
		l.p = x.P
	case nn.Piecewise:
		l.piecewise(x)
	case nn.Periodic:
		l.periodic(x)
	case nn.Embed:
		l.embed(x)
	case nn.Append:
		l.kind = opAppend
	case nn.BatchNorm:
		if x.Mean == nil {
			return false // its statistics are learned
		}
		l.batchNorm(x)
	case nn.LayerNorm:
		l.layerNorm(x)
	default:
		return false
	}
	return true
}

// closedForms are the functions whose closed forms the kernels know.
var closedForms = []kernel.Op{kernel.OpLeakyReLU, kernel.OpIdentity, kernel.OpExp, kernel.OpSin, kernel.OpCos, kernel.OpSquare,
	kernel.OpNormalCDF, kernel.OpErf, kernel.OpGELU, kernel.OpELU}

// lastFunction is the last function that elem.h lists. Cards run those behind it as formulas.
const lastFunction = kernel.OpNormalInverse

// mostPoints is the most points of a rule.
const mostPoints = 64

func (l *layer) apply(n *nn.Node[float32], x nn.Apply) error {
	f, rule := x.F, x.Rule
	if rule == nil {
		rule = moment.Default(f)
	}
	op := f.Op
	if op > lastFunction {
		op = kernel.OpUser
	}
	if op == kernel.OpUser {
		l.formula = f.Expr()
		if l.formula == nil {
			return unsupported(n, "its function is Go code; formulas and named functions such as tanh run")
		}
		if most := slotsOf(l.formula); most > mostSlots {
			return unsupported(n, "the formula has %d parts with its derivatives; at most %d run", most, mostSlots)
		}
	}
	l.f.Op, l.f.A = int32(op), float32(f.A)
	if len(f.Kinks) > 0 {
		l.f.Kinked = 1
	}
	nodes := rule.Nodes()
	switch {
	case rule.Learns():
		l.f.Rule = learned
	case nodes.Method == moment.ByTangent:
		l.f.Rule = byTangent
	case nodes.Method == moment.BySampling:
		l.f.Rule, l.f.Points = bySamples, int32(nodes.Samples)
	case nodes.Method == moment.InClosedForm && slices.Contains(closedForms, f.Op):
		l.f.Rule = closedForm
	case nodes.Method == moment.InClosedForm:
		return unsupported(n, "the rule exact does not run for %s; ut(2) or gh(9) would run", f.Name)
	case nodes.Method != moment.ByPoints:
		return unsupported(n, "the rule %v has no points; ut(2) or gh(9) would run", rule)
	case len(nodes.Xi) > mostPoints:
		return unsupported(n, "the rule %v has %d points; at most %d run", rule, len(nodes.Xi), mostPoints)
	default:
		l.f.Rule, l.f.Points = byPoints, int32(len(nodes.Xi))
		l.nodes = make([]float32, 2*len(nodes.Xi))
		compute.Convert(l.nodes, nodes.Xi)
		compute.Convert(l.nodes[len(nodes.Xi):], nodes.W)
	}
	return nil
}

// offsets returns where the means and the ρ of each tensor begin in Theta.
func offsets(p *vi.Params[float32]) (mean, rho []int) {
	at := 0
	for _, t := range p.Tensors {
		mean = append(mean, at)
		at += t.Len()
		rho = append(rho, at)
		if t.Random {
			at += t.Len()
		}
	}
	return mean, rho
}
