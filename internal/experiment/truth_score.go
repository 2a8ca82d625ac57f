package experiment

import (
	"math"
	"slices"

	"utvi/gauss"
	"utvi/likelihood"
	"utvi/model"
	"utvi/rng"
	"utvi/vi"
)

// The scores of a mark. NLLs are means over test rows, of a Normal with the propagated
// moments and of one with those of the drawn networks (of the localisation: of x and
// y); ratios are σ propagated / σ drawn of the weights' part, over rows (and x and y).
// The localisation has those of the photons as well.
const (
	truthNLL = iota
	truthDrawnNLL
	truthMedian
	truthP05
	truthP95
	truthPhotons // its median, p05 and p95
)

const (
	truthInputs = 8
	truthTrain  = 400
	truthTest   = 100
)

// truthRows are rows with their targets.
type truthRows struct {
	x gauss.Batch[float32]
	y []float32
}

// newTruthTable makes a table of eight Normal inputs. The target depends on five of them,
// on two by their product, and has Normal noise of 0.3; its variance is about 1.
func newTruthTable(key rng.Key, rows int) truthRows {
	t := truthRows{gauss.Fixed(truthInputs, make([]float32, rows*truthInputs)), make([]float32, rows)}
	for i := range rows {
		x := t.x.Mean[i*truthInputs:][:truthInputs]
		for j := range x {
			x[j] = float32(rng.Normal(key, uint64(16*i+j)))
		}
		at := func(j int) float64 { return float64(x[j]) }
		f := 0.7*at(0) - 0.5*at(1) + 0.4*math.Sin(2*at(2)) + 0.3*at(3)*at(4)
		t.y[i] = float32(f + 0.3*rng.Normal(key, uint64(16*i+15)))
	}
	return t
}

// scores draws networks and compares their outputs with the propagated ones.
func (t truthRows) scores(m *model.Model, networks int, seed uint64) []float64 {
	out := m.NewPredictor(t.x.Rows).Predict(t.x)
	n := len(out.Mean)
	sum := make([]float64, n)
	sum2 := make([]float64, n)
	noise := make([]float64, n)
	drawn, draws := m.Draw(rng.Key{}), vi.NewSampler(m.Params)
	p := drawn.NewPredictor(t.x.Rows)
	key := rng.New(seed).Sub(0, 9)
	for k := range networks {
		draws.Draw(key.Sub(uint64(k), 2), drawn.Params)
		drawn.Changed()
		y := p.Predict(t.x)
		for i, y := range y.Mean {
			d := float64(y) - float64(out.Mean[i]) // little cancels
			sum[i] += d
			sum2[i] += d * d
		}
		for i, v := range y.Var {
			noise[i] += float64(v) / float64(networks)
		}
	}
	targets := len(t.y) / t.x.Rows
	judged := min(targets, 2) // x and y
	scores := make([]float64, truthPhotons)
	var ratios, photons []float64
	for i, m := range out.Mean {
		bias := sum[i] / float64(networks)
		v := (sum2[i] - sum[i]*bias) / float64(networks-1)
		propagated := float64(out.Var[i])
		ratio := math.Sqrt(max(0, propagated-noise[i]) / v)
		if i%targets >= judged {
			photons = append(photons, ratio)
			continue
		}
		ratios = append(ratios, ratio)
		nll := func(mean, variance float64) float64 {
			return likelihood.Normal{}.Score([]float64{float64(t.y[i])}, []float64{mean}, []float64{variance}) / float64(judged*t.x.Rows)
		}
		scores[truthNLL] += nll(float64(m), propagated)
		scores[truthDrawnNLL] += nll(float64(m)+bias, v+noise[i])
	}
	copy(scores[truthMedian:], spread(ratios))
	if photons != nil {
		scores = append(scores, spread(photons)...)
	}
	return scores
}

// spread is the median, the 5th and the 95th percentile.
func spread(x []float64) []float64 {
	slices.Sort(x)
	at := func(p float64) float64 { return x[int(math.Round(p*float64(len(x)-1)))] }
	return []float64{median(x), at(0.05), at(0.95)}
}
