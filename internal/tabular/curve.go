package tabular

import (
	"math"
	"slices"

	"utvi/dist"
	"utvi/internal/cholesky"
	"utvi/internal/widths"
)

// A power and a tilt change variances in one direction. Networks can also be too sure in the
// middle of the range and not sure enough at its ends, or the reverse. A curve over the
// predicted standard deviation, in the unit of the target, corrects this where held-out rows
// show it.

// bends are the standard deviations of ln factor, before any row is seen, that are tried
// beside 0.
var bends = [...]float64{0.5, 1, 2}

const (
	curveKnots  = 9
	curveReach  = 0.2 // share of the rows over which factors stay alike
	curveParts  = 5   // of the rows, each predicted by a curve of the others
	curveRounds = 8
	curveFewest = 40    // rows
	curveMost   = 5_000 // rows by which a bend is chosen
	curveGap    = 0.01  // of x, between knots: float32 must tell them apart
	curveFade   = 2     // of x, within which a factor returns to 1
)

// along is how much a mean counts beside ln v in ln of the variance of a target: a
// transform stretches what lies where it is flat.
func along(w *dist.Warp) float64 {
	if w == nil {
		return 0
	}
	_, below := w.Forward(w.Back(-1))
	_, above := w.Forward(w.Back(1))
	return below - above
}

// coarse reports whether held-out targets have few values, such as grades: ten rows and more
// have the same, and the next is further away than half of a predicted standard deviation.
// There the density at a value says little about intervals: on wine a curve gains 0.05 nats,
// and intervals of the most uncertain rows then cover 95 %.
func coarse(folds []fold, target int, sd float64) bool {
	var y []float32
	for _, f := range folds {
		for i := target; i < len(f.held.Y); i += f.held.Outputs() {
			y = append(y, f.held.Y[i])
		}
	}
	n := len(y)
	slices.Sort(y)
	y = slices.Compact(y)
	if len(y) < 2 || len(y)*10 > n {
		return false
	}
	gaps := make([]float64, len(y)-1)
	for i := range gaps {
		gaps[i] = float64(y[i+1] - y[i])
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2] > sd/2
}

// fitCurve finds the curve of residuals with a shape, and their shape with this curve. The
// curve is nil if, of each fifth of the rows, the other rows say no more with one.
func fitCurve(rows [][]residual, counts []float64, s ResidualMixture, along float64) (*widths.Curve, ResidualMixture) {
	f := newCurveFit(rows, counts, along)
	if f == nil {
		return nil, s
	}
	bend := f.chooseBend(s)
	if bend == 0 {
		return nil, s
	}
	for range 2 { // the shape is another one once the curve is known
		f.fit(s, bend, func(int) bool { return true })
		s, _ = fitMixture(f.bent(), counts)
	}
	f.fade()
	return &f.curve, s
}

// fade ends a curve that narrows the largest variances: beyond all that were held out,
// nothing says that they are too large, so the factor returns to 1.
func (f *curveFit) fade() {
	c := &f.curve
	last := len(c.At) - 1
	if c.Log[last] >= 0 {
		return
	}
	most := max(f.most, c.At[last]+curveGap)
	c.At, c.Log = append(c.At, most, most+curveFade), append(c.Log, c.Log[last], 0)
}

// A curveFit fits a curve. Its factors at the knots are dependent Normals before any row is
// seen: ln factor = bend·root·u, with u from N(0, 1).
type curveFit struct {
	rows   [][]residual
	counts []float64
	places [][]place // of each member's x
	root   [][]float64
	most   float64 // of x
	curve  widths.Curve
	row    []residual // room for one
}

// A place is where an x lies between knots; see widths.Curve.Between.
type place struct {
	knot   int
	weight float64
}

// newCurveFit places the knots at quantiles of x. It returns nil if there are too few rows
// or all x are alike.
func newCurveFit(rows [][]residual, counts []float64, along float64) *curveFit {
	if len(rows) < curveFewest {
		return nil
	}
	f := &curveFit{rows: rows, counts: counts, most: math.Inf(-1), curve: widths.Curve{Along: along}}
	at := func(x residual) float64 { return -2*x.log + along*x.mean }
	sorted := make([]float64, len(rows))
	for i, row := range rows {
		for _, x := range row {
			sorted[i] += at(x) / float64(len(row))
			f.most = max(f.most, at(x))
		}
	}
	slices.Sort(sorted)
	var ranks []float64
	c := &f.curve
	for k := range curveKnots {
		rank := (float64(k) + 0.5) / curveKnots
		x := sorted[int(rank*float64(len(rows)))]
		if len(c.At) == 0 || x > c.At[len(c.At)-1]+curveGap {
			c.At, ranks = append(c.At, x), append(ranks, rank)
		}
	}
	if len(c.At) < 2 {
		return nil
	}
	c.Log = make([]float64, len(c.At))
	f.root = make([][]float64, len(ranks))
	for i, a := range ranks {
		f.root[i] = make([]float64, len(ranks))
		for j, b := range ranks {
			d := (a - b) / curveReach
			f.root[i][j] = math.Exp(-d * d / 2)
		}
	}
	takeRoot(f.root)
	for _, row := range rows {
		p := make([]place, len(row))
		for k, x := range row {
			p[k].knot, p[k].weight = c.Between(at(x))
		}
		f.places = append(f.places, p)
	}
	return f
}

// takeRoot replaces a positive definite matrix by its root, with zeros above the diagonal.
func takeRoot(a [][]float64) {
	cholesky.Factor(a, func(_ int, s float64) float64 { return math.Sqrt(max(s, 1e-12)) })
	for i, row := range a {
		clear(row[i+1:])
	}
}

// chooseBend returns the bend under which each part of the rows is most probable given the
// other parts, or 0.
func (f *curveFit) chooseBend(s ResidualMixture) (best float64) {
	step := (len(f.rows) + curveMost - 1) / curveMost
	part := func(i int) int { // −1: of none
		if i%step != 0 {
			return -1
		}
		return i / step % curveParts
	}
	clear(f.curve.Log)
	top := f.logp(s, func(i int) bool { return part(i) >= 0 })
	for _, bend := range bends {
		var sum float64
		for p := range curveParts {
			f.fit(s, bend, func(i int) bool { return part(i) >= 0 && part(i) != p })
			sum += f.logp(s, func(i int) bool { return part(i) == p })
		}
		if sum > top {
			best, top = bend, sum
		}
	}
	return best
}

// at is ln of the factor at a place.
func (f *curveFit) at(p place) float64 {
	l := f.curve.Log
	return (1-p.weight)*l[p.knot] + p.weight*l[p.knot+1]
}

// bent returns the residuals of variances that the curve has changed.
func (f *curveFit) bent() [][]residual {
	to := make([][]residual, len(f.rows))
	for i := range to {
		to[i] = make([]residual, len(f.rows[i]))
		for k := range to[i] {
			to[i][k] = f.residual(i, k)
		}
	}
	return to
}

func (f *curveFit) residual(row, member int) residual {
	x, g := f.rows[row][member], f.at(f.places[row][member])
	return residual{x.z2 * math.Exp(-g), x.log - g/2, x.mean}
}

// logp is ln p of some rows, up to a constant.
func (f *curveFit) logp(s ResidualMixture, some func(row int) bool) (sum float64) {
	offset, slope := s.lines()
	for i := range f.rows {
		if some(i) {
			top, all := f.density(i, &offset, &slope)
			sum += f.counts[i] * (top + math.Log(all))
		}
	}
	return sum
}

// density bends the residuals of a row to f.row. It returns p of the row, all·e^top.
func (f *curveFit) density(row int, offset, slope *[shapeParts]float64) (top, all float64) {
	top = math.Inf(-1)
	f.row = f.row[:0]
	for k := range f.rows[row] {
		x := f.residual(row, k)
		f.row = append(f.row, x)
		for j := range offset {
			top, all = addLog(top, all, x.log+offset[j]+slope[j]*x.z2)
		}
	}
	return top, all
}
