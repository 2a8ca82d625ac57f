package laplace

import (
	"math"
	"testing"

	"utvi/fn"
	"utvi/gauss"
	"utvi/model"
	"utvi/nn"
	"utvi/rng"
	"utvi/vi"
)

func network(t *testing.T, in nn.Shape, layers ...nn.Layer) *model.Net[float64] {
	t.Helper()
	n, err := model.Build[float64](model.Config{Input: in, Layers: layers, Seed: 5, Init: vi.Std(1e-7), Prior: vi.Prior{Std: 0.7}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tensor := range n.Params.Tensors { // some have a start of their own
		for i := range tensor.Rho {
			tensor.Rho[i] = -16
		}
	}
	n.Changed()
	return n
}

func drawn(rows, width int) gauss.Batch[float64] {
	x := make([]float64, rows*width)
	for i := range x {
		x[i] = 4*rng.Uniform(rng.New(9), uint64(i)) - 2
	}
	return gauss.Fixed(width, x)
}

func jacobians(t *testing.T, n *model.Net[float64], x gauss.Batch[float64]) *Rows {
	t.Helper()
	j, err := NewJacobians(n)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := j.Rows(x)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

var cases = map[string]struct {
	in     nn.Shape
	layers nn.Chain
}{
	"dense":      {nn.Vec(3), nn.Chain{nn.Dense{Out: 6}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 5, NoBias: true}, nn.Apply{F: fn.GELU()}, nn.Dense{Out: 2}}},
	"conv":       {nn.Shape{H: 4, W: 4, C: 2}, nn.Chain{nn.Conv2D{Out: 3, Kernel: [2]int{3, 3}}, nn.Apply{F: fn.Tanh()}, nn.Conv2D{Out: 2, Kernel: [2]int{2, 2}}, nn.Flatten{}, nn.Dense{Out: 2}}},
	"transposed": {nn.Shape{H: 2, W: 2, C: 2}, nn.Chain{nn.ConvTranspose2D{Out: 2, Kernel: [2]int{2, 2}}, nn.Apply{F: fn.Tanh()}, nn.Flatten{}, nn.Dense{Out: 1}}},
	"levels":     {nn.Vec(3), nn.Chain{nn.Embed{Categories: []nn.Category{{Unit: 1, Levels: 3, Width: 2}}}, nn.Dense{Out: 4}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 1}}},
	"recurrent":  {nn.Shape{H: 1, W: 3, C: 2}, nn.Chain{nn.GRU{Units: 3}, nn.Dense{Out: 2}}},
	"positions":  {nn.Shape{H: 1, W: 3, C: 4}, nn.Chain{nn.Positions{}, nn.MultiHeadAttention{Heads: 2}, nn.Flatten{}, nn.Dense{Out: 2}}},
}

// Factors are the derivatives of the outputs by the weights, in units of the prior.
func TestJacobians(t *testing.T) {
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			n := network(t, c.in, c.layers...)
			x := drawn(3, c.in.Size())
			rows := jacobians(t, n, x)
			seen := make([]float64, rows.Weights())
			for q := range rows.N * rows.K {
				rows.Whole(q, seen)
				checkRow(t, n, x, rows, q, seen)
			}
		})
	}
}

// checkRow compares a quantity's Jacobian with differences, tensor by tensor.
func checkRow(t *testing.T, n *model.Net[float64], x gauss.Batch[float64], rows *Rows, q int, seen []float64) {
	t.Helper()
	at := 0
	for i := range rows.Layers {
		f := &rows.Layers[i]
		part := seen[at:][:f.Weights()]
		at += f.Weights()
		var want []float64
		for k, tensor := range n.Params.Tensors {
			if tensor.Name != f.Name && "0.correlated."+tensor.Name != f.Name {
				continue
			}
			want = slopes(n, tensor, x, q)
			if f.M != nil && len(want) < len(part) { // with its bias
				want = append(want, slopes(n, n.Params.Tensors[k+1], x, q)...)
			}
		}
		if len(want) != len(part) {
			t.Fatalf("%s: %d weights, %d numbers", f.Name, len(want), len(part))
		}
		for w := range want {
			if math.Abs(want[w]-part[w]) > 1e-6*(1+math.Abs(want[w])) {
				t.Fatalf("%s, weight %d, quantity %d: %v, want %v", f.Name, w, q, part[w], want[w])
			}
		}
	}
	if at != len(seen) {
		t.Errorf("%d of %d numbers", at, len(seen))
	}
}

func slopes(n *model.Net[float64], tensor *vi.Tensor[float64], x gauss.Batch[float64], q int) (d []float64) {
	const h = 1e-5
	for w := range tensor.Mean {
		was := tensor.Mean[w]
		at := func(x0 float64) float64 {
			tensor.Mean[w] = x0
			n.Changed()
			return n.NewPredictor(x.Rows).Predict(x).Mean[q]
		}
		slope := (at(was+h) - at(was-h)) / (2 * h)
		at(was)
		d = append(d, slope*tensor.Prior.Std)
	}
	return d
}

// Both forms, and landmarks that span all Jacobians, are the same covariance: of all layers and of each.
func TestForms(t *testing.T) {
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			n := network(t, c.in, c.layers...)
			rows := jacobians(t, n, drawn(40, c.in.Size()))
			w := make([]float64, 40*rows.K)
			for i := range w {
				w[i] = 3 + float64(i%5)
			}
			var at []int
			for k := range rows.K {
				at = append(at, k)
			}
			seen := rows.Combine(rows.K, Precisions(w, at, rows.K))
			ask := jacobians(t, n, drawn(7, c.in.Size()))
			for _, layers := range []bool{false, true} {
				byWeights := covariance(t, seen, ask, Config{Form: Weights, Layers: layers, Scale: 1.7})
				byKernel := covariance(t, seen, ask, Config{Form: Kernel, Layers: layers, Scale: 1.7})
				compare(t, "kernel", byKernel, byWeights, 1e-6)
			}
		})
	}
}

func covariance(t *testing.T, seen, ask *Rows, c Config) []float64 {
	t.Helper()
	p, err := New(seen, c)
	if err != nil {
		t.Fatal(err)
	}
	cov := p.Covariance(ask)
	v := p.Variance(ask)
	n := ask.N * ask.K
	for q := range n {
		for l := range ask.K {
			if a, b := cov[q*n+q/ask.K*ask.K+l], v[q*ask.K+l]; math.Abs(a-b) > 1e-9*(1+math.Abs(a)) {
				t.Fatalf("covariance of %d with its row's %d is %v and %v", q, l, a, b)
			}
		}
	}
	return cov
}

func compare(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	most := 0.0
	for _, x := range want {
		most = max(most, math.Abs(x))
	}
	for i := range want {
		if math.Abs(got[i]-want[i]) > tolerance*most {
			t.Fatalf("%s: number %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// Of a linear network the covariance is that of Bayesian linear regression.
func TestLinear(t *testing.T) {
	n := network(t, nn.Vec(1), nn.Dense{Out: 1})
	x := gauss.Fixed(1, []float64{-1, 0, 2})
	rows := jacobians(t, n, x)
	seen := rows.Combine(1, Precisions([]float64{4, 4, 4}, []int{0}, 1))
	// Precision of (slope, bias): 1/.49 + 4·Σ(x², x; x, 1).
	a := 1/.49 + 4*5.0
	b := 4 * 1.0
	c := 1/.49 + 4*3.0
	det := a*c - b*b
	cov := covariance(t, seen, jacobians(t, n, gauss.Fixed(1, []float64{3, -1})), Config{})
	at := func(x, y float64) float64 { return (x*y*c - (x+y)*b + a) / det }
	compare(t, "linear", cov, []float64{at(3, 3), at(3, -1), at(3, -1), at(-1, -1)}, 1e-9)
}

// Landmarks that span the Jacobians lose nothing; fewer of them leave the prior where they do not reach,
// at most.
func TestLandmarks(t *testing.T) {
	n := network(t, nn.Vec(2), nn.Dense{Out: 3}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 1})
	rows := jacobians(t, n, drawn(300, 2))
	w := make([]float64, 300)
	for i := range w {
		w[i] = 5
	}
	seen := rows.Combine(1, Precisions(w, []int{0}, 1))
	ask := jacobians(t, n, drawn(20, 2))
	all := covariance(t, seen, ask, Config{Form: Weights})
	many := covariance(t, seen, ask, Config{Form: Kernel, Landmarks: 60})
	compare(t, "landmarks", many, all, 1e-5)
	few := covariance(t, seen, ask, Config{Form: Kernel, Landmarks: 4})
	prior := make([]float64, 20)
	ask.own(prior)
	for i := range 20 {
		if v := few[i*20+i]; v <= 0 || v > prior[i]*(1+1e-6) {
			t.Errorf("row %d: %v is not between 0 and %v", i, v, prior[i])
		}
	}
}

// With trained variances the covariances of a row are those of nn.Correlated.
func TestFactorised(t *testing.T) {
	for _, name := range []string{"dense", "levels", "conv", "recurrent"} {
		c := cases[name]
		n := network(t, c.in, nn.Correlate(c.layers)...)
		for _, tensor := range n.Params.Tensors {
			for i := range tensor.Rho {
				tensor.Rho[i] = -6 - float64(i%3)
			}
		}
		n.Changed()
		x := drawn(5, c.in.Size())
		rows := jacobians(t, n, x)
		cov := rows.Factorised()
		out := n.NewPredictor(5).Predict(x)
		for q, want := range out.Var {
			if got := cov[q*rows.N*rows.K+q]; math.Abs(got-want) > 1e-3*want {
				t.Errorf("%s, quantity %d: variance %v, want %v", name, q, got, want)
			}
		}
	}
}

// The roots of a softmax's Hessians are those of differences of ln Σ e^l.
func TestClasses(t *testing.T) {
	logits := []float64{0.3, -1, 2, 0, 0, 5}
	root := Classes(logits, 3)
	total := func(l []float64) float64 { return math.Log(math.Exp(l[0]) + math.Exp(l[1]) + math.Exp(l[2])) }
	for row := range 2 {
		for i := range 3 {
			for j := range 3 {
				var got float64
				for k := range 3 {
					got += root[(row*3+k)*3+i] * root[(row*3+k)*3+j]
				}
				at := func(a, b float64) float64 {
					l := append([]float64{}, logits[row*3:][:3]...)
					l[i] += a
					l[j] += b
					return total(l)
				}
				const h = 1e-4
				want := (at(h, h) - at(h, -h) - at(-h, h) + at(-h, -h)) / (4 * h * h)
				if math.Abs(got-want) > 1e-6 {
					t.Errorf("row %d, (%d, %d): %v, want %v", row, i, j, got, want)
				}
			}
		}
	}
}

// What cannot be is refused.
func TestRefused(t *testing.T) {
	fixed := network(t, nn.Vec(1), nn.Dense{Out: 1, Fixed: true})
	if _, err := NewJacobians(fixed); err == nil {
		t.Error("weights that are numbers have no covariance")
	}
	n := network(t, nn.Vec(1), nn.Dense{Out: 1})
	j, err := NewJacobians(n)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Rows(drawn(2, 3)); err == nil {
		t.Error("rows of another width")
	}
	rows := jacobians(t, n, drawn(2, 1))
	for _, c := range []Config{{Scale: -1}, {Scale: math.NaN()}, {Landmarks: -1}} {
		if _, err := New(rows, c); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
}
