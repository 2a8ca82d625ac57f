package nntest_test

import (
	"fmt"
	"log"

	"utvi/gauss"
	"utvi/model"
	"utvi/nn"
	"utvi/vi"
)

// A Gate multiplies every unit by 1 + w with a Normal weight w per unit.
type Gate struct {
	Start float64 `json:"start,omitempty"` // mean of w at the start
}

// Kind implements nn.Layer.
func (Gate) Kind() string { return "gate" }

// Bind32 and Bind64 are one line over the same generic body.
func (l Gate) Bind32(b *nn.Binder[float32]) (nn.Unit[float32], error) { return bindGate(l, b) }
func (l Gate) Bind64(b *nn.Binder[float64]) (nn.Unit[float64], error) { return bindGate(l, b) }

// gate is a Gate with its parameters. All runners share it.
type gate[T gauss.Float] struct {
	shape nn.Shape
	form  nn.Form
	w     *vi.Tensor[T]
	s     []T  // variances of w, made by Prepare; zeros where w is a number
	sense bool // it carries correlations; see example_correlated_test.go
}

func bindGate[T gauss.Float](l Gate, b *nn.Binder[T]) (nn.Unit[T], error) {
	n := b.In.Size()
	w, err := b.RandomFrom("w", l.Start, 0.1, vi.Prior{}, n) // the network's prior
	if err != nil {
		return nil, err
	}
	u := &gate[T]{shape: b.In, form: nn.Independent, w: w, s: make([]T, n), sense: b.Sense}
	if b.Form == nn.Fixed && !w.Random { // a network drawn from the posterior
		u.form = nn.Fixed
	}
	return u, nil
}

func (u *gate[T]) Out() nn.Shape     { return u.shape }
func (u *gate[T]) Form() nn.Form     { return u.form }
func (u *gate[T]) TapeWidth() int    { return 2 * len(u.s) }
func (u *gate[T]) GradTiles() int    { return 1 }
func (u *gate[T]) PrepareTiles() int { return 1 }

func (u *gate[T]) NewRunner(maxRows int, train bool) nn.Runner[T] {
	if u.sense {
		return newGateSenser(u, maxRows)
	}
	return gateRunner[T]{u}
}

// A gateRunner needs no scratch: in Backward, p.In is still what Forward saw.
type gateRunner[T gauss.Float] struct{ *gate[T] }

func (r gateRunner[T]) Prepare(int) {
	if !r.w.Random {
		return
	}
	r.w.Sigma(r.s, 0)
	for i, s := range r.s {
		r.s[i] = s * s
	}
}

// Forward computes the moments of x·g, g = 1 + w: mean m·g, variance v·(g² + s) + m²·s.
func (r gateRunner[T]) Forward(p *nn.Pass[T]) {
	for i, m := range p.In.Mean {
		g, s := 1+r.w.Mean[i%len(r.s)], r.s[i%len(r.s)]
		p.Out.Mean[i] = m * g
		if p.Out.Var != nil {
			p.Out.Var[i] = at(p.In.Var, i)*(g*g+s) + m*m*s
		}
	}
}

// Backward writes the gradients by m and v, and those by w and s of each row to the
// tape.
func (r gateRunner[T]) Backward(p *nn.Pass[T]) {
	n := len(r.s)
	for i, m := range p.In.Mean {
		row, k := i/n, i%n
		g := 1 + r.w.Mean[k]
		s := r.s[k]
		v := at(p.In.Var, i)
		dm, dv := p.DOut.Mean[i], at(p.DOut.Var, i)
		if p.DIn.Mean != nil {
			p.DIn.Mean[i] = dm*g + 2*dv*m*s
		}
		if p.DIn.Var != nil {
			p.DIn.Var[i] = dv * (g*g + s)
		}
		tape := p.Tape[2*n*row:]
		tape[k], tape[n+k] = dm*m+2*dv*v*g, dv*(v+m*m)
	}
}

// Gradient sums the tapes of all rows.
func (r gateRunner[T]) Gradient(_ int, blocks []nn.Block[T]) {
	n := len(r.s)
	clear(r.w.GMean)
	clear(r.w.GVar) // by the variance; nil where w is a number
	for _, b := range blocks {
		for row := range b.Rows {
			tape := b.Tape[2*n*row:]
			for k := range r.w.GMean {
				r.w.GMean[k] += tape[k]
			}
			for k := range r.w.GVar {
				r.w.GVar[k] += tape[n+k]
			}
		}
	}
}

// at is x[i], or 0 where there are no variances.
func at[T gauss.Float](x []T, i int) T {
	if x == nil {
		return 0
	}
	return x[i]
}

// A layer of a program's own, with Normal weights. Its test is one line:
//
//	nntest.Layer(t, Gate{Start: 0.3}, nn.Vec(5), nntest.Options{Draws: 20_000})
//
// It is saved as its JSON and loaded with model.WithLayer(Gate{}).
func ExampleLayer() {
	net, err := model.New(model.Config{Input: nn.Vec(2), Layers: nn.Chain{Gate{Start: 0.5}}})
	if err != nil {
		log.Fatal(err)
	}
	y := net.NewPredictor(1).Predict(gauss.Fixed(2, []float32{2, -4}))
	fmt.Printf("mean %.2f, variance %.2f\n", y.Mean, y.Var)
	// Output:
	// mean [3.00 -6.00], variance [0.04 0.16]
}
