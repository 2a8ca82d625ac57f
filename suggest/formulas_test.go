package suggest

import (
	"math"
	"testing"

	"utvi/internal/compute"
	"utvi/rng"
)

// Conditioning on rows one by one gives what the covariance matrix gives at once.
func TestCondition(t *testing.T) {
	const rows, draws = 12, 40
	p := &picker{belief: &belief{rows: rows, values: make([][][]float64, 1), noise: [][]float64{make([]float64, rows)}}}
	for s := range draws {
		var v []float64
		for r := range rows {
			v = append(v, 2*rng.Normal(rng.New(2), uint64(100*s+r))+3*rng.Normal(rng.New(3), uint64(s)))
		}
		p.values[0] = append(p.values[0], v)
	}
	for r := range rows {
		p.noise[0][r] = 0.5 + float64(r)
	}
	pool := compute.NewPool(1)
	defer pool.Close()
	references := []int{0, 3, 11}
	q := p.quantity(0, 2, references, pool)
	k := make([][]float64, rows)
	for i := range k {
		k[i] = make([]float64, rows)
		for j := range k {
			k[i][j] = dot(q.draws[i], q.draws[j])
		}
	}
	for _, at := range []int{5, 2, 5} {
		var want float64
		v := k[at][at] + p.noise[0][at]/4
		for _, r := range references {
			want += k[at][r] * k[at][r] / v
		}
		if g := q.gain(at); math.Abs(g/want-1) > 1e-9 {
			t.Errorf("the gain of row %d is %v, want %v", at, g, want)
		}
		q.condition(at, references, pool)
		next := make([][]float64, rows)
		for i := range k {
			for j := range k {
				next[i] = append(next[i], k[i][j]-k[i][at]*k[j][at]/v)
			}
		}
		k = next
		for i := range k {
			if math.Abs(q.own[i]-k[i][i]) > 1e-9 || math.Abs(q.with[i][1]-k[i][3]) > 1e-9 {
				t.Errorf("row %d: variance %v, want %v; covariance %v, want %v", i, q.own[i], k[i][i], q.with[i][1], k[i][3])
			}
		}
	}
}

// The expected improvement is an integral.
func TestAhead(t *testing.T) {
	for _, d := range []float64{-4, -1, 0, 0.3, 2} {
		var sum float64
		const step = 1e-3
		for z := -9.0; z < 9; z += step {
			sum += step * max(0, d+0.7*z) * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
		}
		if a := ahead(d, 0.7); math.Abs(a-sum) > 1e-5 {
			t.Errorf("ahead(%v) = %v, want %v", d, a, sum)
		}
		if a := ahead(d, 0); a != max(0, d) {
			t.Errorf("without a spread ahead(%v) = %v", d, a)
		}
	}
}
