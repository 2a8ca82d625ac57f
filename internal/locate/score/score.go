// Package score compares localisations with the truth: which found emitter is which, how far off the
// places are, and whether the error bars hold.
package score

import (
	"cmp"
	"math"
	"slices"
)

// A Point is a place in a frame, in pixels.
type Point struct{ X, Y float64 }

// Match pairs found points with true ones: the nearest two first, within a tolerance. It returns for
// each found point the number of the true one; −1: none.
func Match(found, truth []Point, tolerance float64) []int {
	type pair struct {
		d2   float64
		f, t int
	}
	var pairs []pair
	for i, f := range found {
		for j, t := range truth {
			dx, dy := f.X-t.X, f.Y-t.Y
			d2 := dx*dx + dy*dy
			if d2 <= tolerance*tolerance {
				pairs = append(pairs, pair{d2, i, j})
			}
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.d2, b.d2), cmp.Compare(a.f, b.f), cmp.Compare(a.t, b.t))
	})
	of := make([]int, len(found))
	for i := range of {
		of[i] = -1
	}
	taken := make([]bool, len(truth))
	for _, p := range pairs {
		if of[p.f] < 0 && !taken[p.t] {
			of[p.f] = p.t
			taken[p.t] = true
		}
	}
	return of
}

// An Error is that of one matched localisation: its distance from the truth along x and y, and the
// standard deviations that were promised, all in one unit.
type Error struct{ DX, DY, SX, SY float64 }

// A Summary is how good a list of localisations is. Distances are per axis and in the unit of the
// errors.
type Summary struct {
	Found, True, Matched int
	Jaccard              float64 // matched / (found + missed)
	RMSE                 float64
	HalfRMSE             float64 // of the half with the smallest promised deviations
	Spread               float64 // robust standard deviation of error/promise; 1 is right
	Holds                float64 // share of errors within the 90 % interval
	Median               float64 // promised standard deviation
	Bias                 float64 // larger of the two mean errors
}

// Summarise scores matched errors of so many found and true emitters.
func Summarise(errors []Error, found, truth int) Summary {
	s := Summary{Found: found, True: truth, Matched: len(errors)}
	if len(errors) == 0 {
		return s
	}
	s.Jaccard = float64(len(errors)) / float64(found+truth-len(errors))
	s.RMSE = rmse(errors)
	var z, promised []float64
	var bx, by float64
	for _, e := range errors {
		z = append(z, math.Abs(e.DX)/e.SX, math.Abs(e.DY)/e.SY)
		promised = append(promised, math.Hypot(e.SX, e.SY)/math.Sqrt2)
		bx += e.DX
		by += e.DY
	}
	s.Bias = max(math.Abs(bx), math.Abs(by)) / float64(len(errors))
	const ninety = 1.6448536269514722
	for _, x := range z {
		if x <= ninety {
			s.Holds += 1 / float64(len(z))
		}
	}
	const quartile = 0.6744897501960817
	s.Spread = Median(z) / quartile
	s.Median = Median(promised)
	best := slices.Clone(errors)
	slices.SortStableFunc(best, func(a, b Error) int { return cmp.Compare(math.Hypot(a.SX, a.SY), math.Hypot(b.SX, b.SY)) })
	s.HalfRMSE = rmse(best[:(len(best)+1)/2])
	return s
}

func rmse(errors []Error) float64 {
	sum := 0.0
	for _, e := range errors {
		sum += e.DX*e.DX + e.DY*e.DY
	}
	return math.Sqrt(sum / float64(2*len(errors)))
}

// Median is the median of numbers, which it sorts.
func Median(x []float64) float64 {
	slices.Sort(x)
	n := len(x)
	if n%2 == 1 {
		return x[n/2]
	}
	return (x[n/2-1] + x[n/2]) / 2
}
