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
func setUnseen(m *model.Model, d Data) {
	var embedded nn.Embed
	for n := range m.Graph().All() {
		switch l := n.Layer.(type) {
		case nn.Embed:
			embedded = l
			for i, c := range l.Categories {
				u := newUnseen(m, d, n.Tensors[i], c.Width)
				for k := range c.Levels {
					u.add(level{row: k, at: c.Unit, inputs: []float32{float32(k)}})
				}
				u.set()
			}
		case nn.Dense: // the first one: a row of weights for each level that has an input
			for _, c := range d.Choices {
				u := newUnseen(m, d, n.Tensors[0], l.Out)
				for k := range c.To - c.From {
					one := make([]float32, c.To-c.From)
					one[k] = 1
					u.add(level{row: behind(embedded, c.From+k), at: c.From, inputs: one})
				}
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
	net   *model.Model
	data  Data
	table *vi.Tensor[float32] // a row of Normals for each level
	width int                 // of a row

	known, other []level   // levels that training showed, and the others
	mean, v      []float64 // of the Normals of known levels

	predictor *model.Predictor[float32]
}

func newUnseen(m *model.Model, d Data, t *vi.Tensor[float32], width int) *unseen {
	return &unseen{net: m, data: d, table: t, width: width}
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

func (u *unseen) set() {
	const rows, levels = 48, 48 // that predictions are compared with
	if len(u.known) < 2 || len(u.other) == 0 {
		return
	}
	u.average()
	u.predictor = u.net.NewPredictor(chunk)
	some := u.data.pick(u.data.some(rows)).X
	step := (len(u.known) + levels - 1) / levels
	var numbers []level
	for i := 0; i < len(u.known); i += step {
		numbers = append(numbers, u.known[i])
	}
	want := u.variance(some, numbers)
	lo, hi := 0.0, math.Log(4*float64(u.width))
	for range 12 {
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
	sum, square := make([]float64, x.Rows*outputs), make([]float64, x.Rows*outputs)
	for _, l := range levels {
		l.put(x)
		out := u.predictor.Predict(x)
		for i := range sum {
			at := i/outputs*out.Width + i%outputs
			y := float64(out.Mean[at])
			sum[i] += y / n
			square[i] += y * y / n
			total += float64(out.Var[at]) / n / float64(x.Rows)
		}
	}
	for i, y := range sum {
		total += few * max(0, square[i]-y*y) / float64(x.Rows)
	}
	return total
}
