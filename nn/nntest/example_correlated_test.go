package nntest_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"testing"

	"utvi/data"
	"utvi/gauss"
	"utvi/model"
	"utvi/nn"
	"utvi/nn/nntest"
	"utvi/train"
)

// Follow makes the unit nn.Sensitive: inside nn.Correlated, a Gate carries correlations. It
// needs no memory for each of the quantities that are followed.
func (u *gate[T]) Follow(int) {}

// A gateSenser is the runner of a Gate that carries correlations. To first order
//
//	x·(1+w) = m·g + g·(x − m) + e,    g = 1 + w̄,    Var e = (m² + v)·s,
//
// so it passes the variation of its inputs on by the slope g, and adds e, which is
// independent from unit to unit because each has a weight of its own.
type gateSenser[T gauss.Float] struct {
	gateRunner[T]
	g     []T // slopes
	e, de []T // what the weights add, and the gradient by it
	dg    []T // the gradient by the slopes
}

func newGateSenser[T gauss.Float](u *gate[T], maxRows int) *gateSenser[T] {
	n := maxRows * len(u.s)
	return &gateSenser[T]{
		gateRunner: gateRunner[T]{u},
		g:          make([]T, len(u.s)),
		e:          make([]T, n),
		de:         make([]T, n),
		dg:         make([]T, n),
	}
}

// Forward also computes what the weights add.
func (r *gateSenser[T]) Forward(p *nn.Pass[T]) {
	r.gateRunner.Forward(p)
	for i, m := range p.In.Mean {
		r.e[i] = (m*m + at(p.In.Var, i)) * r.s[i%len(r.s)]
	}
	for k, w := range r.w.Mean {
		r.g[k] = 1 + w
	}
}

// Sense is what the layer does to sensitivities, SenseBack the reverse.
func (r *gateSenser[T]) Sense(s *nn.Sense[T]) {
	s.AddVariances(r.e, len(r.s))
	s.PassOnScaled(r.g)
}

func (r *gateSenser[T]) SenseBack(s *nn.Sense[T]) {
	s.PassOnScaledBack(r.g, r.dg[:s.Rows*len(r.s)])
	s.AddVariancesBack(r.e, r.de, len(r.s))
}

// Backward adds what SenseBack left: the gradients by e and g, taken to m, v, w and s.
func (r *gateSenser[T]) Backward(p *nn.Pass[T]) {
	r.gateRunner.Backward(p)
	n := len(r.s)
	for i, m := range p.In.Mean {
		row, k := i/n, i%n
		d := r.de[i]
		if p.DIn.Mean != nil {
			p.DIn.Mean[i] += 2 * d * m * r.s[k]
		}
		if p.DIn.Var != nil {
			p.DIn.Var[i] += d * r.s[k]
		}
		tape := p.Tape[2*n*row:]
		tape[k] += r.dg[i]
		tape[n+k] += d * (m*m + at(p.In.Var, i))
	}
}

// The suite passes with correlations as it does without.
func TestGateCarriesCorrelations(t *testing.T) {
	layers := nn.Chain{nn.Dense{Out: 4}, Gate{Start: 0.3}, nn.Dense{Out: 2}}
	nntest.Layer(t, nn.Correlated{Layers: layers}, nn.Vec(3), nntest.Options{})
	nntest.Layer(t, nn.Correlated{Layers: nn.Chain{Gate{Start: 0.3}, nn.Dense{Out: 2}}}, nn.Vec(3), nntest.Options{Draws: 20_000})
}

// A network with a layer of a program's own, which carries correlations: it is trained, saved
// and loaded.
func Example_correlated() {
	layers := nn.Chain{nn.Correlated{Layers: nn.Chain{nn.Dense{Out: 8}, Gate{}, nn.Dense{Out: 1}}}}
	net, err := model.New(model.Config{Input: nn.Vec(1), Layers: layers, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	x := []float32{-1, -0.5, 0, 0.5, 1}
	y := []float32{-2, -1, 0, 1, 2}
	table, err := data.NewTable(gauss.Fixed(1, x), 1, y)
	if err != nil {
		log.Fatal(err)
	}
	trainer, err := train.New(net, train.Config{Data: table, Batch: 5, Steps: 300, Seed: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer trainer.Close()
	if err := trainer.Run(context.Background()); err != nil {
		log.Fatal(err)
	}

	var file bytes.Buffer
	if err := net.Write(&file); err != nil {
		log.Fatal(err)
	}
	again, err := model.ReadEnsemble(bytes.NewReader(file.Bytes()), int64(file.Len()), model.WithLayer(Gate{}))
	if err != nil {
		log.Fatal(err)
	}
	at := gauss.Fixed(1, []float32{0.25})
	before := net.NewPredictor(1).Predict(at)
	after := again.Members[0].NewPredictor(1).Predict(at)
	fmt.Println("same prediction:", before.Mean[0] == after.Mean[0] && before.Var[0] == after.Var[0])
	fmt.Println("learned:", before.Mean[0] > 0.3 && before.Mean[0] < 0.7)
	// Output:
	// same prediction: true
	// learned: true
}
