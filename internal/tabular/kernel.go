package tabular

import (
	"math"

	"utvi/internal/cholesky"
)

// A kernel is the covariance of a function of a row, as a Gaussian process has it: a level, a line,
// and what bends over the lengths of the inputs. The noise has one variance.
//
//	k(x, x') = 1 + line·x·x' + bend·exp(−½ Σ ((x_j − x'_j)/length_j)²)
type kernel struct {
	noise, line, bend float64
	length            []float64 // of each input
}

const (
	kernelRows   = 128  // that the kernel is learned from: the cost grows with their cube
	kernelRounds = 40   // of its search
	leastNoise   = 1e-4 // of the noise variance, in squares of the target's unit
)

// A kernelSearch finds the kernel under which targets are most probable, with a prior that keeps
// lengths of inputs that say little near each other.
type kernelSearch struct {
	x        [][]float64 // rows
	y, count []float64   // targets, and what each row counts for
	lines    bool        // nothing bends

	line, bend [][]float64 // parts of the covariance, without their factors
	k          [][]float64 // the covariance, then its root, then its inverse
	root       [][]float64
	alpha      []float64
}

// A guess is what a number of the kernel is expected to be: its logarithm and the deviation of this.
type guess struct{ mean, sd float64 }

// guesses are those of noise, line, bend and all lengths.
func (s *kernelSearch) guesses() []guess {
	d := float64(len(s.x[0]))
	all := []guess{{math.Log(0.2), 2}, {math.Log(0.5 / d), 2}, {math.Log(0.5), 1.5}}
	if s.lines {
		return all[:2]
	}
	for range s.x[0] {
		all = append(all, guess{0.5 + math.Log(d)/2, 1})
	}
	return all
}

// find climbs the evidence: each number by steps of its own, which grow while its slope keeps its sign.
func (s *kernelSearch) find() kernel {
	prior := s.guesses()
	at := make([]float64, len(prior))
	step := make([]float64, len(prior))
	slope := make([]float64, len(prior))
	before := make([]float64, len(prior))
	best := make([]float64, len(prior))
	for i, p := range prior {
		at[i] = p.mean
		step[i] = 0.3
	}
	s.prepare()
	top := math.Inf(-1)
	for range kernelRounds {
		value := s.evidence(s.kernel(at), slope)
		for i, p := range prior {
			z := (at[i] - p.mean) / p.sd
			value -= z * z / 2
			slope[i] -= z / p.sd
		}
		if value > top {
			top = value
			copy(best, at)
		}
		for i := range at {
			switch turned := slope[i] * before[i]; {
			case turned > 0:
				step[i] = min(1.2*step[i], 1)
			case turned < 0:
				step[i] *= 0.5
				slope[i] = 0
			}
			before[i] = slope[i]
			at[i] += math.Copysign(step[i], slope[i]) * min(1, math.Abs(slope[i])*1e9)
			at[i] = max(prior[i].mean-8, min(at[i], prior[i].mean+8))
		}
		at[0] = max(at[0], math.Log(leastNoise))
	}
	return s.kernel(best)
}

// kernel is what logarithms stand for.
func (s *kernelSearch) kernel(logs []float64) kernel {
	k := kernel{noise: math.Exp(logs[0]), line: math.Exp(logs[1])}
	if s.lines {
		return k
	}
	k.bend = math.Exp(logs[2])
	for _, l := range logs[3:] {
		k.length = append(k.length, math.Exp(l))
	}
	return k
}

func square(n int) [][]float64 {
	all := make([][]float64, n)
	for i := range all {
		all[i] = make([]float64, n)
	}
	return all
}

func (s *kernelSearch) prepare() {
	n := len(s.x)
	s.line = square(n)
	s.bend = square(n)
	s.k = square(n)
	s.root = square(n)
	s.alpha = make([]float64, n)
	for i, a := range s.x {
		for j, b := range s.x[:i+1] {
			s.line[i][j] = inner(a, b)
		}
	}
}

func inner(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += float64(x * b[i])
	}
	return sum
}

// evidence is ln p of the targets, up to a constant, with its slopes by the logarithms of the kernel.
func (s *kernelSearch) evidence(k kernel, slope []float64) float64 {
	n := len(s.x)
	for i := range n {
		for j := range i + 1 {
			s.bend[i][j] = 0
			if !s.lines {
				s.bend[i][j] = k.bends(s.x[i], s.x[j])
			}
			s.root[i][j] = 1 + k.line*s.line[i][j] + s.bend[i][j]
		}
		s.root[i][i] += k.noise / s.count[i]
	}
	cholesky.Factor(s.root, func(_ int, v float64) float64 { return math.Sqrt(max(v, leastNoise/100)) })
	value := s.invert()
	for i := range n {
		s.alpha[i] = 0
		for j := range n {
			s.alpha[i] += float64(s.k[max(i, j)][min(i, j)] * s.y[j])
		}
	}
	value -= inner(s.alpha, s.y) / 2
	s.slopes(k, slope)
	return value
}

// invert makes the inverse of the covariance of its root, and returns −½ of the logarithm of its
// determinant.
func (s *kernelSearch) invert() (value float64) {
	n := len(s.x)
	inverse := invertLower(s.root)
	for i := range n {
		value -= math.Log(s.root[i][i])
		for j := range i + 1 {
			s.k[i][j] = 0
		}
	}
	for m := range n { // a row of the inverse root adds to what is before it
		row := inverse[m]
		for i := range m + 1 {
			for j, x := range row[:i+1] {
				s.k[i][j] += float64(row[i] * x)
			}
		}
	}
	return value
}

// invertLower is the inverse of a lower triangular matrix.
func invertLower(l [][]float64) [][]float64 {
	n := len(l)
	inverse := square(n)
	for i := range n {
		row := inverse[i]
		for k := range i {
			f := l[i][k]
			for j, x := range inverse[k][:k+1] {
				row[j] -= float64(f * x)
			}
		}
		for j := range i {
			row[j] /= l[i][i]
		}
		row[i] = 1 / l[i][i]
	}
	return inverse
}

// slopes are half the trace of (α αᵀ − K⁻¹) times the derivative of K.
func (s *kernelSearch) slopes(k kernel, slope []float64) {
	clear(slope)
	for i, a := range s.x {
		for j, b := range s.x[:i+1] {
			g := s.alpha[i]*s.alpha[j] - s.k[i][j]
			if i == j {
				g /= 2
				slope[0] += g * k.noise / s.count[i]
			}
			slope[1] += g * k.line * s.line[i][j]
			if s.lines || i == j {
				slope[min(2, len(slope)-1)] += g * s.bend[i][j]
				continue
			}
			e := g * s.bend[i][j]
			slope[2] += e
			for t, x := range a {
				z := (x - b[t]) / k.length[t]
				slope[3+t] += float64(e * z * z)
			}
		}
	}
}

// bends is the part of the covariance that bends.
func (k kernel) bends(a, b []float64) float64 {
	var q float64
	for t, x := range a {
		z := (x - b[t]) / k.length[t]
		q += float64(z * z)
	}
	return k.bend * math.Exp(-q/2)
}
