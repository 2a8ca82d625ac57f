package experiment

import (
	"math"
	"slices"

	"utvi/internal/compute"
	"utvi/likelihood"
	"utvi/model"
)

// score returns a function that computes the mean negative log-likelihoods of the
// targets, each Normal with its predicted moments. It allocates once.
func (s emitterSet) score(m *model.Model, l likelihood.Predictive) func() []float64 {
	p := m.NewPredictor(s.x.Rows)
	return func() []float64 {
		scores := make([]float64, locScores)
		s.predictions(p, l, func(_ int, y, mean, variance []float64) {
			for k := range y {
				nll := likelihood.Normal{}.Score(y[k:k+1], mean[k:k+1], variance[k:k+1])
				scores[locX+k] += nll / float64(s.x.Rows)
			}
		})
		scores[locPosition] = (scores[locX] + scores[locY]) / 2
		return scores
	}
}

// predictions visits the predicted moments of the targets of every row.
func (s emitterSet) predictions(p *model.Predictor[float32], l likelihood.Predictive, visit func(row int, y, mean, variance []float64)) {
	out := p.Predict(s.x)
	var y, mean, variance [emitterTargets]float64
	for i := range s.x.Rows {
		_, targets := s.row(i)
		compute.Convert(y[:], targets)
		predictRow(l, out, i, mean[:], variance[:])
		visit(i, y[:], mean[:], variance[:])
	}
}

// maps returns the predicted variance and the squared error in each pixel, of a
// set with the same number of rows for each; both are means of x and y. ok is false if a
// number is not finite or not positive.
func (s emitterSet) maps(m *model.Model, l likelihood.Predictive) (variance, square emitterMap, ok bool) {
	each := s.x.Rows / emitterPixels
	share := 1 / float64(2*each)
	s.predictions(m.NewPredictor(s.x.Rows), l, func(row int, y, mean, v []float64) {
		for k := range 2 {
			e := mean[k] - y[k]
			square[row/each] += e * e * share
			variance[row/each] += v[k] * share
		}
	})
	ok = compute.Finite(variance[:]...) && compute.Finite(square[:]...) && slices.Min(variance[:]) > 0 && slices.Min(square[:]) > 0
	return variance, square, ok
}

// mapNumbers compare a network's maps with the exact bound.
type mapNumbers struct {
	Centre         float64 // squared error over the bound, in the four central pixels
	Median         float64 // the same in the median pixel
	Corner         float64 // the same in the four corners
	CentreVariance float64 // predicted variance over squared error, in the four central pixels
	MedianVariance float64 // the same in the median pixel
	Within         float64 // share of pixels with predicted variance over bound in 0.8 … 1.5
	Distance       float64 // root mean square over pixels of ln(predicted variance / bound)
	Correlation    float64 // of the logarithms of predicted variance and bound; it cannot see a common factor
}

func (n mapNumbers) metrics() map[string]float64 {
	return map[string]float64{
		"centre_error_over_bound": n.Centre, "median_error_over_bound": n.Median, "corner_error_over_bound": n.Corner,
		"centre_variance_over_error": n.CentreVariance, "median_variance_over_error": n.MedianVariance,
		"pixels_within": n.Within, "log_distance": n.Distance, "log_correlation": n.Correlation,
	}
}

func newMapNumbers(variance, square emitterMap) (n mapNumbers) {
	bound, _ := boundMaps()
	var errorRatio, varianceRatio, a, b []float64
	for p := range bound {
		errorRatio = append(errorRatio, square[p]/bound[p])
		varianceRatio = append(varianceRatio, variance[p]/square[p])
		q := variance[p] / bound[p]
		if q >= 0.8 && q <= 1.5 {
			n.Within += 1. / emitterPixels
		}
		l := math.Log(q)
		n.Distance += l * l / emitterPixels
		a, b = append(a, math.Log(variance[p])), append(b, math.Log(bound[p]))
	}
	// Sums over the four pixels in the rows and columns a and b.
	four := func(m *emitterMap, a, b int) (sum float64) {
		for _, i := range []int{a, b} {
			sum += m[i*emitterSide+a] + m[i*emitterSide+b]
		}
		return sum
	}
	centre := four(&square, emitterSide/2-1, emitterSide/2)
	n.Centre = centre / four(&bound, emitterSide/2-1, emitterSide/2)
	n.CentreVariance = four(&variance, emitterSide/2-1, emitterSide/2) / centre
	n.Corner = four(&square, 0, emitterSide-1) / four(&bound, 0, emitterSide-1)
	n.Median, n.MedianVariance = median(errorRatio), median(varianceRatio)
	n.Distance, n.Correlation = math.Sqrt(n.Distance), correlation(a, b)
	return n
}

// median is the middle number, or the mean of the middle two.
func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	n := len(x)
	return (x[(n-1)/2] + x[n/2]) / 2
}

// correlation is Pearson's; 0 where one side does not vary, or is not finite.
func correlation(a, b []float64) float64 {
	ma, sa := meanSD(a)
	mb, sb := meanSD(b)
	if !(sa > 0) || !(sb > 0) {
		return 0
	}
	var sum float64
	for i := range a {
		sum += (a[i] - ma) * (b[i] - mb)
	}
	return sum / float64(len(a)-1) / (sa * sb)
}
