package net

import "math"

// A Scale corrects standard deviations, so that of held-out 90 % intervals 90 % hold the truth: of
// emitters alone (0) and of those with others near (1), and wherever the network widens the bound by
// about as much.
type Scale struct {
	At    [2][]float64 `json:"at"` // logarithms of the standard deviation in units of the bound, rising
	Times [2][]float64 `json:"times"`
}

// Of is the factor for an emitter with so many others near and predicted variances in units of
// the bound. Between the points it runs straight.
func (s *Scale) Of(near int, vx, vy float64) float64 {
	at, times := s.At[min(near, 1)], s.Times[min(near, 1)]
	if len(at) == 0 {
		return 1
	}
	x := Widening(vx, vy)
	if !(x > at[0]) {
		return times[0]
	}
	for i := 1; i < len(at); i++ {
		if x < at[i] {
			u := (x - at[i-1]) / (at[i] - at[i-1])
			return times[i-1]*(1-u) + times[i]*u
		}
	}
	return times[len(times)-1]
}

// Widening is the logarithm of the mean standard deviation in units of the bound.
func Widening(vx, vy float64) float64 { return math.Log(vx*vy) / 4 }
