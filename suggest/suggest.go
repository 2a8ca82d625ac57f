package suggest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"utvi/gauss"
	"utvi/predict"
)

// ErrNone is the error of a list in which no row may be measured.
var ErrNone = errors.New("there is no candidate: the list is empty or exhausted")

// Rows picks the rows to measure among candidates, which are encoded as the model's inputs (see
// predict.Model.ReadInputs). costs are those of the rows; nil: all cost 1.
func Rows(ctx context.Context, m *predict.Model, x gauss.Batch[float32], costs []float64, c Config) ([]Suggestion, error) {
	c = c.complete()
	if err := c.Check(m); err != nil {
		return nil, err
	}
	if x.Rows == 0 {
		return nil, ErrNone
	}
	for i, v := range costs {
		if !(v > 0) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("row %d costs %v; a cost must be a finite number above 0", i+1, v)
		}
	}
	targets := c.targets(m)
	b, err := believe(ctx, m, x, c, targets)
	if err != nil {
		return nil, err
	}
	p := &picker{belief: b, config: c, costs: costs, factor: make([]float64, b.rows), taken: make([]bool, b.rows)}
	if len(targets) > 0 {
		p.target = targets[0]
	}
	if err := p.require(); err != nil {
		return nil, err
	}
	if c.Goal == Learn {
		return p.learn(ctx, targets, m)
	}
	p.best, err = p.bestKnown(ctx, m)
	if err != nil {
		return nil, err
	}
	return p.improve(ctx)
}

// targets are the numbers that are asked for; nil: classes.
func (c Config) targets(m *predict.Model) []int {
	if m.Classes() != nil {
		return nil
	}
	names := m.Targets()
	if c.Target != "" {
		return []int{slices.Index(names, c.Target)}
	}
	if c.Goal != Learn {
		return []int{0}
	}
	all := make([]int, len(names))
	for i := range all {
		all[i] = i
	}
	return all
}

// A picker picks rows one by one.
type picker struct {
	*belief
	config Config
	costs  []float64
	factor []float64 // what gains are multiplied by: probabilities by costs
	taken  []bool
	target int
	best   float64
}

// require weighs rows by the probability that they meet the requirements, and by their costs.
func (p *picker) require() error {
	any := false
	most := 0.0
	for row := range p.factor {
		fulfils := p.fulfils(row)
		most = max(most, fulfils)
		p.factor[row] = fulfils / p.cost(row)
		if fulfils < p.config.Sure || fulfils == 0 {
			p.taken[row] = true
			continue
		}
		any = true
	}
	if !any {
		return fmt.Errorf("no candidate meets the requirements with a probability of %g; the most probable one does with %.2g", p.config.Sure, most)
	}
	return nil
}

func (p *picker) fulfils(row int) float64 {
	f := 1.0
	for _, x := range p.each[row].above {
		f *= x
	}
	return f
}

func (p *picker) cost(row int) float64 {
	if p.costs == nil {
		return 1
	}
	return p.costs[p.number[row]]
}

// suggestion is what is known of a row.
func (p *picker) suggestion(row int, gain float64) Suggestion {
	s := Suggestion{Row: p.number[row], Gain: gain, Cost: p.cost(row), Fulfils: p.fulfils(row), OOD: p.each[row].ood, Chance: math.NaN(), Expected: math.NaN()}
	if a := p.each[row]; len(a.mean) > 0 {
		s.Mean = a.mean[p.target]
		q := 0
		if len(p.values) > 1 {
			q = p.target
		}
		s.Doubt = math.Sqrt(p.variance(q, row))
		s.Std = math.Sqrt(s.Doubt*s.Doubt + p.noise[q][row])
	}
	return s
}

// variance is that of a quantity's draws.
func (p *picker) variance(q, row int) float64 {
	n := float64(len(p.values[q]))
	var mean, squares float64
	for _, d := range p.values[q] {
		mean += d[row] / n
	}
	for _, d := range p.values[q] {
		squares += (d[row] - mean) * (d[row] - mean) / n
	}
	return squares
}

// top is the row with the largest gain that is not taken, −1 without any.
func (p *picker) top(gains []float64) int {
	best := -1
	for row, g := range gains {
		if !p.taken[row] && (best < 0 || g > gains[best]) {
			best = row
		}
	}
	return best
}
