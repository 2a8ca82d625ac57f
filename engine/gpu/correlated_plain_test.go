package gpu_test

import (
	"slices"
	"testing"

	"utvi/engine"
	"utvi/engine/gpu"
	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/moment"
	"utvi/nn"
)

// Plain networks with correlations predict in one launch, as the CPU does: with one output
// and several, functions by points and otherwise, layers that fill no warp, numbers that are
// appended and noise. Rows have the same bits alone and among others.
func TestSensed(t *testing.T) {
	e := card(t)
	gelu := nn.Apply{F: fn.GELU(), Rule: moment.GaussHermite(9)}
	tanh := nn.Apply{F: fn.Tanh(), Rule: moment.UT(2)}
	leaky := nn.Apply{F: fn.LeakyReLU(0.01)}
	exact := nn.Apply{F: fn.GELU(), Rule: moment.Exact()}
	line := nn.Apply{F: fn.SiLU(), Rule: moment.Linear()}
	const many = 75
	pool := compute.NewPool(1)
	defer pool.Close()
	for _, c := range []struct {
		name   string
		in     int
		layers nn.Chain
	}{
		{"a table's", 10, append(nn.Correlate(nn.Chain{nn.Dense{Out: 50}, gelu, nn.Dense{Out: 50}, gelu, nn.Dense{Out: 2}}), nn.Append{Count: 1, Start: -1})},
		{"noise", 3, nn.Correlate(nn.Chain{nn.Dense{Out: 9}, tanh, nn.Dense{Out: 70}, leaky, nn.Dense{Out: 1}, nn.Noise{Start: 0.3}})},
		{"outputs", 40, nn.Correlate(nn.Chain{nn.Dense{Out: 3}, exact, nn.Dense{Out: 11, NoBias: true}, line, nn.Dense{Out: 30}, tanh, nn.Dense{Out: 5}})},
		{"one layer", 1, nn.Correlate(nn.Chain{nn.Dense{Out: 17}, gelu, nn.Dense{Out: 3}})},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := network(t, c.in, c.layers)
			p, err := e.Compile(n, nn.Fixed)
			if err != nil {
				t.Fatal(err)
			}
			cpu, err := engine.CPU[float32]().Compile(n, nn.Fixed)
			if err != nil {
				t.Fatal(err)
			}
			x := rows(many, c.in, false)
			got, want := gauss.New[float32](many, p.Graph().Out.Size()), gauss.New[float32](many, p.Graph().Out.Size())
			q := p.NewPredictor(pool, many)
			if !gpu.Sensed(q) {
				t.Fatal("the network does not run in the kernel sensed")
			}
			q.Predict(x, got)
			cpu.NewPredictor(pool, many).Predict(x, want)
			if m, v := off(got.Mean, want.Mean), off(got.Var, want.Var); m > 2e-6 || v > 5e-6 {
				t.Errorf("means are off by %.2g, variances by %.2g", m, v)
			}
			const row = 40
			one := gauss.New[float32](1, got.Width)
			q.Predict(x.Slice(row, row+1), one)
			if among := got.Slice(row, row+1); !slices.Equal(one.Mean, among.Mean) || !slices.Equal(one.Var, among.Var) {
				t.Errorf("a row alone is %v, among others %v", one, among)
			}
		})
	}
}
