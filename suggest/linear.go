package suggest

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"utvi/gauss"
	"utvi/internal/cholesky"
	"utvi/laplace"
	"utvi/likelihood"
	"utvi/model"
	"utvi/predict"
	"utvi/rng"
)

// Independent weights are too sure between clusters of rows, which is where something can be learned.
// So the weights of networks that predict one number are drawn from the covariance that package
// laplace computes from the rows that the model remembers: of the linearised networks,
//
//	f_s(x) = m(x) + L·z ,  L·L' = J·Σ·J' .

const (
	mostLinear   = 700 // candidates whose covariances are computed
	mostBehind   = 400 // remembered rows that tell about the weights
	mostNetworks = 5   // that are linearised
)

// errOther says that a model is no subject of the linear way.
var errOther = errors.New("suggest: other networks")

// linear draws values of candidates from the linearised networks; errOther if they cannot be.
func (b *belief) linear(ctx context.Context, m *predict.Model, x gauss.Batch[float32], draws int) error {
	if m.Classes() != nil || len(m.Targets()) != 1 || m.Net == nil || m.Schema == nil {
		return errOther
	}
	behind, err := remembered(m)
	if err != nil {
		return err
	}
	if behind.Rows < 2 {
		return errOther
	}
	stand := m.Memory.Rows
	behind = thin(behind, mostBehind)
	behind.Var = nil
	networks := m.Networks.Members[:min(mostNetworks, len(m.Networks.Members))]
	values := make([][]float64, draws)
	for k, n := range networks {
		if err := ctx.Err(); err != nil {
			return err
		}
		mean, root, err := linearised(n, behind, x, stand/float64(behind.Rows))
		if err != nil {
			return errOther
		}
		z := make([]float64, x.Rows)
		for s := k; s < draws; s += len(networks) {
			sign := 1.0
			key := rng.New(11).Sub(uint64(s), uint32(k))
			if s/len(networks)%2 == 1 { // opposite to the draw before
				sign = -1
				key = rng.New(11).Sub(uint64(s-len(networks)), uint32(k))
			}
			for i := range z {
				z[i] = sign * rng.Normal(key, uint64(i))
			}
			values[s] = make([]float64, x.Rows)
			for i, row := range root {
				v := mean[i]
				for j, r := range row[:i+1] {
					v += r * z[j]
				}
				values[s][i] = inUnit(m, []int{0}, 0, v)
			}
		}
	}
	b.values = [][][]float64{values}
	return nil
}

// thin are at most so many rows, evenly spaced.
func thin(x gauss.Batch[float32], most int) gauss.Batch[float32] {
	if x.Rows <= most {
		return x
	}
	out := gauss.Batch[float32]{Rows: most, Width: x.Width}
	for i := range most {
		row := i * x.Rows / most
		out.Mean = append(out.Mean, x.Mean[row*x.Width:(row+1)*x.Width]...)
	}
	return out
}

// linearised is the mean of a network's first output at candidates, and the root of its covariances,
// given rows that each stand for so many.
func linearised(n *model.Model, behind, x gauss.Batch[float32], stand float64) (mean []float64, root [][]float64, err error) {
	l := n.Likelihood
	if l == nil {
		l = likelihood.Normal{}
	}
	switch likelihood.Inner(l).(type) {
	case likelihood.Heteroscedastic, likelihood.Normal:
	default:
		return nil, nil, errOther
	}
	reader, err := likelihood.NewReader(l, n.Outputs())
	if err != nil {
		return nil, nil, err
	}
	j, err := laplace.NewJacobians(n.WithoutNoise())
	if err != nil {
		return nil, nil, err
	}
	known, err := j.Rows(behind)
	if err != nil {
		return nil, nil, err
	}
	w := precisions(n, reader, behind, stand)
	p, err := laplace.New(known.Combine(1, laplace.Precisions(w, []int{0}, known.K)), laplace.Config{})
	if err != nil {
		return nil, nil, err
	}
	all, err := j.Rows(x)
	if err != nil {
		return nil, nil, err
	}
	ones := make([]float64, x.Rows)
	for i := range ones {
		ones[i] = 1
	}
	one := all.Combine(1, laplace.Precisions(ones, []int{0}, all.K))
	cov := p.Covariance(one)
	root = make([][]float64, x.Rows)
	var most float64
	for i := range root {
		root[i] = cov[i*x.Rows : (i+1)*x.Rows]
		most = max(most, root[i][i])
	}
	for i := range root {
		root[i][i] += 1e-6*most + 1e-12
	}
	floor := 1e-7*most + 1e-13
	cholesky.Factor(root, func(_ int, s float64) float64 { return math.Sqrt(max(s, floor)) })
	return one.Mean, root, nil
}

// precisions are 1/(noise + v) of rows, each times what it stands for.
func precisions(n *model.Model, reader *likelihood.Reader, x gauss.Batch[float32], stand float64) []float64 {
	p := n.NewPredictor(x.Rows)
	out := p.Predict(x)
	w := make([]float64, x.Rows)
	mean := make([]float32, reader.Numbers)
	doubt := make([]float32, reader.Numbers)
	noise := make([]float32, reader.Numbers)
	for r := range w {
		at := r * out.Width
		reader.Split(out.Mean[at:at+out.Width], out.Var[at:at+out.Width], mean, doubt, noise)
		w[r] = stand / max(float64(noise[0])+float64(doubt[0]), 1e-6)
	}
	return w
}

// worth are the candidates that are looked at closely: those that may be good, and some of all.
func (b *belief) worth(c Config, target int) []int {
	rows := make([]int, 0, mostLinear)
	if b.rows <= mostLinear {
		for i := range b.rows {
			rows = append(rows, i)
		}
		return rows
	}
	taken := make([]bool, b.rows)
	take := func(i int) {
		if !taken[i] {
			taken[i] = true
			rows = append(rows, i)
		}
	}
	const even = mostLinear / 2
	for i := range even {
		take(i * b.rows / even)
	}
	for _, i := range b.promising(c, target) {
		if len(rows) == mostLinear {
			break
		}
		take(i)
	}
	return rows
}

// promising are all candidates, the best first by an optimist: by two standard deviations of doubt.
func (b *belief) promising(c Config, target int) []int {
	hope := make([]float64, b.rows)
	all := make([]int, b.rows)
	for i := range all {
		all[i] = i
		a := &b.each[i]
		switch c.Goal {
		case Min:
			hope[i] = a.mean[target] - 2*a.doubt[target]
		case Max:
			hope[i] = -a.mean[target] - 2*a.doubt[target]
		case Near:
			hope[i] = max(0, math.Abs(a.mean[target]-c.At)-2*a.doubt[target])
		default:
			hope[i] = -a.doubt[target]
		}
	}
	slices.SortStableFunc(all, func(i, j int) int { return cmp.Compare(hope[i], hope[j]) })
	return all
}
