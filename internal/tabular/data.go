package tabular

import (
	"cmp"
	"fmt"
	"slices"

	"utvi/data"
	"utvi/gauss"
	"utvi/rng"
)

// Data are encoded rows: inputs and numeric targets of about mean 0 and standard
// deviation 1, or the index of a class as the one target.
type Data struct {
	data.Set
	Classes int // 0: regression

	// Groups numbers what belongs together: rows of a group are held out together.
	// Nil lets every row stand alone.
	Groups []int32
	// Levels holds, for each input that numbers the levels of a category, how many numbers
	// there are, at least 2, and 0 for all other inputs. Such an input is a whole number from
	// 0, and is embedded (nn.Embed). The last number but one stands for levels that no row
	// shows, the last one for what is missing. Nil: all inputs are numbers.
	Levels []int
	// Choices are the inputs of categories whose levels have an input each: 1 for the level
	// of the row, 0 for all other levels. An input of a category that
	// is 0 in all rows stands for levels that no row shows: a prediction is then as uncertain
	// as it differs between known levels.
	Choices []Span
	// Gaps are the inputs of columns that are missing in no row. The last input of such a
	// column says that it is missing, and is 0 in all rows. A prediction for a row in which it
	// is 1 is as uncertain as predictions vary with the column.
	Gaps []Span
	// Zero holds, for each numeric target, what 0 is encoded as. With it, transforms of
	// targets that are never negative are tried. Nil: none are.
	Zero []float64
	// Ordered says that rows are in the order of time: the last are held out.
	Ordered bool

	// Step holds, for each target, what the difference of 1 is encoded as, if all targets
	// are counts: whole numbers from 0 to 10,000. With it and Zero, likelihoods of counts
	// are tried. Nil: none are.
	Step []float64

	// Ranks are the values of classes that are numbers, such as grades, rising, with mean 0 and
	// standard deviation 1 over the classes. With them, networks in which classes follow their rank
	// are tried. Nil: classes have no order.
	Ranks []float64

	counted  bool      // the targets are scored as counts
	from, to []float64 // of held-out rows: what is integrated to score them; nil: nothing

	slopes []float32 // logarithms of the slopes of transformed targets; nil: none is transformed
}

// A Span is the inputs From … To−1.
type Span struct{ From, To int }

// LeastRows is how many rows a network can be fitted to.
const LeastRows = 10

const mostInputs = 1 << 20

// Check reports data that no network can be fitted to.
func (d Data) Check() error {
	for _, check := range []func() error{
		d.checkSizes, d.Set.Check, d.checkLevels, d.checkGaps, d.checkCounts, d.checkTargets, d.checkGroups,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (d Data) checkSizes() error {
	n := d.X.Rows
	switch {
	case n < LeastRows:
		return fmt.Errorf("there are %d rows to learn from; at least %d are needed", n, LeastRows)
	case d.X.Width > mostInputs:
		return fmt.Errorf("a row has %d inputs; at most %d are possible", d.X.Width, mostInputs)
	case d.Classes < 0 || d.Classes == 1 || d.Classes > 0 && d.Outputs() > 1:
		return fmt.Errorf("%d targets and %d classes; there must be numeric targets, or one target with at least 2 classes", d.Outputs(), d.Classes)
	case d.Groups != nil && len(d.Groups) != n:
		return fmt.Errorf("there are %d rows and %d groups; give one group for each row, or no groups", n, len(d.Groups))
	}
	return nil
}

func (d Data) checkTargets() error {
	if d.Classes == 0 {
		if d.Zero != nil && len(d.Zero) != d.Outputs() {
			return fmt.Errorf("there are %d targets and %d encoded zeros; give one zero for each target, or none", d.Outputs(), len(d.Zero))
		}
		return nil
	}
	for i, y := range d.Y {
		if !(y >= 0 && int(y) < d.Classes && y == float32(int(y))) {
			return fmt.Errorf("the class of row %d is %v; it must be a whole number from 0 to %d", i, y, d.Classes-1)
		}
	}
	return nil
}

// checkGroups reports groups of which none can be held out.
func (d Data) checkGroups() error {
	if d.Groups == nil || d.Ordered || slices.ContainsFunc(d.Groups, func(g int32) bool { return g != d.Groups[0] }) {
		return nil
	}
	return fmt.Errorf("all %d rows are in one group; at least 2 groups are needed, to hold one out", d.X.Rows)
}

// pick returns the given rows.
func (d Data) pick(rows []int) Data {
	w, k := d.X.Width, d.Outputs()
	p := d
	p.X = gauss.Batch[float32]{Rows: len(rows), Width: w, Mean: gather(d.X.Mean, w, rows), Var: gather(d.X.Var, w, rows)}
	p.Y = gather(d.Y, k, rows)
	p.Weights = gather(d.Weights, 1, rows)
	p.Groups = nil
	p.slopes = gather(d.slopes, k, rows)
	return p
}

// some returns at most n rows, evenly spaced.
func (d Data) some(n int) []int {
	var rows []int
	for i := 0; i < d.X.Rows; i += max(1, (d.X.Rows+n-1)/n) {
		rows = append(rows, i)
	}
	return rows
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
		return d.Outputs(), d.Y
	}
	scale := float64(len(d.Weights)) / d.total()
	k := d.Outputs()
	for i, w := range d.Weights {
		y = append(y, d.Y[i*k:(i+1)*k]...)
		y = append(y, float32(float64(w)*scale))
	}
	return k + 1, y
}

// tiny reports whether so few rows are there that every one is held out once.
func (d Data) tiny() bool { return d.X.Rows < tinyRows }

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
		fold[i] = perm[place[of(i)]]
	}
	if d.Classes > 0 && d.Groups == nil {
		d.spreadClasses(fold)
	}
	for i := range fold {
		fold[i] %= n
	}
	return fold
}

// spreadClasses numbers rows, whose numbers are drawn, class by class: so each fold has its share of
// every class.
func (d Data) spreadClasses(number []int) {
	rows := make([]int, len(number))
	for i := range rows {
		rows[i] = i
	}
	slices.SortFunc(rows, func(a, b int) int {
		return cmp.Or(cmp.Compare(d.Y[a], d.Y[b]), cmp.Compare(number[a], number[b]))
	})
	for i, row := range rows {
		number[row] = i
	}
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
