package export

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"utvi/fn"
	"utvi/internal/onnx"
	"utvi/internal/special"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
)

// What a graph cannot hold is refused with the reason and the layer.
func TestRefusals(t *testing.T) {
	own := &moment.Func{Name: "mine", F: func(x float64) float64 { return x }}
	coupled := &moment.Map{Name: "mine", F: func(x, y []float64) { copy(y, x) }}
	for _, c := range []struct {
		layer nn.Layer
		want  string
	}{
		{nn.Apply{F: fn.Tanh(), Rule: moment.MonteCarlo(10)}, "layer 1.apply: the rule mc(10) draws random numbers, and a graph has none; take a rule of points, such as gh(5)"},
		{nn.Joint{Map: fn.Softmax(), Rule: moment.JointMC(10)}, "draws random numbers"},
		{nn.Apply{F: own}, "the function mine is Go code, which a graph cannot hold; write it as a formula (fn.Formula)"},
		{nn.Apply{F: &moment.Func{F: math.Cbrt}}, "layer 1.apply: the function without a name is Go code, which a graph cannot hold; write it as a formula (fn.Formula)"},
		{nn.Joint{Map: coupled}, "layer 1.joint: the map mine is Go code, which a graph cannot hold; softmax, log_softmax and the photon node can be exported"},
		{nn.Stochastic{Name: "s", F: func(x, th float64) float64 { return x * th }}, "layer 1.stochastic: the function s of x and θ is Go code, which a graph cannot hold; if θ may be a learned number, write it as a formula with a parameter (fn.Formula) in nn.Apply"},
		{nn.RNN{Units: 2, F: own}, "layer 1.rnn: the function mine is Go code"},
		{nn.LSTM{Units: 2, Rule: moment.MonteCarlo(10)}, "layer 1.lstm: the rule mc(10) draws random numbers"},
		{nn.Residual{Branch: nn.Apply{F: own}}, "layer 1.residual: the function residual(mine) is Go code"},
		{nn.Residual{Branch: nn.Dense{Out: 2}, Skip: nn.Apply{F: own}}, "layer 1.residual: layer 1.residual.skip: the function mine is Go code"},
	} {
		n, err := model.New(model.Config{Input: nn.Vec(2), Layers: nn.Chain{nn.Dense{Out: 2}, c.layer}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Network(n, Options{}); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%T: %v, want %q", c.layer, err, c.want)
		}
	}
}

// The same network gives the same bytes, and what is read back is what was written.
func TestSameBytes(t *testing.T) {
	z := everyNetwork()[4]
	n, err := model.New(model.Config{Input: z.input, Layers: z.layers})
	if err != nil {
		t.Fatal(err)
	}
	n.Facts.Rows, n.Facts.Data = 100, "drawn"
	var files [2]bytes.Buffer
	for i := range files {
		m, err := Network(n, Options{Variance: true})
		if err == nil {
			err = m.Write(&files[i])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
		t.Error("two exports differ")
	}
	m, err := onnx.Unmarshal(files[0].Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if m.Metadata[0] != (onnx.Entry{Key: "utvi.data", Value: "drawn"}) || m.Metadata[1] != (onnx.Entry{Key: "utvi.rows", Value: "100"}) {
		t.Errorf("the metadata are %v", m.Metadata)
	}
	defined := map[string]bool{"": true}
	for _, v := range m.Graph.Inputs {
		defined[v.Name] = true
	}
	for _, x := range m.Graph.Initializers {
		defined[x.Name] = true
	}
	for _, n := range m.Graph.Nodes {
		for _, in := range n.Inputs {
			if !defined[in] {
				t.Errorf("%s uses %s before it is computed", n.Name, in)
			}
		}
		for _, out := range n.Outputs {
			if defined[out] {
				t.Errorf("%s is computed twice", out)
			}
			defined[out] = true
		}
	}
}

// The polynomials of the tails are good to float32.
func TestPolynomials(t *testing.T) {
	at := func(c []float64, x float64) (sum float64) {
		for i := len(c) - 1; i >= 0; i-- {
			sum = sum*x + c[i]
		}
		return sum
	}
	for x := 0.0; x <= tailEnd; x += 0.01 {
		d := 1 / (x + tailPole)
		i := special.Tail(x)
		for n, want := range []float64{i.I0, i.I1, 2 * i.I2} {
			if got := at(tails()[n], (x-tailPole)*d) * math.Pow(d, float64(n+1)); math.Abs(got/want-1) > 2e-7 {
				t.Fatalf("I%d(%v) is %v, want %v", n, x, got, want)
			}
		}
	}
	for x := 0.01; x < inverseEnd; x *= 1.01 {
		s := math.Sqrt(x) + inverseRoot
		got := s * at(inverses().far, 1-2*inverseRoot/s)
		if x < inverseCentre {
			got = x * at(inverses().mid, x*x)
		}
		if want := special.NormalInverse(x); math.Abs(got/want-1) > 2e-7 {
			t.Fatalf("normal-inverse(%v) is %v, want %v", x, got, want)
		}
	}
}
