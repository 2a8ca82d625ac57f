package suggest

import (
	"context"
	"fmt"
	"math"

	"utvi/internal/compute"
	"utvi/predict"
)

// mostReferences is how many candidates stand for all of them.
const mostReferences = 400

// A quantity is one number of which all rows have a value: a target or a class.
type quantity struct {
	draws [][]float64   // by row: values minus their mean, over √draws, in one unit for all quantities
	noise []float64     // by row
	with  [][]float64   // covariances of a row with the references
	own   []float64     // variances
	taken []conditioned // rows picked
}

// conditioned is a row that is taken as measured: the covariances of all rows with it then, over the
// root of its variance with noise.
type conditioned []float64

// learn picks rows by what they take of the variance of all candidates.
func (p *picker) learn(ctx context.Context, targets []int, m *predict.Model) ([]Suggestion, error) {
	references := p.references()
	pool := compute.NewPool(compute.Workers(0))
	defer pool.Close()
	var all []*quantity
	for q := range p.values {
		unit := 1.0
		if targets != nil && m.Schema != nil {
			unit = m.Schema.Targets()[targets[q]].SD
		}
		all = append(all, p.quantity(q, unit, references, pool))
	}
	var total float64
	for _, q := range all {
		for _, r := range references {
			total += q.own[r]
		}
	}
	gains := make([]float64, p.rows)
	var out []Suggestion
	for len(out) < p.config.Count {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for row := range gains {
			gains[row] = 0
			for _, q := range all {
				gains[row] += q.gain(row)
			}
			gains[row] *= p.factor[row] / total
		}
		row := p.top(gains)
		if row < 0 {
			break
		}
		p.taken[row] = true
		x := p.suggestion(row, gains[row])
		x.Why = whyLearn(x, gains[row]*x.Cost/max(1e-9, x.Fulfils)) + unlike(x)
		out = append(out, x)
		for _, q := range all {
			q.condition(row, references, pool)
		}
	}
	if len(out) == 0 {
		return nil, ErrNone
	}
	return out, nil
}

func whyLearn(x Suggestion, share float64) string {
	text := fmt.Sprintf("settles %.2g %% of the doubt about all candidates", 100*share)
	if x.Std > 0 {
		text += fmt.Sprintf("; its own is %.0f %% of its variance", 100*x.Doubt*x.Doubt/(x.Std*x.Std))
	}
	return text
}

// references are evenly spaced candidates.
func (p *picker) references() (all []int) {
	step := max(1, (p.rows+mostReferences-1)/mostReferences)
	for row := 0; row < p.rows; row += step {
		all = append(all, row)
	}
	return all
}

// quantity gathers the draws by row, and the covariances with references.
func (p *picker) quantity(number int, unit float64, references []int, pool *compute.Pool) *quantity {
	draws := p.values[number]
	n := float64(len(draws))
	q := &quantity{draws: make([][]float64, p.rows), with: make([][]float64, p.rows), own: make([]float64, p.rows), noise: make([]float64, p.rows)}
	each(pool, p.rows, func(row int) {
		v := make([]float64, len(draws))
		var mean float64
		for s := range draws {
			v[s] = draws[s][row]
			mean += v[s] / n
		}
		for s := range v {
			v[s] = (v[s] - mean) / math.Sqrt(n) / unit
		}
		q.draws[row] = v
		q.own[row] = dot(v, v)
		q.noise[row] = p.noise[number][row] / (unit * unit)
	})
	each(pool, p.rows, func(row int) {
		q.with[row] = make([]float64, len(references))
		for j, r := range references {
			q.with[row][j] = dot(q.draws[row], q.draws[r])
		}
	})
	return q
}

// gain is the variance of all references that a measurement of the row takes.
func (q *quantity) gain(row int) float64 {
	v := q.own[row] + q.noise[row]
	if !(v > 0) {
		return 0
	}
	return dot(q.with[row], q.with[row]) / v
}

// condition takes a row as measured.
func (q *quantity) condition(row int, references []int, pool *compute.Pool) {
	v := q.own[row] + q.noise[row]
	if !(v > 0) {
		return
	}
	k := make(conditioned, len(q.draws))
	each(pool, len(q.draws), func(i int) {
		c := dot(q.draws[i], q.draws[row])
		for _, t := range q.taken {
			c -= t[i] * t[row]
		}
		k[i] = c / math.Sqrt(v)
	})
	each(pool, len(q.draws), func(i int) {
		q.own[i] = max(0, q.own[i]-k[i]*k[i])
		for j, r := range references {
			q.with[i][j] -= k[i] * k[r]
		}
	})
	q.taken = append(q.taken, k)
}

// each calls f for every row, on the workers of a pool.
func each(pool *compute.Pool, rows int, f func(row int)) {
	const part = 64
	pool.Run((rows+part-1)/part, func(_, task int) {
		for row := task * part; row < min(rows, (task+1)*part); row++ {
			f(row)
		}
	})
}

func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}
