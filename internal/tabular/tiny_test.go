package tabular

import (
	"math"
	"slices"
	"testing"

	"utvi/data"
	"utvi/gauss"
	"utvi/rng"
)

// Of a tiny table, networks are members only if held-out rows are surely more probable by them than by
// what is solved; of others, if they are at all.
func TestTinyTablesTrustWhatIsSolved(t *testing.T) {
	for _, x := range []struct {
		rows   int
		gain   float64 // of the network, nats a row
		picked int
	}{{tinyRows - 1, 0.1, 0}, {tinyRows - 1, 0.5, 1}, {tinyRows, 0.1, 1}} {
		ridge := scored{}
		net := scored{}
		for i := range x.rows {
			ridge.logp = append(ridge.logp, -1)
			net.logp = append(net.logp, -1+x.gain+float64(2*(i%2)-1)) // one nat more, one less
		}
		trials := []Trial{
			{Score: -1, Stop: 1, Candidate: Candidate{Kernel: lineKernel}, seeds: []scored{ridge}},
			{Score: -1 + x.gain, Stop: 1, seeds: []scored{net}},
		}
		folds := []fold{{held: rowsHeld(x.rows)}}
		if picks := compose(folds, trials, 1, 1); !slices.Equal(picks, []int{x.picked}) {
			t.Errorf("%d rows, a gain of %v ± %.2f: the member is %v, want %d", x.rows, x.gain, 1/math.Sqrt(float64(x.rows)), picks, x.picked)
		}
		if picks := compose(folds, trials[1:], 1, 1); len(picks) != 1 {
			t.Errorf("without a ridge regression the members are %v", picks)
		}
	}
}

// A target of a tiny table that is but a little skewed is tried by its logarithm: networks of so few rows
// may see no difference, a linear regression does.
func TestTinySkew(t *testing.T) {
	const rows, inputs = 90, 2
	d := Data{Set: data.Set{X: gauss.Fixed(inputs, make([]float32, rows*inputs)), Y: make([]float32, rows)}, Zero: []float64{-3}}
	for i := range rows {
		var sum float64
		for j := range inputs {
			x := rng.Normal(rng.New(8), uint64(i*inputs+j))
			d.X.Mean[i*inputs+j] = float32(x)
			sum += x
		}
		d.Y[i] = float32(3*math.Exp(0.22*sum+0.05*rng.Normal(rng.New(9), uint64(i))) - 3)
	}
	f, err := Fit(t.Context(), Config{Steps: 64}, d, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if w := f.Warp(0); w == nil || w.Lambda != 0 {
		t.Errorf("the transform is %+v, want a logarithm", w)
	}
	for _, m := range f.Report.Members {
		if m.Kernel == "" {
			t.Errorf("a member is %s", m.Candidate)
		}
	}
}
