package moment

import (
	"fmt"

	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
)

// MonteCarlo returns the sampling rule ("MCVI"): n ≥ 2 reparameterised draws x = m +
// σε for each element, their mean and their n−1 variance. ε comes from the stream of
// (seed, step, layer), counted by (row, unit, sample).
func MonteCarlo(n int) Rule { return monteCarlo{n} }

type monteCarlo struct{ n int }

// maxSamples keeps a typing error from running for days.
const maxSamples = 1 << 20

func (r monteCarlo) String() string          { return fmt.Sprintf("mc(%d)", r.n) }
func (r monteCarlo) Nodes() Nodes            { return Nodes{Method: BySampling, Samples: r.n} }
func (r monteCarlo) Learns() bool            { return false }
func (r monteCarlo) Vector(f *Func) bool     { return vectorised(f) }
func (r monteCarlo) Push32(t *Tile[float32]) { pushDraws(t, r.n) }
func (r monteCarlo) Push64(t *Tile[float64]) { pushDraws(t, r.n) }

func (r monteCarlo) Check(f *Func) error {
	if r.n > maxSamples {
		return fmt.Errorf("mc: %d samples; at most %d are allowed", r.n, maxSamples)
	}
	if r.n < 2 {
		return fmt.Errorf("mc: %d samples; a variance needs at least 2", r.n)
	}
	return checkFunc(f)
}

// chunk is the number of samples that a tile holds at a time, whole Philox blocks;
// sums continue from chunk to chunk.
const chunk = 12

func pushDraws[T gauss.Float](t *Tile[T], samples int) {
	n := len(t.Mean)
	t.sums.Begin(n)
	if t.formula != nil {
		for _, s := range t.formula.sums {
			s.Begin(n)
		}
	}
	for first := 0; first < samples; first += chunk {
		size := n * min(chunk, samples-first)
		xi := t.xi[:size]
		x := t.x[:size]
		f := t.f[:size]
		drawFrom(t, xi, first)
		kernel.PointsEach(t.Mean, t.Var, t.s[:n], x, xi)
		var d []T
		if t.jacobian() {
			d = t.d[:size]
		}
		t.Eval(x, f, d)
		t.sums.Add(f, d, xi)
		if d == nil {
			continue
		}
		for j := range t.MP {
			t.formula.sums[j].Add(f, t.formula.byParam[j][:size], xi)
		}
	}
	t.sums.Moments(t.Out, t.s[:n])
	if !t.jacobian() {
		return
	}
	for j := range t.MP {
		t.formula.sums[j].Moments(t.paramMoments(j), t.s[:n])
	}
}

// drawFrom fills the planes xi with standard Normals, from a sample on.
func drawFrom[T gauss.Float](t *Tile[T], xi []T, first int) {
	n := len(t.Mean)
	z, ok := any(xi).([]float32)
	if !ok {
		z = t.draws[:len(xi)]
	}
	kernel.NormalsFrom(z, t.Key, t.Row, t.Unit, n, first, len(xi)/n)
	if !ok {
		compute.Convert(xi, z)
	}
}
