package suggest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"utvi/gauss"
	"utvi/internal/delimited"
	"utvi/internal/schema"
	"utvi/predict"
	"utvi/rng"
	"utvi/table"
)

// An Axis is one column of a space of candidates.
type Axis struct {
	Name      string
	Low, High float64
	Whole     bool     // only whole numbers
	Levels    []string // of a category; nil: numbers
}

// Limits say where candidates may lie; columns that are not named have the range, or the levels, that
// training rows showed.
type Limits struct {
	Range  map[string][2]float64
	Levels map[string][]string // nil levels: all that the model knows
}

// A Space is where candidates are drawn from: a range or some levels for every column.
type Space struct {
	Axes  []Axis
	model *predict.Model
}

// NewSpace returns the space of the model's columns within limits.
func NewSpace(m *predict.Model, l Limits) (*Space, error) {
	if m.Schema == nil {
		return nil, errors.New("the model has no columns, so candidates cannot be drawn; give a table of them")
	}
	s := &Space{model: m}
	for _, name := range m.Columns() {
		i := slices.IndexFunc(m.Schema.Columns, func(c schema.Column) bool { return c.Name == name })
		a, err := l.axis(m, &m.Schema.Columns[i])
		if err != nil {
			return nil, err
		}
		s.Axes = append(s.Axes, a)
	}
	for _, name := range l.names() {
		if !slices.Contains(m.Columns(), name) {
			return nil, fmt.Errorf("the model has no column %s to choose; it has %v", name, m.Columns())
		}
	}
	return s, nil
}

func (l Limits) names() (all []string) {
	for name := range l.Range {
		all = append(all, name)
	}
	for name := range l.Levels {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// axis is a column within the limits.
func (l Limits) axis(m *predict.Model, c *schema.Column) (Axis, error) {
	a := Axis{Name: c.Name}
	bounds, ranged := l.Range[c.Name]
	levels, levelled := l.Levels[c.Name]
	switch {
	case c.Type == schema.Times || c.Type == schema.Picture:
		return a, fmt.Errorf("column %s holds neither numbers nor categories, so candidates cannot be drawn; give a table of them", c.Name)
	case c.Type == schema.Categorical && ranged:
		return a, fmt.Errorf("column %s holds categories and has no range; give its levels", c.Name)
	case c.Type == schema.Numeric && levelled:
		return a, fmt.Errorf("column %s holds numbers; give its range", c.Name)
	case c.Type == schema.Categorical:
		a.Levels = levels
		if len(levels) == 0 {
			a.Levels = c.Levels
		}
		for _, x := range a.Levels {
			if !slices.Contains(c.Levels, x) {
				return a, fmt.Errorf("column %s has no level %s; the model knows %v", c.Name, x, c.Levels)
			}
		}
		return a, nil
	}
	a.Low, a.High = c.Body()
	if c.Role == schema.Std {
		a.Low, a.High = c.Mean, c.Mean
	}
	if ranged {
		a.Low, a.High = bounds[0], bounds[1]
	}
	if !(a.Low <= a.High) || math.IsInf(a.Low, 0) || math.IsInf(a.High, 0) {
		return a, fmt.Errorf("column %s cannot lie between %g and %g; the first must not be larger, and both finite", c.Name, a.Low, a.High)
	}
	for _, h := range m.Histograms {
		if h.Column == c.Name {
			a.Whole = h.Whole && a.Low < a.High
		}
	}
	if a.Whole {
		a.Low, a.High = math.Ceil(a.Low), math.Floor(a.High)
		if a.Low > a.High {
			return a, fmt.Errorf("column %s holds whole numbers, of which there is none between %g and %g", c.Name, bounds[0], bounds[1])
		}
	}
	return a, nil
}

// A Point is a candidate: the numbers of its columns, and of categories the place of the level.
type Point []float64

// Draw returns points that fill the space evenly.
func (s *Space) Draw(key rng.Key, n int) []Point {
	all := make([]Point, n)
	for i := range all {
		all[i] = make(Point, len(s.Axes))
	}
	order := make([]int, n)
	for j, a := range s.Axes { // a Latin hypercube
		rng.Perm(key.Sub(uint64(j), 1), order)
		for i, k := range order {
			u := (float64(k) + rng.Uniform(key.Sub(uint64(j), 2), uint64(i))) / float64(n)
			all[i][j] = a.at(u)
		}
	}
	return all
}

// at is the value at a share of the axis.
func (a *Axis) at(u float64) float64 {
	switch {
	case a.Levels != nil:
		return float64(min(int(u*float64(len(a.Levels))), len(a.Levels)-1))
	case a.Whole:
		return min(a.Low+math.Floor(u*(a.High-a.Low+1)), a.High)
	}
	return a.Low + u*(a.High-a.Low)
}

// near returns points about another one: numbers off by a share of their range, and at times another
// level.
func (s *Space) near(key rng.Key, p Point, share float64, n int) (all []Point) {
	for i := range n {
		q := slices.Clone(p)
		for j := range s.Axes {
			a := &s.Axes[j]
			u := rng.Uniform(key.Sub(uint64(i), 3), uint64(2*j))
			some := n%2 == 0 && u < 0.5 || len(s.Axes) < 3
			switch {
			case a.Levels != nil:
				if u < 0.2 {
					q[j] = a.at(rng.Uniform(key.Sub(uint64(i), 3), uint64(2*j+1)))
				}
			case some || i%3 == 0:
				v := q[j] + share*(a.High-a.Low)*rng.Normal(key.Sub(uint64(i), 4), uint64(j))
				if a.Whole {
					v = math.Round(v)
				}
				q[j] = min(max(v, a.Low), a.High)
			}
		}
		all = append(all, q)
	}
	return all
}

// Cells are a point as texts, in the order of the axes.
func (s *Space) Cells(p Point) []string {
	var all []string
	for j, a := range s.Axes {
		if a.Levels != nil {
			all = append(all, a.Levels[int(p[j])])
			continue
		}
		all = append(all, strconv.FormatFloat(p[j], 'g', 6, 64))
	}
	return all
}

// encode are points as the model's inputs.
func (s *Space) encode(points []Point) (x gauss.Batch[float32], err error) {
	lines := &delimited.Lines{Digits: 9}
	for _, a := range s.Axes {
		lines.Text(a.Name)
	}
	lines.End()
	for _, p := range points {
		for j, a := range s.Axes {
			if a.Levels != nil {
				lines.Text(a.Levels[int(p[j])])
			} else {
				lines.Float(p[j])
			}
		}
		lines.End()
	}
	var text bytes.Buffer
	if err := lines.Flush(&text); err != nil {
		return x, err
	}
	r, err := table.NewReader(&text, "candidates", table.Options{Header: table.WithHeader, Delimiter: ',', Decimal: '.'})
	if err != nil {
		return x, err
	}
	defer r.Close()
	return s.model.ReadInputs(r, 0)
}

const (
	drawn    = 1500 // candidates of a space
	followed = 8    // points that are refined
	around   = 60   // candidates about each of them
)

// Pick draws candidates, picks among them, and, of goals that look for a value, looks closer about
// the best of them. costs is the cost of a point; nil: all cost 1.
func (s *Space) Pick(ctx context.Context, costs func(Point) float64, c Config) ([]Point, []Suggestion, error) {
	c = c.complete()
	points := s.Draw(rng.New(c.Seed).Sub(0, 0x73706163), max(drawn, 4*c.Count))
	shares := []float64{0.1, 0.03, 0.01}
	if c.Goal == Learn {
		shares = nil
	}
	for round := 0; ; round++ {
		x, err := s.encode(points)
		if err != nil {
			return nil, nil, err
		}
		var prices []float64
		if costs != nil {
			for _, p := range points {
				prices = append(prices, costs(p))
			}
		}
		wide := c
		if round < len(shares) {
			wide.Count = max(c.Count, followed)
		}
		all, err := Rows(ctx, s.model, x, prices, wide)
		if err != nil {
			return nil, nil, err
		}
		if round == len(shares) {
			return points, all, nil
		}
		next := s.Draw(rng.New(c.Seed).Sub(uint64(round+1), 0x73706163), drawn/4)
		for i, y := range all {
			next = append(next, points[y.Row])
			next = append(next, s.near(rng.New(c.Seed).Sub(uint64(1000*(round+1)+i), 0x6e656172), points[y.Row], shares[round], around)...)
		}
		points = next
	}
}
