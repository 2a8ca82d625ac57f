package moment

import (
	"errors"
	"fmt"
	"math"

	"utvi/internal/cholesky"
	"utvi/internal/compute"
	"utvi/rng"
)

// JointAt pushes x ~ N(mean, cov) through m by rule and returns the means and the full
// covariance of the outputs. cov and the result are row-major; a cov as long as mean
// is a diagonal. The points are placed by the lower triangular root of cov. Rules with
// negative weights can give a negative variance: such an output gets a variance and
// covariances of 0. key seeds rules that draw.
func JointAt(m *Map, rule JointRule, mean, cov []float64, key rng.Key) (outMean, outCov []float64, err error) {
	d := len(mean)
	if rule == nil {
		return nil, nil, errors.New("no joint rule; use one with points, such as joint-gh(3)")
	}
	if err := rule.Check(m, d); err != nil {
		return nil, nil, err
	}
	if _, ok := rule.(jointOwn); ok {
		return nil, nil, errors.New("own: the formula of a map gives variances and no covariances; use a joint rule with points, such as joint-gh(3)")
	}
	for i, x := range mean {
		if !compute.Finite(x) {
			return nil, nil, fmt.Errorf("mean %d is %v; it must be a finite number", i, x)
		}
	}
	t := NewJointTile(m, rule, d)
	t.Key = key
	t.root, err = root(d, cov)
	if err != nil {
		return nil, nil, err
	}
	t.look(mean)
	outMean, outCov = make([]float64, t.out), make([]float64, t.out*t.out)
	t.combine(outMean, t.spare)
	add := func(w float64, a []float64) {
		for j, x := range a {
			for k, y := range a {
				outCov[j*t.out+k] += t.c * w * x * y
			}
		}
	}
	for g := range t.groups {
		add(t.rest(g), t.shift[g*t.out:][:t.out])
	}
	for p, w := range t.w {
		e, shift := t.row(p)
		for j := range e {
			t.df[j] = e[j] - shift[j]
		}
		add(w, t.df)
	}
	for j, v := range t.spare {
		if v <= 0 {
			for k := range t.out {
				outCov[j*t.out+k], outCov[k*t.out+j] = 0, 0
			}
		}
	}
	return outMean, outCov, nil
}

// root returns the lower triangular root of a covariance (Cholesky). A pivot
// that is zero up to rounding counts as zero, so that inputs without variance and
// linear dependencies are accepted.
func root(d int, cov []float64) ([]float64, error) {
	l := make([]float64, d*d)
	if len(cov) == d {
		for i, v := range cov {
			if !(v >= 0) || !compute.Finite(v) {
				return nil, fmt.Errorf("variance %d is %v; it must be a finite number ≥ 0", i, v)
			}
			l[i*d+i] = math.Sqrt(v)
		}
		return l, nil
	}
	if len(cov) != d*d {
		return nil, fmt.Errorf("the covariance has %d entries; %d inputs need %d, or %d on the diagonal", len(cov), d, d*d, d)
	}
	rows := make([][]float64, d)
	for i := range d {
		rows[i] = l[i*d : (i+1)*d]
		for j := range i + 1 {
			a, b := cov[i*d+j], cov[j*d+i]
			if !(math.Abs(a-b) <= 1e-9*math.Sqrt(math.Abs(cov[i*d+i]*cov[j*d+j]))) {
				return nil, fmt.Errorf("the covariance is not symmetric: entries (%d,%d) and (%d,%d) are %v and %v", i, j, j, i, a, b)
			}
			rows[i][j] = a
		}
	}
	var err error
	cholesky.Factor(rows, func(i int, s float64) float64 {
		noise := 1e-12 * cov[i*d+i]
		if !(s >= -noise) && err == nil {
			err = fmt.Errorf("the covariance is not positive semidefinite: pivot %d is %v", i, s)
		}
		if !(s > noise) {
			return 0
		}
		return math.Sqrt(s)
	})
	return l, err
}
