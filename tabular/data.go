package tabular

import (
	"fmt"
	"slices"

	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/rng"
)

// Data are encoded rows: inputs and numeric targets of about mean 0 and standard
// deviation 1.
type Data struct {
	X       gauss.Batch[float32] // without Var the inputs are exact
	Y       []float32            // row-major: Targets numbers, or the index of a class
	Targets int                  // numbers of a row; 0 stands for 1
	Classes int                  // 0: regression
	Weights []float32            // what a row counts for; nil: all the same

	// Groups numbers what belongs together: rows of a group are held out together.
	// Nil lets every row stand alone.
	Groups []int32
	// Ordered says that rows are in the order of time: the last are held out.
	Ordered bool
}

func (d Data) targets() int { return max(1, d.Targets) }

const (
	leastRows  = 10
	mostInputs = 1 << 20
)

// Check reports data that no network can be fitted to.
func (d Data) Check() error {
	n, k := d.X.Rows, d.targets()
	switch {
	case n < leastRows:
		return fmt.Errorf("there are %d rows to learn from; at least %d are needed", n, leastRows)
	case d.X.Width < 1 || d.X.Width > mostInputs:
		return fmt.Errorf("a row has %d inputs; there must be 1 to %d", d.X.Width, mostInputs)
	case len(d.X.Mean) != n*d.X.Width || d.X.Var != nil && len(d.X.Var) != n*d.X.Width:
		return fmt.Errorf("%d rows of %d inputs do not hold %d numbers and %d variances", n, d.X.Width, len(d.X.Mean), len(d.X.Var))
	case d.Targets < 0 || d.Classes < 0 || d.Classes == 1 || d.Classes > 0 && k > 1:
		return fmt.Errorf("%d targets and %d classes; there must be numeric targets, or one target with at least 2 classes", k, d.Classes)
	case len(d.Y) != n*k:
		return fmt.Errorf("%d rows of %d targets need %d numbers, not %d", n, k, n*k, len(d.Y))
	case d.Weights != nil && len(d.Weights) != n, d.Groups != nil && len(d.Groups) != n:
		return fmt.Errorf("%d rows have %d weights and %d groups; there must be one for each row, or none", n, len(d.Weights), len(d.Groups))
	}
	w := d.X.Width
	for i, x := range d.X.Mean {
		if !compute.Finite(x) {
			return fmt.Errorf("input %d of row %d is %v; it must be finite", i%w, i/w, x)
		}
	}
	for i, v := range d.X.Var {
		if !(v >= 0) || !compute.Finite(v) {
			return fmt.Errorf("the variance of input %d of row %d is %v; it must be finite and ≥ 0", i%w, i/w, v)
		}
	}
	for i, y := range d.Y {
		switch {
		case !compute.Finite(y):
			return fmt.Errorf("target %d of row %d is %v; it must be finite", i%k, i/k, y)
		case d.Classes > 0 && !(y >= 0 && int(y) < d.Classes && y == float32(int(y))):
			return fmt.Errorf("the class of row %d is %v; it must be a whole number from 0 to %d", i, y, d.Classes-1)
		}
	}
	if d.Groups != nil && !d.Ordered && !slices.ContainsFunc(d.Groups, func(g int32) bool { return g != d.Groups[0] }) {
		return fmt.Errorf("all %d rows are of one group; at least 2 are needed, to hold one out", n)
	}
	for i, w := range d.Weights {
		if !(w >= 0) || !compute.Finite(w) {
			return fmt.Errorf("the weight of row %d is %v; it must be a finite number ≥ 0", i, w)
		}
	}
	if d.total() == 0 {
		return fmt.Errorf("all %d weights are 0; some row must count", n)
	}
	return nil
}

// pick returns the given rows.
func (d Data) pick(rows []int) Data {
	w, k := d.X.Width, d.targets()
	p := d
	p.X = gauss.Batch[float32]{Rows: len(rows), Width: w, Mean: gather(d.X.Mean, w, rows), Var: gather(d.X.Var, w, rows)}
	p.Y, p.Weights, p.Groups = gather(d.Y, k, rows), gather(d.Weights, 1, rows), nil
	return p
}

func gather(from []float32, width int, rows []int) []float32 {
	if from == nil {
		return nil
	}
	to := make([]float32, 0, len(rows)*width)
	for _, r := range rows {
		to = append(to, from[r*width:(r+1)*width]...)
	}
	return to
}

// weight is what row i counts for, as it was given.
func (d Data) weight(i int) float64 {
	if d.Weights == nil {
		return 1
	}
	return float64(d.Weights[i])
}

// total is what all rows count for.
func (d Data) total() (sum float64) {
	for i := range d.X.Rows {
		sum += d.weight(i)
	}
	return sum
}

// table returns targets and weights as a trainer takes them: weights of mean 1
// behind the targets of each row.
func (d Data) table() (targets int, y []float32) {
	if d.Weights == nil {
		return d.targets(), d.Y
	}
	scale := float64(len(d.Weights)) / d.total()
	k := d.targets()
	for i, w := range d.Weights {
		y = append(y, d.Y[i*k:(i+1)*k]...)
		y = append(y, float32(float64(w)*scale))
	}
	return k + 1, y
}

// folds gives every row one of n folds: drawn, with groups kept together, or the
// last rows in fold 0 where they are in order.
func (d Data) folds(n int, key rng.Key) []int {
	fold := make([]int, d.X.Rows)
	if d.Ordered {
		for i := range fold {
			fold[i] = 1
			if i >= d.X.Rows-max(1, d.X.Rows/n) {
				fold[i] = 0
			}
		}
		return fold
	}
	of := func(i int) int32 { return int32(i) }
	if d.Groups != nil {
		of = func(i int) int32 { return d.Groups[i] }
	}
	// Groups in order of appearance, so that their numbers do not matter.
	place := map[int32]int{}
	for i := range fold {
		if _, ok := place[of(i)]; !ok {
			place[of(i)] = len(place)
		}
	}
	perm := make([]int, len(place))
	rng.Perm(key, perm)
	for i := range fold {
		fold[i] = perm[place[of(i)]] % n
	}
	return fold
}

// split returns the rows in a fold, and the others.
func split(fold []int, held int) (in, out []int) {
	for i, f := range fold {
		if f == held {
			out = append(out, i)
		} else {
			in = append(in, i)
		}
	}
	return slices.Clip(in), slices.Clip(out)
}
