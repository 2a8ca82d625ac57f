package schema

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"utvi/internal/special"
)

// A Scale says how the numbers of an input become numbers of about unit size. Without
// knots it is (v − mean)/sd. With knots it is linear between them: of a skewed column they
// are quantiles at the places that a Normal's would have, so that neither skew nor a value
// that stands for something else sets the scale of all others.
//
// Beyond the training values numbers grow by their logarithm, once they are far away: an
// input of 1e22 stays a number that networks can compute with.
type Scale struct {
	X []float64 `json:"x,omitempty"` // values of the column, rising
	Z []float64 `json:"z,omitempty"` // what they become, rising
}

// Encode returns the number that a value of a numeric input becomes.
func (c *Column) Encode(v float64) float64 {
	s := c.Scale
	if s == nil {
		return (v - c.Mean) / c.SD
	}
	if len(s.X) == 0 {
		lo, hi := (c.Min-c.Mean)/c.SD, (c.Max-c.Mean)/c.SD
		const margin = 2 // training ranges beyond the training values
		beyond := margin * (hi - lo)
		return bend((v-c.Mean)/c.SD, lo-beyond, hi+beyond)
	}
	n := len(s.X) - 1
	i, _ := slices.BinarySearch(s.X, v)
	i = min(max(i, 1), n)
	slope := (s.Z[i] - s.Z[i-1]) / (s.X[i] - s.X[i-1])
	return bend(s.Z[i-1]+slope*(v-s.X[i-1]), s.Z[0]-1, s.Z[n]+1)
}

// Middle is the value of a numeric input that becomes 0, and that stands for missing
// values: the training mean or, if the column is scaled by its quantiles, about the
// median. Values that look like marks of something else take no part.
func (c *Column) Middle() float64 {
	return c.Decode(0)
}

// Decode returns the training value that becomes z, or the nearest one.
func (c *Column) Decode(z float64) float64 {
	s := c.Scale
	if s == nil || len(s.X) == 0 {
		return min(max(c.Mean+z*c.SD, c.Min), c.Max)
	}
	i, _ := slices.BinarySearch(s.Z, z)
	i = min(max(i, 1), len(s.Z)-1)
	x := s.X[i-1] + (z-s.Z[i-1])*(s.X[i]-s.X[i-1])/(s.Z[i]-s.Z[i-1])
	return min(max(x, s.X[0]), s.X[len(s.X)-1])
}

// Skewed reports whether a numeric input is scaled by its quantiles.
func (c *Column) Skewed() bool {
	const marks = 4 // knots of a column that is even but for marks
	return c.Scale != nil && len(c.Scale.X) > marks
}

// Body is the range of a numeric input without values that look like marks of something
// else, such as −999: knots that newScale put apart.
func (c *Column) Body() (lo, hi float64) {
	if c.Scale == nil || len(c.Scale.X) < 3 {
		return c.Min, c.Max
	}
	apart := func(z float64) bool { return math.Abs(z-apartness) < 1e-9 }
	x, z := c.Scale.X, c.Scale.Z
	n := len(x) - 1
	lo, hi = c.Min, c.Max
	if apart(z[1]-z[0]) && x[1]-x[0] >= sentinelGap*(x[n]-x[1]) {
		lo = x[1]
	}
	if apart(z[n]-z[n-1]) && x[n]-x[n-1] >= sentinelGap*(x[n-1]-max(lo, x[0])) {
		hi = x[n-1]
	}
	return lo, hi
}

// bend is z within bounds, and grows by the logarithm of the distance beyond.
func bend(z, lo, hi float64) float64 {
	switch {
	case z > hi:
		return hi + math.Log1p(z-hi)
	case z < lo:
		return lo - math.Log1p(lo-z)
	}
	return z
}

// encodeStd returns the standard deviation of an encoded value: half of what an interval
// of ± one standard deviation becomes.
func (c *Column) encodeStd(v, std float64) float64 {
	if c.Scale == nil || len(c.Scale.X) == 0 {
		return std / c.SD
	}
	return (c.Encode(v+std) - c.Encode(v-std)) / 2
}

func (s *Scale) check() error {
	if s == nil {
		return nil
	}
	if len(s.X) != len(s.Z) || len(s.X) == 1 {
		return errors.New("its scale needs as many knots before as after, none or at least 2")
	}
	for _, knots := range [][]float64{s.X, s.Z} {
		for i, v := range knots {
			if v-v != 0 || i > 0 && !(v > knots[i-1]) {
				return errors.New("the knots of its scale must be finite and rise")
			}
		}
	}
	return nil
}

// A sentinel is a number that may stand for something else, such as −999 for a missing
// value: it occurs repeatedly, far from all others.
type sentinel struct {
	value float64
	share float64 // of the numbers, as newScale counts them
	low   bool    // below the others

	// common is set if the others are few numbers that are about as common: such a number is
	// as good as they are, though it is scaled alike.
	common bool
}

// The bounds of a sentinel: how often it occurs, and how many ranges of the other numbers
// it is away from them.
const (
	sentinelShare = 0.003
	sentinelCount = 3
	sentinelGap   = 3
	apartness     = 1 // of its place from that of the nearest number
)

// findSentinel looks at one end of sorted numbers, and returns the others.
func findSentinel(sorted []float64, low bool) (*sentinel, []float64) {
	n := len(sorted)
	if n == 0 {
		return nil, sorted
	}
	value := sorted[n-1]
	if low {
		value = sorted[0]
	}
	first, _ := slices.BinarySearch(sorted, value)
	last := first
	for last < n && sorted[last] == value {
		last++
	}
	count, rest := last-first, sorted[last:]
	if !low {
		rest = sorted[:first]
	}
	if count < sentinelCount || float64(count) < sentinelShare*float64(n) || 2*count > n || len(rest) < 10 {
		return nil, sorted
	}
	gap, spread := rest[0]-value, rest[len(rest)-1]-rest[0]
	if !low {
		gap = value - rest[len(rest)-1]
	}
	if !(spread > 0) || gap < sentinelGap*spread {
		return nil, sorted
	}
	return &sentinel{value: value, low: low, common: !nines(value) && common(count, rest)}, rest
}

// common reports whether a number that occurs so often is one of a few that are about equally
// common; rest are the others.
func common(count int, rest []float64) bool {
	const few = 10
	different := 1
	for i := 1; i < len(rest); i++ {
		different += one(rest[i] != rest[i-1])
	}
	each := len(rest) / different
	return different <= few && 2*count >= each && count <= 2*each
}

// nines recognises what people write for a missing value: −9, 99, −999.
func nines(v float64) bool {
	s := strconv.FormatFloat(math.Abs(v), 'f', -1, 64)
	return strings.Trim(s, "9") == ""
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// NumericInput describes an input that holds these numbers, as Infer does. A column of
// equal numbers has the standard deviation 0.
func NumericInput(name string, numbers []float64) Column {
	sorted := slices.Clone(numbers)
	c := Column{Name: name, Role: Input, Type: Numeric}
	c.Scale, _ = newScale(sorted)
	c.Mean, c.SD = moments(numbers)
	c.Min, c.Max = sorted[0], sorted[len(sorted)-1]
	return c
}

// newScale returns the scale of a column that holds these numbers, which it sorts, and
// the numbers among them that look like sentinels. The column is as it is without knots
// unless its numbers ask for more.
func newScale(numbers []float64) (*Scale, []sentinel) {
	slices.Sort(numbers)
	var odd []sentinel
	rest := numbers
	for _, low := range []bool{true, false} {
		var s *sentinel
		before := len(rest)
		s, rest = findSentinel(rest, low)
		if s != nil {
			s.share = float64(before-len(rest)) / float64(len(numbers))
			odd = append(odd, *s)
		}
	}
	s := &Scale{}
	switch {
	case skewed(rest):
		s.normalScores(rest)
	case odd != nil:
		mean, sd := moments(rest)
		for _, x := range []float64{rest[0], rest[len(rest)-1]} {
			s.X, s.Z = append(s.X, x), append(s.Z, (x-mean)/sd)
		}
	}
	for _, o := range odd { // apart, and near enough
		if o.low {
			s.X, s.Z = slices.Insert(s.X, 0, o.value), slices.Insert(s.Z, 0, s.Z[0]-apartness)
		} else {
			s.X, s.Z = append(s.X, o.value), append(s.Z, s.Z[len(s.Z)-1]+apartness)
		}
	}
	if s.check() != nil { // numbers too close to tell apart
		return &Scale{}, odd
	}
	return s, odd
}

func moments(x []float64) (mean, sd float64) {
	n := float64(len(x))
	for _, v := range x {
		mean += v / n
	}
	for _, v := range x {
		sd += float64((v-mean)*(v-mean)) / n
	}
	return mean, math.Sqrt(sd)
}

// skewed reports whether a few of the sorted numbers set the scale of all: the central 99 %
// span many quartile ranges (a Normal's 3.8, an exponential's 4.8), or the whole range many
// standard deviations.
func skewed(sorted []float64) bool {
	const (
		central = 8
		widest  = 25 // standard deviations
	)
	n := len(sorted)
	if n < 30 || sorted[n-1] == sorted[0] {
		return false
	}
	at := func(p float64) float64 { return sorted[int(p*float64(n-1))] }
	_, sd := moments(sorted)
	quartiles := at(0.75) - at(0.25)
	return sorted[n-1]-sorted[0] > widest*sd || quartiles > 0 && at(0.995)-at(0.005) > central*quartiles
}

// normalScores makes knots of quantiles, a quarter of a standard deviation apart where a
// Normal has them. A value that occurs often is one knot, in the middle of its ranks.
func (s *Scale) normalScores(sorted []float64) {
	const step = 0.25
	n := float64(len(sorted))
	knot := func(x float64) {
		first, _ := slices.BinarySearch(sorted, x)
		last := first
		for last < len(sorted) && sorted[last] == x {
			last++
		}
		z := special.Quantile(float64(first+last) / (2 * n))
		if k := len(s.X); k == 0 || x > s.X[k-1] && z > s.Z[k-1]+step/4 {
			s.X, s.Z = append(s.X, x), append(s.Z, z)
		}
	}
	end := -special.Quantile(0.5 / n)
	for i := range int(2*end/step) + 1 {
		knot(sorted[int(special.CDF(-end+step*float64(i))*(n-1))])
	}
	knot(sorted[len(sorted)-1])
}
