package tabular

import (
	"errors"
	"math"
	"slices"

	"utvi/gauss"
	"utvi/internal/cholesky"
	"utvi/internal/compute"
	"utvi/internal/compute/product"
)

// InputStats are statistics of the inputs of the training rows: their mean, and the
// inverse root A of their covariance, so that |A(x − mean)| is the Mahalanobis
// distance. Without A, columns are treated as independent.
type InputStats struct {
	Mean []float32 `json:"mean"`
	Root []float32 `json:"root,omitempty"` // A, lower triangular, row-major; nil: diagonal
	Inv  []float32 `json:"inv,omitempty"`  // its diagonal, without Root

	// 99 of 100 training rows are below these: the distance, measured from the other rows,
	// and the standard deviation due to the weights, the largest of a row's targets.
	Distance float64 `json:"distance"`
	Doubt    float64 `json:"doubt"`
}

const (
	mostCoupled = 256   // inputs whose covariance is kept
	usualRows   = 10000 // that quantiles are taken of
	ridge       = 0.01  // of the mean variance: off a flat cloud, distances stay finite
)

func (u InputStats) check(inputs int) error {
	coupled := len(u.Root) == inputs*inputs && u.Inv == nil
	if len(u.Mean) != inputs || !coupled && (len(u.Inv) != inputs || u.Root != nil) || !(u.Distance > 0) || !(u.Doubt > 0) {
		return errors.New("the statistics of the training inputs are incomplete")
	}
	return nil
}

// learnInputStats describes the training rows.
func (f *Fitted) learnInputStats(d Data) {
	n, w := d.X.Rows, d.X.Width
	mean := make([]float64, w)
	for i, x := range d.X.Mean {
		mean[i%w] += float64(x) / float64(n)
	}
	x := d.withoutLevels(mean)
	f.InputStats = InputStats{Mean: make([]float32, w), Distance: 1, Doubt: 1}
	compute.Convert(f.InputStats.Mean, mean)
	if w <= mostCoupled {
		f.InputStats.Root = inverseRoot(covariance(x, mean))
	} else {
		f.InputStats.Inv = inverseSpread(x, mean)
	}
	f.InputStats.ignore(d)
	x = d.pick(d.some(usualRows)).X
	p := f.NewPredictor(nil, chunk)
	var distances, doubts []float64
	for lo := 0; lo < x.Rows; lo += chunk {
		v := p.Predict(x.Slice(lo, min(x.Rows, lo+chunk)))
		for i := range v.Rows {
			distances = append(distances, p.far.distance(i))
			doubts = append(doubts, v.doubt(i))
		}
	}
	parts := 1
	if f.InputStats.Inv != nil {
		parts = w
	}
	leaveOut(distances, n, parts)
	f.InputStats.Distance, f.InputStats.Doubt = high(distances), high(doubts)
}

// leaveOut replaces the distances of training rows by what they would be from the other
// n − 1 rows, as new rows are. A row draws the mean and the covariance to itself: of n rows
// with n/2 inputs, new ones are about √2 times as far. By the formula of Sherman and Morrison,
// a square q becomes n/(n−1) · q/(1−q/(n−1)). Where a distance has parts, each from its own
// variance, the formula holds for each; q is then taken as evenly shared.
//
// A row that alone shows a level would be as far as a new level then. A few of such rows must
// not set the scale of all, so no square grows by more than 4 times as much as the mean.
func leaveOut(distances []float64, n, parts int) {
	rest := float64(n-1) * float64(parts)
	var mean float64
	for _, d := range distances {
		mean += min(1, d*d/rest) / float64(len(distances))
	}
	for i, d := range distances {
		left := max(1-d*d/rest, (1-mean)/4, 1e-6)
		distances[i] = d * math.Sqrt(float64(n)/float64(n-1)/left)
	}
}

// withoutLevels returns the inputs with their mean in place of the numbers of levels, which
// have no distance.
func (d Data) withoutLevels(mean []float64) gauss.Batch[float32] {
	x := d.X
	if d.Levels == nil {
		return x
	}
	x.Mean = slices.Clone(x.Mean)
	for i := range x.Mean {
		if j := i % x.Width; d.numbersLevels(j) {
			mean[j] = 0
			x.Mean[i] = 0
		}
	}
	return x
}

// ignore takes the numbers of levels out of the distance.
func (u *InputStats) ignore(d Data) {
	w := len(u.Mean)
	for j := range d.Levels {
		if !d.numbersLevels(j) {
			continue
		}
		if u.Inv != nil {
			u.Inv[j] = 0
			continue
		}
		for k := range w {
			u.Root[j*w+k], u.Root[k*w+j] = 0, 0
		}
	}
}

// high is the 99 % quantile, above 0.
func high(x []float64) float64 {
	slices.Sort(x)
	return max(x[(len(x)-1)*99/100], 1e-6)
}

// doubt is the largest standard deviation due to the weights of a row's targets, of counts
// relative to their mean, and without what the networks disagree about, added to each: training rows do
// not show how much that usually is in others; for classes, the root of the summed variances.
func (v *Predictions) doubt(row int) float64 {
	w := len(v.Weights) / v.Rows
	if v.scale != nil {
		return v.countDoubt(row)
	}
	var most, sum float64
	weights := v.Weights
	if v.plain != nil {
		weights = v.plain
	}
	for _, x := range weights[row*w : (row+1)*w] {
		most = max(most, float64(x))
		sum += float64(x)
	}
	if v.Classes {
		most = sum
	}
	return math.Sqrt(most)
}

func covariance(x gauss.Batch[float32], mean []float64) [][]float64 {
	w := x.Width
	c := make([][]float64, w)
	for j := range c {
		c[j] = make([]float64, w)
	}
	row := make([]float64, w)
	step := max(1, x.Rows/100_000)
	count := float64((x.Rows + step - 1) / step)
	for r := 0; r < x.Rows; r += step {
		for j := range row {
			row[j] = float64(x.Mean[r*w+j]) - mean[j]
		}
		for j, a := range row {
			for k, b := range row[:j+1] {
				c[j][k] += float64(a*b) / count
			}
		}
	}
	var trace float64
	for j := range c {
		trace += c[j][j]
	}
	for j := range c {
		c[j][j] += max(ridge*trace/float64(w), 1e-12)
	}
	return c
}

// inverseRoot returns the inverse of the Cholesky factor of c, whose lower half is
// given.
func inverseRoot(c [][]float64) []float32 {
	n := len(c)
	cholesky.Factor(c, func(_ int, s float64) float64 { return math.Sqrt(max(s, 1e-300)) })
	inv := make([]float32, n*n)
	col := make([]float64, n)
	for k := range n { // column k: forward substitution
		for j := k; j < n; j++ {
			s := 0.0
			if j == k {
				s = 1
			}
			for i := k; i < j; i++ {
				s -= float64(c[j][i] * col[i])
			}
			col[j] = s / c[j][j]
			inv[j*n+k] = float32(col[j])
		}
	}
	return inv
}

func inverseSpread(x gauss.Batch[float32], mean []float64) []float32 {
	w := x.Width
	v := make([]float64, w)
	var trace float64
	for i, m := range x.Mean {
		d := float64(m) - mean[i%w]
		v[i%w] += float64(d*d) / float64(x.Rows)
		trace += float64(d*d) / float64(x.Rows)
	}
	inv := make([]float32, w)
	for j := range v {
		inv[j] = float32(1 / math.Sqrt(v[j]+max(ridge*trace/float64(w), 1e-12)))
	}
	return inv
}

// A measure computes how far rows are from the usual ones.
type measure struct {
	InputStats
	root            product.Right[float32]
	centred, scaled []float32
	width           int
}

func (u InputStats) measure(maxRows int) *measure {
	w := len(u.Mean)
	m := &measure{InputStats: u, width: w, centred: make([]float32, maxRows*w), scaled: make([]float32, maxRows*w)}
	if u.Root != nil {
		m.root = product.NewRight[float32](w, w)
		m.root.Pack(u.Root, 1, w) // Aᵀ
	}
	return m
}

func (m *measure) ood(x gauss.Batch[float32], v *Predictions) {
	w := m.width
	for i := range x.Rows * w {
		m.centred[i] = x.Mean[i] - m.Mean[i%w]
	}
	if m.Root != nil {
		product.Mul(product.To(m.scaled, w), product.Rows(m.centred, w), x.Rows, m.root)
	} else {
		for i := range x.Rows * w {
			m.scaled[i] = m.centred[i] * m.Inv[i%w]
		}
	}
	for i := range v.OOD {
		v.OOD[i] = float32(max(m.distance(i)/m.Distance, v.doubt(i)/m.Doubt))
	}
}

// distance is the Mahalanobis distance of row i of the last call.
func (m *measure) distance(i int) float64 {
	var sum float32
	for _, x := range m.scaled[i*m.width : (i+1)*m.width] {
		sum += x * x
	}
	return math.Sqrt(float64(sum))
}
