package tabular

import (
	"math"

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
	if d.Levels == nil {
		return
	}
	for n := range m.Graph().All() {
		if l, ok := n.Layer.(nn.Embed); ok {
			for i, c := range l.Categories {
				newUnseen(m, d, c, n.Tensors[i]).set()
			}
		}
	}
}

// An unseen category is one whose levels without rows are to be set.
type unseen struct {
	nn.Category
	net   *model.Model
	table *vi.Tensor[float32]
	data  Data
	seen  []bool
	known []int // the levels that were seen
	mean  []float64
	v     []float64 // variances of the Normals among them

	predictor *model.Predictor[float32]
}

func newUnseen(m *model.Model, d Data, c nn.Category, t *vi.Tensor[float32]) *unseen {
	u := &unseen{Category: c, net: m, table: t, data: d, seen: make([]bool, c.Levels), mean: make([]float64, c.Width), v: make([]float64, c.Width)}
	for row := range d.X.Rows {
		u.seen[int(d.X.Mean[row*d.X.Width+c.Unit])] = true
	}
	for level, was := range u.seen {
		if was {
			u.known = append(u.known, level)
		}
	}
	n := float64(len(u.known))
	for _, level := range u.known {
		for k := range u.mean {
			u.mean[k] += float64(t.Mean[level*c.Width+k]) / n
		}
	}
	for _, level := range u.known {
		for k, mean := range u.mean {
			sd, apart := special.Softplus(float64(t.Rho[level*c.Width+k])), float64(t.Mean[level*c.Width+k])-mean
			u.v[k] += (sd*sd + apart*apart) / n
		}
	}
	return u
}

func (u *unseen) set() {
	const rows, levels = 48, 48 // that predictions are compared with
	if len(u.known) < 2 {
		return
	}
	u.predictor = u.net.NewPredictor(chunk)
	some := u.data.pick(u.data.some(rows)).X
	step := (len(u.known) + levels - 1) / levels
	var numbers []int
	for i := 0; i < len(u.known); i += step {
		numbers = append(numbers, u.known[i])
	}
	want := u.variance(some, numbers)
	other := []int{u.Levels - 2} // new levels
	lo, hi := 0.0, math.Log(4*float64(u.Width))
	for range 12 {
		mid := (lo + hi) / 2
		if u.widen(mid); u.variance(some, other) < want {
			lo = mid
		} else {
			hi = mid
		}
	}
	u.widen(lo)
}

// widen gives all levels that were not seen the mean of the others, and e^log times their
// variances.
func (u *unseen) widen(log float64) {
	for level, was := range u.seen {
		for k := range u.mean {
			if at := level*u.Width + k; !was {
				u.table.Mean[at] = float32(u.mean[k])
				u.table.Rho[at] = float32(special.SoftplusInverse(math.Sqrt(math.Exp(log) * u.v[k])))
			}
		}
	}
	u.net.Changed()
}

// variance is how much the targets of a row vary if its level is drawn from some, summed
// over targets and averaged over rows.
func (u *unseen) variance(x gauss.Batch[float32], levels []int) (mean float64) {
	outputs := u.data.Outputs()
	if u.data.Classes > 0 {
		outputs = u.data.Classes
	}
	n := float64(len(levels))
	sum, square := make([]float64, x.Rows*outputs), make([]float64, x.Rows*outputs)
	for _, level := range levels {
		for row := range x.Rows {
			x.Mean[row*x.Width+u.Unit] = float32(level)
		}
		out := u.predictor.Predict(x)
		for i := range sum {
			at := i/outputs*out.Width + i%outputs
			y := float64(out.Mean[at])
			sum[i] += y / n
			square[i] += (y*y + float64(out.Var[at])) / n
		}
	}
	for i, y := range sum {
		mean += max(0, square[i]-y*y) / float64(x.Rows)
	}
	return mean
}
