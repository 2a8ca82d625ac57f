package tabular

import (
	"math"
	"slices"

	"utvi/gauss"
	"utvi/internal/special"
	"utvi/model"
	"utvi/nn"
	"utvi/vi"
)

// setUnseen gives levels that no training row shows what such a level is: another one like
// those that training showed. Its mean is that of all levels, and it varies as they do.
//
// Training leaves such levels at the prior, which has one variance for all Normals of all
// levels. But the Normals of a level vary together: if levels differ in one respect, each of
// n Normals carries a part of it, and n independent Normals of the same size would make up
// only an n-th of its variance. So their variances are raised together until a prediction
// with a new level is as uncertain as predictions with the seen ones differ.
//
// A column of numbers that training never lacked (Data.Gaps) is such a category as well: the
// values of some rows are its levels, and the one that no row shows is the missing value.
//
// The shapes of residuals are applied to what networks predict, and correct variances but
// not the differences between means.
func setUnseen(m *model.Model, d Data, shapes []ResidualMixture) {
	var embedded nn.Embed
	for n := range m.Graph().All() {
		switch l := n.Layer.(type) {
		case nn.Embed:
			embedded = l
			for i, c := range l.Categories {
				u := newUnseen(m, d, shapes, n.Tensors[i], c.Width)
				for k := range c.Levels {
					u.add(level{row: k, at: c.Unit, inputs: []float32{float32(k)}})
				}
				u.set()
			}
		case nn.Dense: // the first one: a row of weights for each level that has an input
			for _, c := range d.Choices {
				u := newUnseen(m, d, shapes, n.Tensors[0], l.Out)
				for k := range c.To - c.From {
					one := make([]float32, c.To-c.From)
					one[k] = 1
					u.add(level{row: behind(embedded, c.From+k), at: c.From, inputs: one})
				}
				u.set()
			}
			for _, g := range d.Gaps {
				u := newUnseen(m, d, shapes, n.Tensors[0], l.Out)
				u.gap(g, embedded)
				u.set()
			}
			return
		}
	}
}

// behind is the place of a unit behind a layer that moves the units it replaces to the end.
func behind(l nn.Embed, unit int) int {
	at := unit
	for _, c := range l.Categories {
		if c.Unit < unit {
			at--
		}
	}
	return at
}

// A level of a category.
type level struct {
	row    int       // of the table
	at     int       // the first input of the category
	inputs []float32 // of the category where a row has this level
}

// put gives rows the level.
func (l level) put(x gauss.Batch[float32]) {
	for row := range x.Rows {
		copy(x.Mean[row*x.Width+l.at:], l.inputs)
	}
}

// An unseen category is one whose levels without rows are to be set.
type unseen struct {
	net    *model.Model
	data   Data
	shapes []ResidualMixture
	table  *vi.Tensor[float32] // a row of Normals for each level
	width  int                 // of a row

	known, other []level   // levels that training showed, and the others
	mean, v      []float64 // of the Normals of known levels

	most float64 // that variances are raised by, for each Normal of a row

	predictor *model.Predictor[float32]
}

func newUnseen(m *model.Model, d Data, shapes []ResidualMixture, t *vi.Tensor[float32], width int) *unseen {
	return &unseen{net: m, data: d, shapes: shapes, table: t, width: width, most: 4}
}

func (u *unseen) add(l level) {
	x := u.data.X
	for row := range x.Rows {
		if slices.Equal(x.Mean[row*x.Width+l.at:][:len(l.inputs)], l.inputs) {
			u.known = append(u.known, l)
			return
		}
	}
	u.other = append(u.other, l)
}

// gap makes the column one whose missing values are to be set. Without its value a prediction
// is about that for the mean, so weights have mean 0. Hidden units share the variance as they
// share what the value changes.
func (u *unseen) gap(g Span, embedded nn.Embed) {
	u.most = 200 // most of what the value changes may be in its features
	d := u.data
	t := u.table
	width := u.width
	for _, row := range d.some(compared) {
		u.known = append(u.known, level{at: g.From, inputs: d.X.Mean[row*d.X.Width+g.From : row*d.X.Width+g.To]})
	}
	missing := make([]float32, g.To-g.From)
	missing[len(missing)-1] = 1
	u.other = []level{{row: behind(embedded, g.To-1), at: g.From, inputs: missing}}
	u.mean, u.v = make([]float64, width), make([]float64, width)
	value := behind(embedded, g.From) * width
	for k := range u.v {
		w, sd := float64(t.Mean[value+k]), special.Softplus(float64(t.Rho[value+k]))
		u.v[k] = w*w + sd*sd
	}
}

// compared is how many rows, and how many levels, predictions are compared with.
const compared = 48

func (u *unseen) set() {
	if len(u.known) < 2 || len(u.other) == 0 {
		return
	}
	if u.mean == nil {
		u.average()
	}
	u.predictor = u.net.NewPredictor(chunk)
	some := u.data.pick(u.data.some(compared)).X
	step := (len(u.known) + compared - 1) / compared
	var numbers []level
	for i := 0; i < len(u.known); i += step {
		numbers = append(numbers, u.known[i])
	}
	want := u.variance(some, numbers)
	lo, hi := 0.0, math.Log(u.most*float64(u.width))
	for range 14 {
		mid := (lo + hi) / 2
		if u.widen(mid); u.variance(some, u.other[:1]) < want {
			lo = mid
		} else {
			hi = mid
		}
	}
	u.widen(lo)
}

// average finds what the Normals of known levels are.
func (u *unseen) average() {
	u.mean, u.v = make([]float64, u.width), make([]float64, u.width)
	n := float64(len(u.known))
	for _, l := range u.known {
		for k := range u.mean {
			u.mean[k] += float64(u.table.Mean[l.row*u.width+k]) / n
		}
	}
	for _, l := range u.known {
		for k, mean := range u.mean {
			sd, apart := special.Softplus(float64(u.table.Rho[l.row*u.width+k])), float64(u.table.Mean[l.row*u.width+k])-mean
			u.v[k] += (sd*sd + apart*apart) / n
		}
	}
}

// widen gives all levels that were not seen the mean of the others, and e^log times their
// variances.
func (u *unseen) widen(log float64) {
	for _, l := range u.other {
		for k := range u.mean {
			at := l.row*u.width + k
			u.table.Mean[at] = float32(u.mean[k])
			u.table.Rho[at] = float32(special.SoftplusInverse(math.Sqrt(math.Exp(log) * u.v[k])))
		}
	}
	u.net.Changed()
}

// variance is how much the targets of a row vary if its level is like some, summed over
// targets and averaged over rows. Of n levels that differ by a variance s, with n as divisor,
// another one differs from their mean by s·(n+1)/(n−1): n levels show the mean and the
// variance of all levels only roughly.
func (u *unseen) variance(x gauss.Batch[float32], levels []level) (total float64) {
	outputs := u.data.Outputs()
	if u.data.Classes > 0 {
		outputs = u.data.Classes
	}
	n := float64(len(levels))
	few := (n + 1) / max(1, n-1)
	sum := make([]float64, x.Rows*outputs)
	square := make([]float64, x.Rows*outputs)
	within := make([]float64, x.Rows*outputs)
	for _, l := range levels {
		l.put(x)
		out := u.predictor.Predict(x)
		for i := range sum {
			at := i/outputs*out.Width + i%outputs
			y := float64(out.Mean[at])
			sum[i] += y / n
			square[i] += y * y / n
			within[i] += float64(out.Var[at]) / n
		}
	}
	for i, y := range sum {
		between := few * max(0, square[i]-y*y)
		total += (within[i] + between/u.correction(i%outputs, y, within[i]+between)) / float64(x.Rows)
	}
	return total
}

// correction is what the variance v of a target with mean m will be multiplied by.
func (u *unseen) correction(target int, m, v float64) float64 {
	if u.shapes == nil {
		return 1
	}
	s := u.shapes[target]
	return s.Scale() * s.Level.Factor(m, v)
}
