package suggest

import (
	"context"
	"errors"
	"math"

	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/likelihood"
	"utvi/model"
	"utvi/predict"
	"utvi/rng"
	"utvi/vi"
)

// belief is what a model believes of rows: values of the function that belong together by draw, and
// what is predicted of each row alone.
type belief struct {
	rows   int
	number []int         // of each row among the candidates
	values [][][]float64 // by quantity, draw and row: of f, in the unit of the target
	noise  [][]float64   // by quantity and row: variance of what is measured, given f
	each   []alone
}

// alone is the prediction of one row.
type alone struct {
	mean, std, doubt []float64 // by target
	above            []float64 // probabilities of the requirements, as they are asked for
	ood              float64
}

// errCertain says that nothing can be learned from such a model.
var errCertain = errors.New("the model has no doubt: its weights have no variance and its networks agree, so no row would teach it more than another; fit a model with error bars")

// believe draws networks and predicts rows.
func believe(ctx context.Context, m *predict.Model, x gauss.Batch[float32], c Config, targets []int) (*belief, error) {
	b := &belief{rows: x.Rows, number: make([]int, x.Rows)}
	for i := range b.number {
		b.number[i] = i
	}
	if err := b.predict(ctx, m, x, c, targets); err != nil {
		return nil, err
	}
	x.Var = nil
	if targets != nil && len(m.Targets()) == 1 {
		b.keep(b.worth(c, targets[0]), &x)
		err := b.linear(ctx, m, x, c.Draws)
		if err != errOther {
			return b, err
		}
	}
	n := len(targets)
	if m.Classes() != nil {
		n = len(m.Classes())
	}
	b.values = make([][][]float64, n)
	for q := range b.values {
		b.values[q] = make([][]float64, c.Draws)
	}
	networks := m.Networks.Members
	pool := compute.NewPool(compute.Workers(0))
	defer pool.Close()
	errs := make([]error, len(networks))
	pool.Run(len(networks), func(_, k int) {
		errs[k] = b.draw(ctx, m, networks[k], k, x, targets)
	})
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return b, b.scale(targets)
}

// keep leaves some rows only.
func (b *belief) keep(rows []int, x *gauss.Batch[float32]) {
	if len(rows) == b.rows {
		return
	}
	kept := gauss.Batch[float32]{Rows: len(rows), Width: x.Width}
	was := *b
	b.rows = len(rows)
	b.number = rows
	b.each = nil
	b.noise = make([][]float64, len(was.noise))
	for _, row := range rows {
		kept.Mean = append(kept.Mean, x.Mean[row*x.Width:(row+1)*x.Width]...)
		b.each = append(b.each, was.each[row])
		for q := range b.noise {
			b.noise[q] = append(b.noise[q], was.noise[q][row])
		}
	}
	*x = kept
}

// drawRows is how many rows are carried through a drawn network at a time.
const drawRows = 512

// draw fills in the draws that belong to network k: every so many-th.
func (b *belief) draw(ctx context.Context, m *predict.Model, n *model.Model, k int, x gauss.Batch[float32], targets []int) error {
	l := n.Likelihood
	if l == nil {
		l = likelihood.Normal{}
	}
	reader, err := likelihood.NewReader(likelihood.Inner(l), n.Outputs())
	if err != nil {
		return err
	}
	quiet := n.WithoutNoise()
	d := quiet.Draw(rng.Key{})
	sampler := vi.NewSampler(quiet.Params)
	p := d.NewPredictor(min(drawRows, x.Rows))
	mean := make([]float32, reader.Numbers)
	other := make([]float32, reader.Numbers)
	noise := make([]float32, reader.Numbers)
	zeros := make([]float32, n.Outputs())
	step := len(m.Networks.Members)
	for s := k; s < len(b.values[0]); s += step {
		if err := ctx.Err(); err != nil {
			return err
		}
		// Draws of a network are antithetic: two and two lie opposite to each other.
		sampler.Draw(rng.New(7).Sub(uint64(s), uint32(k)), d.Params)
		if s/step%2 == 1 {
			sampler.Draw(rng.New(7).Sub(uint64(s-step), uint32(k)), d.Params)
			mirror(d.Params, quiet.Params)
		}
		d.Changed()
		for q := range b.values {
			b.values[q][s] = make([]float64, x.Rows)
		}
		for lo := 0; lo < x.Rows; lo += drawRows {
			out := p.Predict(x.Slice(lo, min(x.Rows, lo+drawRows)))
			for r := range out.Rows {
				reader.Split(out.Mean[r*out.Width:(r+1)*out.Width], zeros, mean, other, noise)
				for q := range b.values {
					b.values[q][s][lo+r] = inUnit(m, targets, q, float64(mean[at(targets, q)]))
				}
			}
		}
	}
	return nil
}

// at is the number that quantity q is among those of a network.
func at(targets []int, q int) int {
	if targets == nil {
		return q
	}
	return targets[q]
}

// inUnit is a network's number in the unit of its target; probabilities have none.
func inUnit(m *predict.Model, targets []int, q int, z float64) float64 {
	if targets == nil || m.Net == nil {
		return z
	}
	if w := m.Net.Warp(targets[q]); w != nil {
		z = w.Back(z)
	}
	c := m.Schema.Targets()[targets[q]]
	return z*c.SD + c.Mean
}

// mirror replaces drawn weights by those opposite to them.
func mirror(drawn, of *vi.Params[float32]) {
	for i, t := range of.Tensors {
		if !t.Random {
			continue
		}
		w := drawn.Tensors[i].Mean
		for j, m := range t.Mean {
			w[j] = 2*m - w[j]
		}
	}
}

// predict fills in what is predicted of each row alone.
func (b *belief) predict(ctx context.Context, m *predict.Model, x gauss.Batch[float32], c Config, targets []int) error {
	p, err := m.NewPredictor(predict.Options{Interval: -1})
	if err != nil {
		return err
	}
	names := m.Targets()
	quantities := len(targets)
	if targets == nil {
		quantities = len(m.Classes())
	}
	b.noise = make([][]float64, quantities)
	for q := range b.noise {
		b.noise[q] = make([]float64, x.Rows)
	}
	b.each = make([]alone, x.Rows)
	return p.Each(ctx, x, func(batch *predict.Batch, first int) error {
		for row := range batch.Len() {
			a := &b.each[first+row]
			a.ood = batch.OOD(row)
			if targets == nil {
				for q, p := range batch.Classes(row) {
					b.noise[q][first+row] = p * (1 - p)
				}
				continue
			}
			for q, n := range batch.Numbers(row) {
				a.mean = append(a.mean, n.Mean)
				a.std = append(a.std, n.Std)
				a.doubt = append(a.doubt, math.Sqrt(n.Variance.Weights))
				for i, t := range targets {
					if t == q {
						b.noise[i][first+row] = n.Variance.Noise + n.Variance.Inputs
					}
				}
			}
			for _, r := range c.Require {
				for q, name := range names {
					if name != r.Target {
						continue
					}
					below := batch.Dist(row, q).CDF(r.At)
					if r.Above {
						below = 1 - below
					}
					a.above = append(a.above, below)
				}
			}
		}
		return nil
	})
}

// scale widens the draws of numbers to the doubt that is predicted of each row: corrections that
// held-out rows asked for are in it, and none in drawn weights.
func (b *belief) scale(targets []int) error {
	doubtful := false
	for q := range b.values {
		draws := b.values[q]
		n := float64(len(draws))
		for row := range b.rows {
			var mean, squares float64
			for s := range draws {
				mean += draws[s][row] / n
			}
			for s := range draws {
				d := draws[s][row] - mean
				squares += d * d / n
			}
			if !(squares > 1e-14*(1+mean*mean)) {
				continue
			}
			doubtful = true
			if targets == nil {
				continue
			}
			ratio := min(max(b.each[row].doubt[targets[q]]/math.Sqrt(squares), 0.5), 3)
			for s := range draws {
				draws[s][row] = mean + ratio*(draws[s][row]-mean)
			}
		}
	}
	if !doubtful {
		return errCertain
	}
	return nil
}
