package nn_test

import (
	"reflect"
	"strings"
	"testing"

	"utvi/fn"
	"utvi/gauss"
	"utvi/moment"
	"utvi/nn"
	"utvi/nn/nntest"
	"utvi/vi"
)

// shift is a layer as another module would write one: it adds a number to the means.
type shift struct {
	By float64 `json:"by"`
}

func (shift) Kind() string { return "shift" }

func (l shift) Bind32(b *nn.Binder[float32]) (nn.Unit[float32], error) { return bindShift(l, b) }
func (l shift) Bind64(b *nn.Binder[float64]) (nn.Unit[float64], error) { return bindShift(l, b) }

type shiftUnit[T gauss.Float] struct {
	by    T
	shape nn.Shape
	form  nn.Form
}

func bindShift[T gauss.Float](l shift, b *nn.Binder[T]) (nn.Unit[T], error) {
	return shiftUnit[T]{T(l.By), b.In, b.Form}, nil
}

func (u shiftUnit[T]) Out() nn.Shape                    { return u.shape }
func (u shiftUnit[T]) Form() nn.Form                    { return u.form }
func (u shiftUnit[T]) TapeWidth() int                   { return 0 }
func (u shiftUnit[T]) GradTiles() int                   { return 0 }
func (u shiftUnit[T]) PrepareTiles() int                { return 0 }
func (u shiftUnit[T]) NewRunner(int, bool) nn.Runner[T] { return u }
func (u shiftUnit[T]) Prepare(int)                      {}
func (u shiftUnit[T]) Gradient(int, []nn.Block[T])      {}

func (u shiftUnit[T]) Forward(p *nn.Pass[T]) {
	for i, m := range p.In.Mean {
		p.Out.Mean[i] = m + u.by
	}
	copy(p.Out.Var, p.In.Var)
}

func (u shiftUnit[T]) Backward(p *nn.Pass[T]) {
	copy(p.DIn.Mean, p.DOut.Mean)
	copy(p.DIn.Var, p.DOut.Var)
}

// twice is a composite as another module would write one: a layer applied two times,
// each with parameters of its own.
type twice struct {
	Name         string   `json:"name"`
	First, Later nn.Layer `json:"-"`
}

func (twice) Kind() string                         { return "twice" }
func (l twice) Children() []nn.Layer               { return []nn.Layer{l.First, l.Later} }
func (l twice) WithChildren(c []nn.Layer) nn.Layer { return twice{l.Name, c[0], c[1]} }

func (l twice) Bind32(b *nn.Binder[float32]) (nn.Unit[float32], error) { return bindTwice(l, b) }
func (l twice) Bind64(b *nn.Binder[float64]) (nn.Unit[float64], error) { return bindTwice(l, b) }

func bindTwice[T gauss.Float](l twice, b *nn.Binder[T]) (nn.Unit[T], error) {
	return nn.BindChild(nn.Chain{l.First, l.Later}, b, "both")
}

func TestOutsideLayer(t *testing.T) {
	nntest.Layer(t, shift{By: 1.5}, nn.Vec(3), nntest.Options{})
}

// A walker and the switch for noise see into composites of other modules.
func TestOutsideComposite(t *testing.T) {
	net := nn.Chain{twice{"a", nn.Dense{Out: 2}, nn.Noise{}}}
	noisy := func(l nn.Layer) bool { n, ok := l.(nn.Noise); return ok && !n.Off }
	if !nn.Any(net, noisy) || nn.Any(nn.WithoutNoise(net), noisy) || !nn.Any(net, noisy) {
		t.Error("the noise within is not seen, or not switched off, or switched off in the original")
	}
	_, _, params := bound(t, net, nn.Vec(3), false)
	if len(params.Tensors) != 3 || params.Tensors[2].Name != "layer.0.twice.both.1.noise.noise" {
		t.Errorf("%+v", params.Tensors[2])
	}
}

func TestGraph(t *testing.T) {
	b := &nn.Binder[float64]{Params: newParams(), In: nn.Vec(3)}
	if _, err := nn.Bind(nn.Chain{nn.Dense{Out: 4}, nn.Chain{nn.Residual{Branch: nn.Chain{nn.Dense{Out: 4}, tanh}}}, nn.Noise{}}, b); err != nil {
		t.Fatal(err)
	}
	var got []string
	for n := range b.Graph().All() {
		s := n.Layer.Kind() + " " + n.Name + " " + n.In.String() + "→" + n.Out.String() + " " + n.From.String() + "→" + n.To.String()
		for _, x := range n.Tensors {
			s += " " + strings.TrimPrefix(x.Name, n.Name+".")
		}
		got = append(got, s)
	}
	want := []string{
		"chain  3→4 fixed→independent",
		"dense 0.dense 3→4 fixed→independent weight bias",
		"chain 1.chain 4→4 independent→independent",
		"residual 1.chain.0.residual 4→4 independent→independent",
		"chain 1.chain.0.residual 4→4 independent→independent",
		"dense 1.chain.0.residual.0.dense 4→4 independent→independent weight bias",
		"apply 1.chain.0.residual.1.apply 4→4 independent→independent",
		"noise 2.noise 4→4 independent→independent noise",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if steps := b.Graph().Steps(); len(steps) != 3 || steps[1].Layer.Kind() != "residual" {
		t.Errorf("%v", steps)
	}
}

var tanh = nn.Apply{F: fn.Tanh(), Rule: moment.UT(2)}

func newParams() *vi.Params[float64] { return &vi.Params[float64]{} }
