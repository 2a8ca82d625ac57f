package tabular

import (
	"math"

	"utvi/likelihood"
	"utvi/model"
)

// held are a network's predictions of held-out rows: mean and variance of each
// target, or the probability of the class that was right.
type heldOutPredictions struct {
	Mean []float32 `json:"mean"`
	Var  []float32 `json:"var,omitempty"` // nil for classes
}

// logp is ln p of prediction i, a row's target, widened to its shape.
func (h heldOutPredictions) logp(i int, d Data, shapes []ResidualMixture) float64 {
	if h.Var == nil {
		return math.Log(max(1e-30, float64(h.Mean[i])))
	}
	m, v := float64(h.Mean[i]), float64(h.Var[i])
	t := i % d.Outputs()
	v *= shapes[t].Level.Factor(m, v)
	switch {
	case d.counted:
		unit := d.Step[t]
		return shapes[t].logCount(math.Round(d.count(t, float64(d.Y[i]))), d.count(t, m), v/(unit*unit))
	case d.from != nil:
		return shapes[t].logMass(d.from[i], d.to[i], m, v)
	}
	e := float64(d.Y[i]) - m
	l := shapes[t].logNormal(e, v)
	if d.slopes != nil {
		l += float64(d.slopes[i])
	}
	return l
}

// A judge predicts the same held-out rows again and again.
type judge struct {
	held Data
	net  *model.Predictor[float32]
	by   likelihood.Likelihood
}

// chunk is how many rows are predicted at a time.
const chunk = 960

func newJudge(m *model.Model, l likelihood.Likelihood, d Data) *judge {
	return &judge{d, m.NewPredictor(chunk), l}
}

func (j *judge) predict() heldOutPredictions {
	var h heldOutPredictions
	x, k := j.held.X, j.held.Outputs()
	if x.Rows == 0 {
		return h
	}
	h.Mean = make([]float32, 0, x.Rows*k)
	by, numbers := j.by.(likelihood.Predictive)
	if numbers {
		h.Var = make([]float32, 0, x.Rows*k)
	}
	var row rowMoments
	for lo := 0; lo < x.Rows; lo += chunk {
		hi := min(x.Rows, lo+chunk)
		out := j.net.Predict(x.Slice(lo, hi))
		for i := range hi - lo {
			if !numbers {
				h.Mean = append(h.Mean, out.Mean[i*out.Width+int(j.held.Y[lo+i])])
				continue
			}
			row.load(out.Mean[i*out.Width:(i+1)*out.Width], out.Var[i*out.Width:(i+1)*out.Width], k)
			by.Predict(row.mean, row.variance, row.ymean, row.yvar)
			for t := range k {
				h.Mean, h.Var = append(h.Mean, float32(row.ymean[t])), append(h.Var, float32(row.yvar[t]))
			}
		}
	}
	return h
}

// rowMoments is a row's outputs as likelihoods take them, and its targets'.
type rowMoments struct{ mean, variance, ymean, yvar []float64 }

func (r *rowMoments) load(mean, variance []float32, targets int) {
	if r.mean == nil {
		r.mean, r.variance = make([]float64, len(mean)), make([]float64, len(mean))
		r.ymean, r.yvar = make([]float64, targets), make([]float64, targets)
	}
	for i := range mean {
		r.mean[i], r.variance[i] = float64(mean[i]), float64(variance[i])
	}
}
