package expr

import (
	"math"
	"slices"

	"utvi/internal/compute"
)

// switches returns the expressions at whose zeros a formula may have a kink or a
// jump: the arguments of abs and sign, and the differences of what min, max and
// comparisons compare.
func (b *builder) switches(e *Expr) []*Expr {
	var all []*Expr
	add := func(s *Expr) {
		if s.op != Num && !slices.Contains(all, s) && !slices.Contains(all, b.neg(s)) {
			all = append(all, s)
		}
	}
	e.Walk(func(e *Expr) {
		switch e.op {
		case Abs, Sign:
			add(e.args[0])
		case Min, Max, Less, AtMost, Equal, NotEqual:
			add(b.sub(e.args[0], e.args[1]))
		case Where:
			if c := e.args[0]; !isComparison(c) {
				add(c)
			}
		}
	})
	return all
}

// maxKinks is how many kinks are kept, those nearest to 0; maxWork is how many
// instructions the search may take, some ten milliseconds. Only a formula that has
// kinks without end comes near.
const (
	maxKinks = 256
	maxWork  = 1_000_000
)

// kinks solves the switches for x: exactly where they are linear in x, else by
// signs on a grid and bisection. Zeros without a change of sign are not kinks.
func (b *builder) kinks(switches []*Expr, params []string, at []float64) []float64 {
	var found []float64
	work := 0
	x := b.x()
	for _, s := range switches {
		d := b.by(x, s)[0]
		p := compile([]*Expr{s, d}, params)
		eval := func(x float64) (s, d float64) {
			var out [2]float64
			work += len(p.Code)
			if work > maxWork {
				return math.NaN(), math.NaN()
			}
			p.At(x, at, out[:])
			return out[0], out[1]
		}
		if !contains(d, X) {
			if at0, slope := eval(0); slope != 0 {
				if root := 0 - at0/slope; compute.Finite(root) {
					found = append(found, root)
				}
			}
			continue
		}
		found = append(found, crossings(eval)...)
	}
	slices.SortFunc(found, func(a, b float64) int {
		if d := math.Abs(a) - math.Abs(b); d != 0 {
			return int(math.Copysign(1, d))
		}
		return int(math.Copysign(1, a-b))
	})
	found = slices.Compact(found)
	found = found[:min(len(found), maxKinks)]
	slices.Sort(found)
	return found
}

func contains(e *Expr, op Op) bool {
	found := false
	e.Walk(func(e *Expr) { found = found || e.op == op })
	return found
}

// grid is where signs are looked at: close together around 0, where networks
// live, ever wider outside.
var grid = func() []float64 {
	var half []float64
	for x := 1e-12; x < 1.0/16; x *= 2 {
		half = append(half, x)
	}
	for x := 1.0 / 16; x < 32; x += 1.0 / 16 {
		half = append(half, x)
	}
	for x := 32.0; x < 1e12; x *= 1.05 {
		half = append(half, x)
	}
	all := []float64{0}
	for _, x := range half {
		all = append(all, x, -x)
	}
	slices.Sort(all)
	return all
}()

// crossings returns where s changes its sign, s and its slope being given by eval.
// Two zeros between neighbours of the grid are found if s turns between them.
func crossings(eval func(x float64) (s, d float64)) []float64 {
	var found []float64
	zero := func(lo, hi float64) {
		found = append(found, bisect(lo, hi, func(x float64) float64 { s, _ := eval(x); return s }))
	}
	x0 := math.NaN() // the last point with a sign
	var s0, d0 float64
	for _, x1 := range grid {
		s1, d1 := eval(x1)
		if s1 == 0 || s1 != s1 {
			continue
		}
		switch {
		case x0 != x0:
		case s0 > 0 != (s1 > 0):
			zero(x0, x1)
		case s0*d0 < 0 && s1*d1 > 0: // towards zero, and away again
			turn := bisect(x0, x1, func(x float64) float64 { _, d := eval(x); return d })
			if s, _ := eval(turn); s > 0 != (s0 > 0) && s != 0 && s == s {
				zero(x0, turn)
				zero(turn, x1)
			}
		}
		if len(found) > 4*maxKinks {
			break
		}
		x0 = x1
		s0 = s1
		d0 = d1
	}
	return found
}

// bisect halves an interval over which f changes its sign down to neighbouring
// numbers and returns the one nearer to zero, or the middle of a stretch of zeros.
func bisect(lo, hi float64, f func(x float64) float64) float64 {
	left := f(lo) > 0
	for range 200 {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		switch y := f(mid); {
		case y == 0:
			return mid
		case y > 0 == left:
			lo = mid
		default:
			hi = mid
		}
	}
	if math.Abs(f(lo)) <= math.Abs(f(hi)) {
		return lo
	}
	return hi
}
