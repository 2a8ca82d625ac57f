package list

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"utvi/rng"
)

// A Check is what blinks that last over several frames say of the error bars: the same molecule is
// found again, and how far it seems to have moved is an error of both.
type Check struct {
	Pairs       int
	Radius      float64   // nm within which pairs were looked for
	Foreign     float64   // share of pairs that are of two molecules, by those that are far apart
	Z           []float64 // differences by promised standard deviations, along x and y
	Spread      float64   // robust standard deviation of Z; 1 is right
	Holds       float64   // share of Z within the 90 % interval
	Promised    []float64 // variances of differences by classes, nm²
	Observed    []float64
	A, B        float64 // Observed = A + B·Promised
	SA, SB      float64 // their standard errors
	NeNA        float64 // nm: precision by distances of nearest neighbours in the next frame
	FRC         float64 // nm: resolution; 0: not found
	Frequencies []float64
	Correlation []float64
}

// RunCheck checks a table whose places are in nm.
func RunCheck(all []Localisation, seed uint64) (*Check, error) {
	const enough = 100
	var sigmas []float64
	for i := range all {
		sigmas = append(sigmas, (all[i].SX+all[i].SY)/2)
	}
	if len(all) < enough {
		return nil, fmt.Errorf("%d localisations are too few to judge error bars; a few thousand are good", len(all))
	}
	slices.Sort(sigmas)
	const wide = 9 // times the width of differences that a typical bar promises
	c := &Check{Radius: wide * math.Sqrt2 * sigmas[len(sigmas)*3/4]}
	pairs := nextPairs(all, c.Radius, 1)
	if len(pairs) < enough {
		return nil, errors.New("hardly any molecule is on in two successive frames, so that error bars cannot be judged by blinks; a shorter exposure shows them longer")
	}
	c.Pairs = len(pairs)
	c.Foreign = foreign(all, pairs, c.Radius)
	c.differences(all, pairs)
	c.regress(all, pairs)
	c.NeNA = nena(all, pairs, c.Radius)
	c.resolve(all, seed)
	return c, nil
}

// nextPairs are the pairs of each localisation with the nearest one so many frames later, if neither
// has a nearer one.
func nextPairs(all []Localisation, radius float64, later int) [][2]int {
	order := byFrame(all)
	starts := map[int]int{}
	for i := len(order) - 1; i >= 0; i-- {
		starts[all[order[i]].Frame] = i
	}
	var pairs [][2]int
	for first := 0; first < len(order); {
		frame := all[order[first]].Frame
		end := first
		for end < len(order) && all[order[end]].Frame == frame {
			end++
		}
		begin, ok := starts[frame+later]
		if ok {
			stop := begin
			for stop < len(order) && all[order[stop]].Frame == frame+later {
				stop++
			}
			pairs = append(pairs, mutual(all, order[first:end], order[begin:stop], radius)...)
		}
		first = end
	}
	return pairs
}

// foreign is the share of pairs of two molecules: these lie evenly in the circle, also in its outer half,
// where hardly any pair of one molecule is.
func foreign(all []Localisation, pairs [][2]int, radius float64) float64 {
	const half = 0.5 // of the area
	n := 0.0
	for _, p := range pairs {
		dx, dy := all[p[0]].X-all[p[1]].X, all[p[0]].Y-all[p[1]].Y
		if dx*dx+dy*dy > half*radius*radius {
			n++
		}
	}
	return min(n/half/float64(len(pairs)), 1)
}

func mutual(all []Localisation, a, b []int, radius float64) (pairs [][2]int) {
	nearest := func(row int, in *cells) int {
		best, least := -1, radius*radius
		in.near(&all[row], func(o int, l *Localisation) {
			dx, dy := l.X-all[row].X, l.Y-all[row].Y
			d2 := dx*dx + dy*dy
			if d2 < least || d2 == least && o < best {
				best = o
				least = d2
			}
		})
		return best
	}
	ca, cb := newCells(all, a, radius), newCells(all, b, radius)
	for _, row := range a {
		o := nearest(row, cb)
		if o >= 0 && nearest(o, ca) == row {
			pairs = append(pairs, [2]int{row, o})
		}
	}
	return pairs
}

// differences scores the pairs. Those of two molecules are spread evenly over the circle: their expected
// share in a class of |z| is taken off.
func (c *Check) differences(all []Localisation, pairs [][2]int) {
	var size []float64
	foreign := 0.0
	const ninety = 1.6448536269514722
	for _, p := range pairs {
		a, b := &all[p[0]], &all[p[1]]
		sx, sy := math.Hypot(a.SX, b.SX), math.Hypot(a.SY, b.SY)
		c.Z = append(c.Z, (b.X-a.X)/sx, (b.Y-a.Y)/sy)
		foreign += c.Foreign * (strip(ninety*sx/c.Radius) + strip(ninety*sy/c.Radius)) / 2
	}
	inside := 0.0
	for _, z := range c.Z {
		size = append(size, math.Abs(z))
		if math.Abs(z) <= ninety {
			inside++
		}
	}
	n := float64(len(c.Z))
	own := 1 - c.Foreign
	c.Holds = min((inside/n-foreign/float64(len(pairs)))/max(own, 0.05), 1)
	slices.Sort(size)
	// The median of those of one molecule: foreign ones are mostly above it.
	const quartile = 0.6744897501960817
	c.Spread = size[int(float64(len(size))*own/2)] / quartile
}

// strip is the share of a unit disc that lies within ±x of a diameter.
func strip(x float64) float64 {
	x = min(x, 1)
	return 2 / math.Pi * (x*math.Sqrt(1-x*x) + math.Asin(x))
}

// regress compares observed and promised variances in ten classes of equal size. What is observed is
// the median of squares, by its ratio to the variance of a Normal: other molecules hardly move it.
func (c *Check) regress(all []Localisation, pairs [][2]int) {
	type square struct{ promised, observed float64 }
	var squares []square
	for _, p := range pairs {
		a, b := &all[p[0]], &all[p[1]]
		dx, dy := b.X-a.X, b.Y-a.Y
		squares = append(squares, square{a.SX*a.SX + b.SX*b.SX, dx * dx}, square{a.SY*a.SY + b.SY*b.SY, dy * dy})
	}
	slices.SortFunc(squares, func(a, b square) int {
		switch {
		case a.promised < b.promised:
			return -1
		case a.promised > b.promised:
			return 1
		}
		return 0
	})
	const classes, medianOfChi2 = 10, 0.45493642311957283
	var s, sx, sy, sxx, sxy float64
	for k := range classes {
		part := squares[k*len(squares)/classes : (k+1)*len(squares)/classes]
		var observed []float64
		mean := 0.0
		for _, q := range part {
			observed = append(observed, q.observed)
			mean += q.promised / float64(len(part))
		}
		slices.Sort(observed)
		v := observed[int(float64(len(observed))*(1-c.Foreign)/2)] / medianOfChi2
		c.Promised = append(c.Promised, mean)
		c.Observed = append(c.Observed, v)
		// The median of n squares has a relative standard error of 1.64·√(2/n), or so.
		const relative = 2.33
		w := float64(len(part)) / math.Pow(relative*max(v, 1e-9), 2)
		s += w
		sx += w * mean
		sy += w * v
		sxx += w * mean * mean
		sxy += w * mean * v
	}
	d := s*sxx - sx*sx
	if d > 0 {
		c.A = (sxx*sy - sx*sxy) / d
		c.B = (s*sxy - sx*sy) / d
		c.SA = math.Sqrt(sxx / d)
		c.SB = math.Sqrt(s / d)
	}
}

// nena is the precision by the distances of pairs (Endesfelder et al. 2014): a Rayleigh number of twice
// the variance for one molecule, evenly spread pairs for two, in the shares that fit best.
func nena(all []Localisation, pairs [][2]int, radius float64) float64 {
	var d []float64
	for _, p := range pairs {
		d = append(d, math.Hypot(all[p[0]].X-all[p[1]].X, all[p[0]].Y-all[p[1]].Y))
	}
	v := radius * radius / 50 // variance of a difference along one axis
	share := 0.8
	for range 200 {
		var own, sum float64
		for _, r := range d {
			one := share * r / v * math.Exp(-r*r/(2*v))
			two := (1 - share) * 2 * r / (radius * radius)
			p := one / max(one+two, 1e-300)
			own += p
			sum += p * r * r
		}
		if !(own > 0) {
			return 0
		}
		v = max(sum/(2*own), 1e-6)
		share = own / float64(len(d))
	}
	return math.Sqrt(v / 2)
}

// halves parts the molecules, each with all its frames, into two by chance.
func halves(all []Localisation, radius float64, seed uint64) (a, b []Localisation) {
	key := rng.New(seed)
	for i, chain := range Chains(all, radius, 2) {
		l := together(all, chain)
		if rng.Uint64(key, uint64(i))&1 == 0 {
			a = append(a, l)
		} else {
			b = append(b, l)
		}
	}
	return a, b
}
