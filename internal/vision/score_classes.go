package vision

import (
	"math"

	"utvi/dist"
	"utvi/internal/calibrate"
	"utvi/model"
)

// scoreClasses scores probabilities at the temperature that suits the images held out.
func scoreClasses(head *model.Head, of sample) scored {
	var rows []calibrate.Row[int, dist.Categorical]
	for lo := 0; lo < of.x.Rows; lo += chunk {
		out := head.Predict(of.x.Slice(lo, min(of.x.Rows, lo+chunk)))
		for i := range out.Rows {
			rows = append(rows, calibrate.Row[int, dist.Categorical]{
				Target:     int(of.y[lo+i]),
				Prediction: probabilities(out.Mean[i*out.Width : (i+1)*out.Width]),
				Weight:     1,
			})
		}
	}
	var s scored
	s.judge(s.temper(rows))
	return s
}

// temper finds the temperature that suits predictions.
func (s *scored) temper(rows []calibrate.Row[int, dist.Categorical]) []calibrate.Row[int, dist.Categorical] {
	all := func(yield func(calibrate.Row[int, dist.Categorical]) bool) {
		for _, x := range rows {
			if !yield(x) {
				return
			}
		}
	}
	if t, err := calibrate.FitTemperature(all); err == nil { // too few images: none
		s.temperature = t
	}
	return rows
}

// probabilities are outputs of a softmax, which float32 rounds off 1.
func probabilities(mean []float32) dist.Categorical {
	p := make(dist.Categorical, len(mean))
	var sum float64
	for k, v := range mean {
		p[k] = max(float64(v), 0)
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
	return p
}

// judge scores predictions.
func (s *scored) judge(rows []calibrate.Row[int, dist.Categorical]) {
	var sum, square float64
	p := make(dist.Categorical, 0)
	for _, x := range rows {
		p = append(p[:0], x.Prediction...)
		if s.temperature != nil {
			s.temperature.Apply(p, p)
		}
		const least = 1e-30 // as in likelihood.Categorical
		l := -math.Log(max(p[x.Target], least))
		sum += l
		square += l * l
	}
	n := float64(len(rows))
	s.nll = sum / n
	s.se = math.Sqrt(max(0, square/n-s.nll*s.nll) / n)
}
