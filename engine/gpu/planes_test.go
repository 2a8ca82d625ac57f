package gpu_test

import (
	"slices"
	"testing"

	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/moment"
	"utvi/nn"
)

// The predictions of a row have the same bits whatever the rows beside it are, in networks
// with wide layers too.
func TestNeighbours(t *testing.T) {
	e := card(t)
	act := nn.Apply{F: fn.LeakyReLU(0.01), Rule: moment.UT(2)}
	n := network(t, 64, nn.Chain{nn.Dense{Out: 300}, act, nn.Dense{Out: 300}, act, nn.Dense{Out: 300}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 2}})
	p, err := e.Compile(n, nn.Independent)
	if err != nil {
		t.Fatal(err)
	}
	const many = 40
	q := p.NewPredictor(compute.NewPool(1), many)
	x := rows(many, 64, true)
	out := gauss.New[float32](many, 2)
	alone := gauss.New[float32](1, 2)
	for i := range x.Mean {
		if i/64%2 == 1 { // beside rows that are much larger
			x.Mean[i], x.Var[i] = 1e6*x.Mean[i], 1e9*x.Var[i]
		}
	}
	q.Predict(x, out)
	for i := 0; i < many; i += 13 {
		q.Predict(x.Slice(i, i+1), alone)
		if !slices.Equal(alone.Mean, out.Mean[2*i:2*i+2]) || !slices.Equal(alone.Var, out.Var[2*i:2*i+2]) {
			t.Errorf("row %d: %v ± √%v, alone %v ± √%v", i, out.Mean[2*i:2*i+2], out.Var[2*i:2*i+2], alone.Mean, alone.Var)
		}
	}
}
