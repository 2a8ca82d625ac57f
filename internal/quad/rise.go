package quad

import (
	"math"
	"slices"
	"sort"

	"utvi/internal/compute"
	"utvi/moment"
)

// A rise is d(u) = f(mean + σu) − f(mean). Where f has a slope and no jumps, d is its
// integral: a difference of two values loses its digits for small σ and where
// f is flat, as far out on tanh.
type rise struct {
	f        *moment.Func
	mean, sd float64
	f0       float64
	cuts     []float64 // borders of panels, ascending
	values   []float64 // d at the cuts; nil if d is taken as a difference
	noise    float64   // rounding error of such a difference
}

func newRise(f *moment.Func, mean, sd float64) *rise {
	r := &rise{f: f, mean: mean, sd: sd, f0: f.F(mean)}
	r.cuts = r.firstCuts()
	if f.DF != nil && r.resolve() {
		return r
	}
	const h = 1e-3
	slope := math.Abs(f.F(mean+h*sd)-f.F(mean-h*sd)) / (2 * h * sd)
	r.noise = 0x1p-50 * (math.Abs(r.f0) + math.Abs(mean)*slope)
	return r
}

// firstCuts are unit steps, the kinks, and the places around x = 0 where
// functions change, in case σ is large.
func (r *rise) firstCuts() []float64 {
	var cuts []float64
	for u := -reach; u <= reach; u++ {
		cuts = append(cuts, float64(u))
	}
	for _, x := range append([]float64{0, 1, 8, 64, -1, -8, -64}, r.f.Kinks...) {
		if u := (x - r.mean) / r.sd; math.Abs(u) < reach {
			cuts = append(cuts, u)
		}
	}
	slices.Sort(cuts)
	return slices.Compact(cuts)
}

// resolve adds cuts until 15 points integrate the slope between any two, and
// sums d outwards from u = 0. It reports false if that takes too many, or if f jumps.
func (r *rise) resolve() bool {
	const enough = 4000
	cuts, steps := r.cuts[:1:1], []float64{}
	todo := slices.Clone(r.cuts[1:])
	slices.Reverse(todo)
	for len(todo) > 0 {
		lo, hi := cuts[len(cuts)-1], todo[len(todo)-1]
		p := newPanel(func(u float64) (float64, float64) { return r.slope(u), 0 }, lo, hi)
		switch {
		case !compute.Finite(p.abs) || len(cuts) > enough || len(todo) > enough:
			return false
		case p.err > 1e-9*p.abs:
			todo = append(todo, (lo+hi)/2)
		default:
			todo = todo[:len(todo)-1]
			cuts, steps = append(cuts, hi), append(steps, p.sum)
		}
	}
	values := make([]float64, len(cuts))
	zero, _ := slices.BinarySearch(cuts, 0)
	way := 0.0 // that f goes up and down
	for i := zero; i < len(steps); i++ {
		values[i+1] = values[i] + steps[i]
		way += math.Abs(steps[i])
		if r.jumps(cuts[i+1], values[i+1], way) {
			return false
		}
	}
	way = 0
	for i := zero - 1; i >= 0; i-- {
		values[i] = values[i+1] - steps[i]
		way += math.Abs(steps[i])
		if r.jumps(cuts[i], values[i], way) {
			return false
		}
	}
	r.cuts, r.values = cuts, values
	return true
}

// jumps reports whether f is not at u where its slope leads to, on a way that is so long. What f
// cannot resolve around its values is no jump.
func (r *rise) jumps(u, rise, way float64) bool {
	x := r.mean + r.sd*u
	f := r.f.F(x)
	return compute.Finite(f) && math.Abs(f-r.f0-rise) > 1e-8*way+0x1p-40*(math.Abs(f)+math.Abs(r.f0))+0x1p-40*math.Abs(x*r.f.DF(x))
}

// matters reports whether what lies beyond u adds to a variance v about the mean m of d, and is
// not as small as the density itself.
func (r *rise) matters(u, m, v float64) bool {
	d := math.Abs(r.at(u) - m)
	return d > 0 && 2*math.Log(d)-u*u/2 > math.Log(1e-11)+math.Log(max(v, 1e-290))
}

// slope is d′(u).
func (r *rise) slope(u float64) float64 { return r.sd * r.f.DF(r.mean+r.sd*u) }

func (r *rise) at(u float64) float64 {
	if r.values == nil {
		return r.f.F(r.mean+r.sd*u) - r.f0
	}
	// From the cut next to u on the side of 0, so that steps add up.
	i := sort.SearchFloat64s(r.cuts, u)
	if u > 0 && r.cuts[i] > u {
		i--
	}
	return r.values[i] + Kronrod(r.slope, r.cuts[i], u)
}
