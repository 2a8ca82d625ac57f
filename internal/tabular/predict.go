package tabular

import (
	"math"
	"slices"

	"utvi/dist"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/widths"
	"utvi/likelihood"
	"utvi/model"
)

// A Predictor carries rows through a model. It belongs to one goroutine and
// allocates nothing after it is made.
type Predictor struct {
	head *model.Head
	far  *measure
	all  []float32 // room for OOD
	out  Predictions
}

// Predictions are the predictions of a batch of rows, row-major. They are valid until the next call.
// Variances belong to the predictive distribution, widened to the mixture that
// residuals have (see ResidualMixture).
type Predictions struct {
	*model.Predictions

	// OOD (out of distribution) says how unlike the training rows a row is, from 0: the
	// larger of its inputs' Mahalanobis distance and the standard deviation due to
	// the weights, each divided by the value that 99 of 100 training rows stay below.
	OOD []float32

	residuals []ResidualMixture
	plain     []float32              // variance due to the weights, without Apart; nil: Weights
	scale     *likelihood.CountScale // of counts
}

// NewPredictor returns a predictor for batches of at most maxRows rows, which shares
// its work among the workers of a pool; nil is a pool of one worker.
func (f *Fitted) NewPredictor(pool *compute.Pool, maxRows int) *Predictor {
	var spread []widths.Target
	var plain []float32
	if slices.ContainsFunc(f.Residuals, func(s ResidualMixture) bool { return s.Apart > 0 }) {
		plain = make([]float32, maxRows*len(f.Residuals))
	}
	for _, s := range f.Residuals {
		spread = append(spread, widths.Target{Apart: float32(s.Apart), Plain: plain, Scale: float32(s.Scale()), Level: s.Level, Support: s.Support})
	}
	head, err := f.Members.NewHeadOn(pool, maxRows, spread)
	if err != nil { // a Fitted that was loaded or trained has been checked
		panic("tabular: the networks do not predict the targets")
	}
	p := &Predictor{head: head, far: f.InputStats.measure(maxRows), all: make([]float32, maxRows), out: Predictions{residuals: f.Residuals, plain: plain}}
	if l, ok := likelihood.Inner(f.Members.Members[0].Likelihood).(likelihood.Count); ok {
		p.out.scale = l.Scale
	}
	return p
}

// Predict predicts the rows of x. With variances of the inputs it takes twice as
// long.
func (p *Predictor) Predict(x gauss.Batch[float32]) *Predictions {
	v := &p.out
	v.Predictions, v.OOD = p.head.Predict(x), p.all[:x.Rows]
	p.far.ood(x, v)
	return v
}

// TryPredict is Predict that returns an error where Predict panics: for rows of
// another width, too many rows, or a negative variance.
func (p *Predictor) TryPredict(x gauss.Batch[float32]) (*Predictions, error) {
	v := &p.out
	var err error
	v.Predictions, err = p.head.TryPredict(x)
	if err != nil {
		return nil, err
	}
	v.OOD = p.all[:x.Rows]
	p.far.ood(x, v)
	return v, nil
}

// Dist fills m with the distribution of what the networks predict for a row's target: the
// target itself, unless Fitted.Warp names a transform.
func (v *Predictions) Dist(row, target int, m *dist.Mixture) {
	m.Reset()
	s := v.residuals[target]
	for k := range v.Members() {
		mean, variance := v.Member(k, row*v.Width+target)
		for j, w := range s.W {
			m.Add(w, float64(mean), math.Sqrt(float64(variance)*s.R[j]))
		}
	}
}
