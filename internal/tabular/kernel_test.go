package tabular

import (
	"math"
	"testing"

	"utvi/gauss"
	"utvi/internal/cholesky"
	"utvi/rng"
)

// bent are rows of a function of two inputs, the second of which says nothing.
func bent(n int, noise float64) Data {
	d := rowsOf(n, 2)
	key := rng.New(3)
	for i := range n {
		x := 2*rng.Uniform(key, uint64(3*i)) - 1
		d.X.Mean[2*i] = float32(1.7 * x)
		d.X.Mean[2*i+1] = float32(rng.Normal(key, uint64(3*i+1)))
		d.Y[i] = float32(math.Sin(3*x) + noise*rng.Normal(key, uint64(3*i+2)))
	}
	return d
}

// The slopes of the evidence are those of its differences.
func TestEvidenceSlopes(t *testing.T) {
	for _, lines := range []bool{false, true} {
		s := kernelSearch{lines: lines}
		s.x, s.y, s.count = bent(20, 0.2).kernelRows(20)
		s.prepare()
		s.count[3] = 2.5
		var at []float64
		for i, p := range s.guesses() {
			at = append(at, p.mean+0.1*float64(i))
		}
		slope := make([]float64, len(at))
		other := make([]float64, len(at))
		s.evidence(s.kernel(at), slope)
		for i := range at {
			const h = 1e-5
			at[i] += h
			up := s.evidence(s.kernel(at), other)
			at[i] -= 2 * h
			down := s.evidence(s.kernel(at), other)
			at[i] += h
			if got, want := slope[i], (up-down)/(2*h); math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
				t.Errorf("lines %v, number %d: slope %g, by differences %g", lines, i, got, want)
			}
		}
	}
}

// The network predicts what the formulas of Gaussian processes say, with the covariance of its features.
func TestKernelNet(t *testing.T) {
	d := bent(40, 0.1)
	k := kernel{noise: 0.02, line: 0.3, bend: 0.8, length: []float64{0.5, 3}}
	c := Candidate{Noise: Heteroscedastic, Common: little, Kernel: smoothKernel}
	m, err := c.kernelNet(k, d, 7)
	if err != nil {
		t.Fatal(err)
	}
	s := k.sines(2, 7)
	n := d.X.Rows
	cov := square(n)
	x, y, _ := d.kernelRows(n)
	for i := range n {
		for j := range i + 1 {
			cov[i][j] = inner(s.features(x[i]), s.features(x[j]))
		}
		cov[i][i] += k.noise
	}
	cholesky.Factor(cov, func(_ int, v float64) float64 { return math.Sqrt(v) })
	inverse := invertLower(cov)
	half := func(v []float64) []float64 { // L⁻¹·v
		z := make([]float64, n)
		for i := range z {
			z[i] = inner(inverse[i][:i+1], v)
		}
		return z
	}
	for _, row := range [][]float64{{0.3, -0.5}, {-1.4, 1}, {4, 0}} {
		phi := s.features(row)
		with := make([]float64, n)
		for i := range n {
			with[i] = inner(phi, s.features(x[i]))
		}
		z := half(with)
		mean := inner(z, half(y))
		v := inner(phi, phi) - inner(z, z)
		out := m.NewPredictor(1).Predict(gauss.Fixed(2, []float32{float32(row[0]), float32(row[1])}))
		if math.Abs(float64(out.Mean[0])-mean) > 1e-3 || math.Abs(float64(out.Var[0])/v-1) > 1e-3 {
			t.Errorf("at %v: %v ± √%v, want %v ± √%v", row, out.Mean[0], out.Var[0], mean, v)
		}
		if noise := math.Exp(float64(out.Mean[1])); math.Abs(noise/k.noise-1) > 1e-4 {
			t.Errorf("at %v: noise %v, want %v", row, noise, k.noise)
		}
	}
}

// The search finds the noise, and that the second input says nothing.
func TestKernelSearch(t *testing.T) {
	d := bent(120, 0.1)
	s := kernelSearch{}
	s.x, s.y, s.count = d.kernelRows(kernelRows)
	k := s.find()
	if k.noise < 0.005 || k.noise > 0.02 || k.length[1] < 2*k.length[0] {
		t.Errorf("noise %v, want 0.01; lengths %v", k.noise, k.length)
	}
}
