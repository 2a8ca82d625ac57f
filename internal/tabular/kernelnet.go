package tabular

import (
	"math"
	"slices"
	"sync"

	"utvi/fn"
	"utvi/internal/cholesky"
	"utvi/internal/special"
	"utvi/likelihood"
	"utvi/model"
	"utvi/nn"
	"utvi/rng"
	"utvi/vi"
)

// A candidate with a kernel is a Gaussian process, written as a network of waves with random
// frequencies (Rahimi & Recht 2007) whose last layer has the exact posterior:
//
//	φ = sine of a map of the inputs      slow sines for the line, waves for what bends
//	z = L⁻¹·φ                            L the root of I + ΦᵀΦ/noise
//	f = b·z, b ~ N(L⁻¹Φᵀy/noise, 1)
//
// In the directions z, the posterior of weights whose prior is N(0, 1) is independent. The line ends where
// its sines do, far outside the training rows.

// The kinds of kernels.
const (
	lineKernel   = "line"   // a ridge regression with the noise and the prior of the evidence
	smoothKernel = "smooth" // and a part that bends
	mixedKernel  = "mixed"  // no kernel: a mixed model, which is solved as they are
)

const (
	slowness     = 0.05 // of the sines that stand for a line
	waveFeatures = 96   // frequencies, each a sine and a cosine
	mostKernel   = 128  // inputs
	asNumber     = 1e-7 // standard deviation of weights that are numbers
)

// kernels reports whether candidates with kernels can learn from the rows.
func (d Data) kernels() bool {
	if d.Classes > 0 || d.Outputs() != 1 || d.X.Var != nil || d.X.Width > mostKernel || d.X.Rows > fewestRows || d.counted {
		return false
	}
	return !slices.ContainsFunc(d.Levels, func(n int) bool { return n > 0 })
}

// A kernelMemo keeps the kernels of sets of rows, which do not depend on seeds.
type kernelMemo struct {
	mu    sync.Mutex
	known map[kernelKey]func() kernel
}

type kernelKey struct {
	rows *float32 // where the targets are
	kind string
}

// kernelOf is the kernel of rows. Rows of weight 0 do not count.
func (m *kernelMemo) kernelOf(kind string, d Data) kernel {
	key := kernelKey{&d.Y[0], kind}
	m.mu.Lock()
	if m.known == nil {
		m.known = map[kernelKey]func() kernel{}
	}
	find := m.known[key]
	if find == nil {
		find = sync.OnceValue(func() kernel {
			s := kernelSearch{lines: kind == lineKernel}
			s.x, s.y, s.count = d.kernelRows(kernelRows)
			return s.find()
		})
		m.known[key] = find
	}
	m.mu.Unlock()
	return find()
}

// kernelRows are at most so many rows, with their targets and what they count for, on average 1.
func (d Data) kernelRows(most int) (x [][]float64, y, count []float64) {
	var kept []int
	for i := range d.X.Rows {
		if d.weight(i) > 0 {
			kept = append(kept, i)
		}
	}
	scale := float64(len(kept)) / d.total()
	step := (len(kept) + most - 1) / most
	for k := 0; k < len(kept); k += step {
		i := kept[k]
		row := make([]float64, d.X.Width)
		for j := range row {
			row[j] = float64(d.X.Mean[i*d.X.Width+j])
		}
		x = append(x, row)
		y = append(y, float64(d.Y[i]))
		count = append(count, d.weight(i)*scale)
	}
	return x, y, count
}

// waves are the map of the inputs inside the sines, and what each sine is multiplied by.
type sines struct {
	weights [][]float64 // of each sine
	phase   []float64
	size    []float64
}

func (k kernel) sines(inputs int, seed uint64) (s sines) {
	add := func(w []float64, phase, size float64) {
		s.weights = append(s.weights, w)
		s.phase = append(s.phase, phase)
		s.size = append(s.size, size)
	}
	for j := range inputs {
		w := make([]float64, inputs)
		w[j] = slowness
		add(w, 0, math.Sqrt(k.line)/slowness)
	}
	if k.bend == 0 {
		return s
	}
	key := rng.New(seed).Sub(0, 9)
	for f := range waveFeatures {
		w := make([]float64, inputs)
		for j := range w {
			w[j] = rng.Normal(key, uint64(f*inputs+j)) / k.length[j]
		}
		size := math.Sqrt(k.bend / waveFeatures)
		add(w, 0, size)
		add(w, math.Pi/2, size)
	}
	return s
}

// features are those of a row, the last of them 1.
func (s sines) features(x []float64) []float64 {
	all := make([]float64, len(s.size)+1)
	for i, w := range s.weights {
		all[i] = s.size[i] * math.Sin(inner(w, x)+s.phase[i])
	}
	all[len(s.size)] = 1
	return all
}

// kernelNet is the network with the exact posterior.
func (c Candidate) kernelNet(k kernel, d Data, seed uint64) (*model.Model, error) {
	s := k.sines(d.X.Width, seed)
	x, y, count := d.kernelRows(math.MaxInt32)
	n := len(s.size) + 1
	a := square(n) // I + ΦᵀΦ/noise
	b := make([]float64, n)
	for i := range a {
		a[i][i] = 1
	}
	for r, row := range x {
		phi := s.features(row)
		w := count[r] / k.noise
		for i, p := range phi {
			b[i] += float64(w * p * y[r])
			for j, q := range phi[:i+1] {
				a[i][j] += float64(w * p * q)
			}
		}
	}
	cholesky.Factor(a, func(_ int, v float64) float64 { return math.Sqrt(max(v, 1)) })
	inverse := invertLower(a)
	layers := nn.Chain{nn.Dense{Out: n - 1}, nn.Apply{F: fn.Sin()}, nn.Dense{Out: n, Fixed: true}, nn.Dense{Out: 2}}
	if !c.Independent {
		layers = nn.Correlate(layers)
	}
	if c.Common > 0 {
		layers = append(layers, nn.Append{Count: 1, Start: math.Log(k.noise)})
	}
	m, err := model.New(model.Config{Input: nn.Vec(d.X.Width), Layers: layers, Seed: seed, Init: vi.Std(asNumber)})
	if err != nil {
		return nil, err
	}
	fill := m.Params.Tensors // weights and biases of three layers
	set(fill[0], func(i int) (float64, float64) { return s.weights[i%(n-1)][i/(n-1)], asNumber })
	set(fill[1], func(i int) (float64, float64) { return s.phase[i], asNumber })
	set(fill[2], func(i int) (float64, float64) { return s.size[i/n] * inverse[i%n][i/n], 0 })
	set(fill[3], func(i int) (float64, float64) { return inverse[i][n-1], 0 })
	set(fill[4], func(i int) (float64, float64) {
		if i%2 > 0 {
			return 0, asNumber
		}
		return inner(inverse[i/2], b), 1
	})
	set(fill[5], func(i int) (float64, float64) { return float64(i) * math.Log(k.noise), asNumber })
	m.Changed()
	return m, nil
}

// set gives the weights of a tensor their means and standard deviations.
func set(t *vi.Tensor[float32], of func(i int) (mean, sd float64)) {
	for i := range t.Mean {
		mean, sd := of(i)
		t.Mean[i] = float32(mean)
		if t.Rho != nil {
			t.Rho[i] = float32(special.SoftplusInverse(sd))
		}
	}
}

// solve is run of a candidate with a kernel, whose network needs no training. Its held-out rows look
// the same at every stop.
func (j *job) solve() (r result, err error) {
	if j.Kernel == mixedKernel {
		r.net, err = j.mixedNet(j.train, j.seed)
	} else {
		r.net, err = j.kernelNet(j.kernels.kernelOf(j.Kernel, j.train), j.train, j.seed)
	}
	if err != nil {
		return r, err
	}
	l := j.likelihoodOf(j.train)
	r.net.Likelihood = l
	if j.train.Weights != nil {
		r.net.Likelihood = likelihood.Weighted{Of: l}
	}
	r.step = j.steps
	r.err = r.log.add(j.steps, newJudge(r.net, l, j.held))
	if r.err != nil {
		return r, nil
	}
	last := r.log.Curve[0]
	held := r.log.Held[0]
	r.log = record{}
	for i := 1; i <= stops && j.stop(i) <= j.steps; i++ {
		last.Step = j.stop(i)
		r.log.Curve = append(r.log.Curve, last)
		r.log.Held = append(r.log.Held, held)
	}
	return r, nil
}
