package bayes

import (
	"math"

	"utvi/data"
	"utvi/dist"
	"utvi/metric"
	"utvi/model"
)

// A baseline is what the trained network says of the rows.
type baseline struct {
	start []float64 // standard deviation of its errors on the rows of the training, one a target
	best  []float64 // log-likelihood of each held row, with the error bars that suit these rows best
}

// before scores the trained network.
func (k task) before(r *Result, n *model.Model, fitted, held data.Set) baseline {
	exact := func(s data.Set) []float32 {
		x := s.X
		x.Var = nil
		return append([]float32(nil), n.NewPredictor(x.Rows).Predict(x).Mean...)
	}
	out := exact(held)
	m := n.Outputs()
	if k.classes {
		z := k.logits(out)
		r.ClassesBefore = classes(z, m, held.Y, 1)
		return baseline{best: classRows(z, m, held.Y, bestTemperature(z, m, held.Y))}
	}
	spread := errorsOf(exact(fitted), fitted.Y, m)
	r.Before = numbers(out, func(i int) float64 { return spread[i%m] }, m, held.Y)
	best := errorsOf(out, held.Y, m)
	b := baseline{best: numberRows(out, func(i int) float64 { return best[i%m] }, m, held.Y)}
	// Noise starts at least at a millionth of the target's size, if the network hits all rows.
	for j, s := range spread {
		var size float64
		for i := j; i < len(fitted.Y); i += m {
			size = max(size, math.Abs(float64(fitted.Y[i])))
		}
		b.start = append(b.start, max(s, 1e-6*size))
	}
	return b
}

// errorsOf is the root mean square error of each of m targets.
func errorsOf(mean, y []float32, m int) []float64 {
	spread := make([]float64, m)
	for i, y := range y {
		e := float64(y) - float64(mean[i])
		spread[i%m] += e * e
	}
	for j, s := range spread {
		spread[j] = max(math.Sqrt(s*float64(m)/float64(len(y))), leastSD)
	}
	return spread
}

// leastSD keeps densities finite where a network hits every row.
const leastSD = 1e-12

// after scores the Bayesian network, beside the log-likelihood of each row before.
func (k task) after(r *Result, held data.Set, before []float64) error {
	e, err := model.NewEnsemble(r.Net)
	if err != nil {
		return err
	}
	h, err := e.NewHead(held.X.Rows)
	if err != nil {
		return err
	}
	p, err := h.TryPredict(held.X)
	if err != nil {
		return err
	}
	var now []float64
	if k.classes {
		z := make([]float64, len(p.Mean))
		for i, p := range p.Mean {
			z[i] = math.Log(max(float64(p), leastProbability))
		}
		r.ClassesAfter = classes(z, p.Width, held.Y, 1)
		now = classRows(z, p.Width, held.Y, 1)
	} else {
		sd := func(i int) float64 { return math.Sqrt(float64(p.Var[i])) }
		r.After = numbers(p.Mean, sd, p.Width, held.Y)
		now = numberRows(p.Mean, sd, p.Width, held.Y)
	}
	r.Gain = gain(before, now)
	return nil
}

// gain is the mean of the differences of rows, with its standard error.
func gain(before, now []float64) metric.Score {
	n := float64(len(now))
	var mean, square float64
	for i, x := range now {
		mean += (x - before[i]) / n
	}
	for i, x := range now {
		d := x - before[i] - mean
		square += d * d
	}
	return metric.Score{Value: mean, SE: math.Sqrt(square / max(1, n-1) / n)}
}

func numbers(mean []float32, sd func(i int) float64, width int, y []float32) []metric.RegressionScores {
	all := make([]metric.Regression, width)
	for i, m := range mean {
		all[i%width].Add(float64(y[i]), dist.Normal{Mu: float64(m), Sigma: max(sd(i), leastSD)}, 1)
	}
	scores := make([]metric.RegressionScores, width)
	for i := range all {
		scores[i] = all[i].Scores()
	}
	return scores
}

// numberRows is the log-likelihood of each row, over its targets.
func numberRows(mean []float32, sd func(i int) float64, width int, y []float32) []float64 {
	rows := make([]float64, len(mean)/width)
	for i, m := range mean {
		rows[i/width] += dist.Normal{Mu: float64(m), Sigma: max(sd(i), leastSD)}.LogPDF(float64(y[i]))
	}
	return rows
}
