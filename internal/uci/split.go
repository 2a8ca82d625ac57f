package uci

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"utvi/data"
	"utvi/gauss"
	"utvi/internal/counts"
	"utvi/internal/schema"
	"utvi/internal/tabular"
)

// A split is the rows of one, standardised by those to train on.
type split struct {
	train, test tabular.Data
	scale       float64 // of the target
}

func (s *Set) split(k int) (*split, error) {
	if k < 0 || k >= s.Splits {
		return nil, fmt.Errorf("%s has the splits 0 to %d, not %d", s.Name, s.Splits-1, k)
	}
	train, test, err := s.parts(k)
	if err != nil {
		return nil, err
	}
	mean, sd := s.standard(train)
	if sd[s.target] == 0 {
		return nil, fmt.Errorf("%s, split %d: the target is the same in all rows", s.Name, k)
	}
	columns := make([]schema.Column, s.columns)
	for _, j := range s.features {
		numbers := make([]float64, len(train))
		for i, r := range train {
			numbers[i] = s.rows[r*s.columns+j]
		}
		columns[j] = schema.NumericInput("", numbers)
		columns[j].Mean, columns[j].SD = mean[j], sd[j]
	}
	columns[s.target] = schema.Column{Stats: schema.Stats{Mean: mean[s.target], SD: sd[s.target]}}
	return &split{s.encode(train, columns), s.encode(test, columns), sd[s.target]}, nil
}

// parts are the rows of split k.
func (s *Set) parts(k int) (train, test []int, err error) {
	n := len(s.rows) / s.columns
	if s.gaps != nil {
		train, test = s.gap(s.gaps[k], n)
		return train, test, nil
	}
	train, err = s.indices(fmt.Sprintf("index_train_%d.txt", k), n)
	if err != nil {
		return nil, nil, err
	}
	test, err = s.indices(fmt.Sprintf("index_test_%d.txt", k), n)
	return train, test, err
}

// gapValues is how many values an input has at least that a gap is cut into.
const gapValues = 6

// CutGaps replaces the splits by gaps, one for every input with 6 values or more: the middle third of
// the rows, in the order of the input, is the test (Foong et al. 2019).
func (s *Set) CutGaps() error {
	s.gaps = nil
	for _, j := range s.features {
		values := map[float64]bool{}
		for i := j; i < len(s.rows); i += s.columns {
			values[s.rows[i]] = true
		}
		if len(values) >= gapValues {
			s.gaps = append(s.gaps, j)
		}
	}
	s.Splits = len(s.gaps)
	if s.Splits == 0 {
		return fmt.Errorf("%s has no input with %d values or more to cut a gap into", s.Name, gapValues)
	}
	return nil
}

// gap are the rows about and within the gap of a column.
func (s *Set) gap(column, n int) (train, test []int) {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	value := func(row int) float64 { return s.rows[row*s.columns+column] }
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(value(a), value(b)) })
	lo := n / 3
	hi := n - n/3
	return slices.Concat(rows[:lo], rows[hi:]), rows[lo:hi]
}

// standard returns mean and standard deviation of every column.
func (s *Set) standard(rows []int) (mean, sd []float64) {
	mean, sd = make([]float64, s.columns), make([]float64, s.columns)
	n := float64(len(rows))
	for _, r := range rows {
		for j := range mean {
			mean[j] += s.rows[r*s.columns+j] / n
		}
	}
	for _, r := range rows {
		for j := range sd {
			d := s.rows[r*s.columns+j] - mean[j]
			sd[j] += float64(d*d) / n
		}
	}
	for j := range sd {
		sd[j] = math.Sqrt(sd[j])
		if sd[j] < 1e-12*math.Abs(mean[j]) { // rounding of a constant
			sd[j] = 0
		}
	}
	return mean, sd
}

// encode scales rows as a table's are; a constant column is 0.
func (s *Set) encode(rows []int, columns []schema.Column) tabular.Data {
	z := func(r, j int) float32 {
		if columns[j].SD == 0 {
			return 0
		}
		return float32(columns[j].Encode(s.rows[r*s.columns+j]))
	}
	var x, y []float32
	for _, r := range rows {
		for _, j := range s.features {
			x = append(x, z(r, j))
		}
		y = append(y, z(r, s.target))
	}
	t := columns[s.target]
	d := tabular.Data{Set: data.Set{X: gauss.Fixed(len(s.features), x), Y: y}, Zero: []float64{-t.Mean / t.SD}}
	if s.counts(rows) {
		d.Step = []float64{1 / t.SD}
	}
	return d
}

// counts reports whether likelihoods of counts are tried for the target, as utvi fit does.
func (s *Set) counts(rows []int) bool {
	return !slices.ContainsFunc(rows, func(r int) bool {
		y := s.rows[r*s.columns+s.target]
		return y != math.Trunc(y) || y < 0 || y > counts.Most
	})
}
