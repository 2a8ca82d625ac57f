package tabular

import (
	"fmt"
	"math"
)

// Held-out rows are predicted by networks that saw fewer rows than the members do. Where
// errors shrink quickly with more rows, intervals that fit held-out rows are too wide for
// the members. On small tables the best candidate therefore also learns from half of the
// rows of every fold, and the errors of the members follow from the ratio.

// learns reports whether the fit finds out how errors shrink with more rows.
func (r *run) learns() bool { return r.used > 2 && r.classes == 0 && !r.data.counted }

// halfJob trains a candidate on half of the rows of a fold that count.
func (r *run) halfJob(f fold, number int, t *Trial, c int) *job {
	var half []int
	n := number // so that folds take other halves
	for i := range f.train.X.Rows {
		if f.train.weight(i) > 0 {
			if n++; n%2 == 0 {
				half = append(half, i)
			}
		}
	}
	return r.job(t.Candidate, f.train.pick(half), f.held, fmt.Sprintf("trial-%d-%d-half", number, c), r.key.Sub(uint64(number), 4), r.trial, t.Stop)
}

// narrow is what the variances of a target shrink by from held-out rows to the members:
// (1 − 1/folds)^slope, where e² falls by n^−slope.
func (r *run) narrow(folds []fold, halves []*result, t *Trial, c, target int) float64 {
	var half, all float64 // sums of |e|, in standard deviations that were predicted from all rows
	for i, f := range folds {
		if halves[i].err != nil || len(halves[i].log.Held) < t.Stop {
			continue
		}
		k := f.held.Outputs()
		off := func(x *result, at int) float64 {
			return math.Abs(float64(f.held.Y[at]) - float64(x.log.Held[t.Stop-1].Mean[at]))
		}
		for row := range f.held.X.Rows {
			at := row*k + target
			for _, x := range f.by[c] {
				w := f.held.weight(row) / math.Sqrt(float64(x.log.Held[t.Stop-1].Var[at]))
				half, all = half+w*off(halves[i], at), all+w*off(x, at)
			}
		}
	}
	if half == 0 || all == 0 {
		return 1
	}
	return math.Pow(1-1/float64(r.folds), slope(2*math.Log(half/all)))
}

// slope is −d ln e²/d ln n at n rows, where e² is e^ratio times as large at n/2. Errors are
// a power of n, or noise and a part that falls by 1/n: the one of the two that promises less.
func slope(ratio float64) float64 {
	return max(0, min(ratio/math.Ln2, math.Expm1(ratio)))
}
