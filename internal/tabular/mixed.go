package tabular

import (
	"math"

	"utvi/internal/cholesky"
	"utvi/model"
	"utvi/nn"
	"utvi/vi"
)

// randomEffects are a mixed model: a line in the inputs, with an effect for each level of every embedded column:
//
//	y = b·x + Σ u_k[level of column k] + noise,  u_k ~ N(0, size_k)
//
// Blocks of the posterior (the line, and each column) are taken as independent of each other, so that
// crossed columns cost no more than one. Within a column the levels are. The variances are those
// of the evidence, by expectation and maximisation.
type randomEffects struct {
	d       Data
	others  []int // inputs that are not the number of a level
	effects []effect
	count   []float64 // what each row counts for, on average 1
	total   float64
	rest    []float64 // of each row: the target less what is predicted
	line    []float64 // b, the constant last
	doubt   []float64 // its variances
	spread  float64   // what the doubt of the line adds to the squares of all rows
	noise   float64
}

// An effect is that of the levels of a column.
type effect struct {
	input   int
	size    float64   // variance among levels
	mean, v []float64 // of each level, its posterior
	rows    []float64 // of each level
	sum     []float64
}

const (
	mixedRounds = 100
	mixedEnough = 1e-3 // change of a logarithm of a variance that ends the search
	mixedWork   = 4e9  // products of inputs, in all rows, that a mixed model may take
)

// mixes reports whether a mixed model can learn from the rows.
func (d Data) mixes() bool {
	if d.Classes > 0 || d.Outputs() != 1 || d.X.Var != nil || d.X.Width > mostKernel || d.counted || d.embedding(false) == nil {
		return false
	}
	return float64(d.X.Rows)*float64(d.X.Width+1)*float64(d.X.Width+1) < mixedWork
}

// newRandomEffects is the mixed model of the rows. Those of weight 0 do not count.
func newRandomEffects(d Data) *randomEffects {
	m := &randomEffects{d: d, noise: 0.5}
	for j := range d.X.Width {
		if !d.numbersLevels(j) {
			m.others = append(m.others, j)
			continue
		}
		n := d.Levels[j]
		m.effects = append(m.effects, effect{input: j, size: 0.3, mean: make([]float64, n), v: make([]float64, n), rows: make([]float64, n), sum: make([]float64, n)})
	}
	kept := 0
	for i := range d.X.Rows {
		kept += one(d.weight(i) > 0)
	}
	scale := float64(kept) / d.total()
	for i := range d.X.Rows {
		c := d.weight(i) * scale
		m.count = append(m.count, c)
		m.total += c
		m.rest = append(m.rest, float64(d.Y[i]))
		for k := range m.effects {
			e := &m.effects[k]
			e.rows[m.level(e, i)] += c
		}
	}
	m.line = make([]float64, len(m.others)+1)
	m.doubt = make([]float64, len(m.others)+1)
	m.find()
	return m
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// level is the level of a column in a row.
func (m *randomEffects) level(e *effect, row int) int {
	return int(m.d.X.Mean[row*m.d.X.Width+e.input])
}

// input is what a coefficient of the line is multiplied by in a row.
func (m *randomEffects) input(row, k int) float64 {
	if k == len(m.others) {
		return 1
	}
	return float64(m.d.X.Mean[row*m.d.X.Width+m.others[k]])
}

// find alternates between the posterior and the variances.
func (m *randomEffects) find() {
	products := m.products()
	for range mixedRounds {
		m.findLine(products)
		before := m.noise
		change := 0.0
		squares := m.spread
		for k := range m.effects {
			e := &m.effects[k]
			was := e.size
			squares += m.findEffect(e)
			change = max(change, math.Abs(math.Log(e.size/was)))
		}
		for i, r := range m.rest {
			squares += float64(m.count[i] * r * r)
		}
		m.noise = max(squares/m.total, leastNoise)
		if max(change, math.Abs(math.Log(m.noise/before))) < mixedEnough {
			break
		}
	}
}

// products are the sums over rows of the products of two inputs.
func (m *randomEffects) products() [][]float64 {
	n := len(m.line)
	all := square(n)
	x := make([]float64, n)
	for row, c := range m.count {
		for k := range x {
			x[k] = m.input(row, k)
		}
		for i, a := range x {
			a *= c
			for j, b := range x[:i+1] {
				all[i][j] += float64(a * b)
			}
		}
	}
	return all
}

// findLine is the posterior of the line, of which each coefficient is expected to be N(0, 1).
func (m *randomEffects) findLine(products [][]float64) {
	n := len(m.line)
	m.move(1)
	b := make([]float64, n)
	for row, c := range m.count {
		r := c * m.rest[row] / m.noise
		for k := range b {
			b[k] += float64(r * m.input(row, k))
		}
	}
	root := square(n)
	for i := range n {
		for j := range i + 1 {
			root[i][j] = products[i][j] / m.noise
		}
		root[i][i]++
		m.doubt[i] = 1 / root[i][i]
	}
	cholesky.Factor(root, func(_ int, v float64) float64 { return math.Sqrt(max(v, 1e-9)) })
	inverse := invertLower(root)
	half := make([]float64, n)
	for i := range half {
		half[i] = inner(inverse[i][:i+1], b)
	}
	m.spread = 0
	for i := range n {
		m.line[i] = 0
		for k := i; k < n; k++ {
			m.line[i] += float64(inverse[k][i] * half[k])
		}
		for j := range i + 1 { // covariance times products
			var cov float64
			for k := i; k < n; k++ {
				cov += float64(inverse[k][i] * inverse[k][j])
			}
			if i != j {
				cov *= 2
			}
			m.spread += float64(cov * products[i][j])
		}
	}
	m.move(-1)
}

// move adds the line, times a sign, to the rest of all rows.
func (m *randomEffects) move(sign float64) {
	for row := range m.rest {
		var at float64
		for k, b := range m.line {
			at += float64(b * m.input(row, k))
		}
		m.rest[row] += sign * at
	}
}

// findEffect is the posterior of the levels of a column, and the variance among those that rows show. It
// returns what their doubt adds to the squares of all rows.
func (m *randomEffects) findEffect(e *effect) (squares float64) {
	clear(e.sum)
	for row, c := range m.count {
		l := m.level(e, row)
		m.rest[row] += e.mean[l]
		e.sum[l] += float64(c * m.rest[row])
	}
	var size, seen float64
	for l, n := range e.rows {
		e.v[l] = 1 / (n/m.noise + 1/e.size)
		e.mean[l] = e.v[l] * e.sum[l] / m.noise
		if n > 0 {
			size += float64(e.mean[l]*e.mean[l]) + e.v[l]
			seen++
			squares += float64(n * e.v[l])
		}
	}
	e.size = max(size/max(seen, 1), leastNoise)
	for row := range m.rest {
		m.rest[row] -= e.mean[m.level(e, row)]
	}
	return squares
}

// mixedNet is the network with this posterior: a Normal for each level, and a linear layer.
func (c Candidate) mixedNet(d Data, seed uint64) (*model.Model, error) {
	m := newRandomEffects(d)
	var all []nn.Category
	for _, e := range m.effects {
		all = append(all, nn.Category{Unit: e.input, Levels: len(e.mean), Width: 1})
	}
	layers := nn.Chain{nn.Embed{Categories: all}, nn.Dense{Out: 2}}
	if !c.Independent {
		layers = nn.Correlate(layers)
	}
	if c.Common > 0 {
		layers = append(layers, nn.Append{Count: 1, Start: math.Log(m.noise)})
	}
	net, err := model.New(model.Config{Input: nn.Vec(d.X.Width), Layers: layers, Seed: seed, Init: vi.Std(asNumber)})
	if err != nil {
		return nil, err
	}
	fill := net.Params.Tensors // the levels of each column, then weights and biases
	for k, e := range m.effects {
		set(fill[k], func(l int) (float64, float64) { return e.mean[l], math.Sqrt(e.v[l]) })
	}
	fill = fill[len(m.effects):]
	last := len(m.others)
	set(fill[0], func(i int) (float64, float64) {
		switch {
		case i%2 > 0:
			return 0, asNumber
		case i/2 < last:
			return m.line[i/2], math.Sqrt(m.doubt[i/2])
		}
		return 1, asNumber
	})
	set(fill[1], func(i int) (float64, float64) {
		if i > 0 {
			return math.Log(m.noise), asNumber
		}
		return m.line[last], math.Sqrt(m.doubt[last])
	})
	net.Changed()
	return net, nil
}
