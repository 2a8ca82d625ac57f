package list

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// A Drift is by how much everything had moved in some frames; between them it moves straight on.
type Drift struct {
	Frames []float64 // from 0, rising
	X, Y   []float64 // nm, 0 on average
	Miss   float64   // nm: the median by which comparisons of two segments contradict it
}

// At is the drift in a frame.
func (d *Drift) At(frame float64) (x, y float64) {
	n := len(d.Frames)
	if n == 0 {
		return 0, 0
	}
	if n == 1 {
		return d.X[0], d.Y[0]
	}
	k := min(max(slices.IndexFunc(d.Frames, func(f float64) bool { return f > frame }), 1), n-1)
	if frame >= d.Frames[n-1] {
		k = n - 1
	}
	u := (frame - d.Frames[k-1]) / (d.Frames[k] - d.Frames[k-1])
	u = min(max(u, -0.5), 1.5)
	return d.X[k-1]*(1-u) + d.X[k]*u, d.Y[k-1]*(1-u) + d.Y[k]*u
}

// Undo moves localisations back.
func (d *Drift) Undo(all []Localisation) {
	for i := range all {
		x, y := d.At(float64(all[i].Frame))
		all[i].X -= x
		all[i].Y -= y
	}
}

// Write writes the drift as CSV: a line for each frame.
func (d *Drift) Write(w io.Writer, frames int) error {
	if _, err := io.WriteString(w, "\"frame\",\"drift_x [nm]\",\"drift_y [nm]\"\n"); err != nil {
		return err
	}
	for f := range frames {
		x, y := d.At(float64(f))
		if _, err := fmt.Fprintf(w, "%d,%.3f,%.3f\n", f+1, x, y); err != nil {
			return err
		}
	}
	return nil
}

// FindDrift finds the drift by redundant cross-correlation: the frames are cut into segments, and each
// two are compared by the histogram of all differences between their localisations, whose peak is how
// far one has moved. The drifts of the segments are those that fit all pairs best, without pairs that
// contradict. Places are in nm; reach is the farthest drift between two segments.
func FindDrift(all []Localisation, segments int, reach float64) (*Drift, error) {
	const least = 50 // localisations of a segment
	segments = min(segments, len(all)/least)
	if segments < 2 {
		return nil, fmt.Errorf("%d localisations are too few to find a drift; at least %d are needed", len(all), 2*least)
	}
	order := byFrame(all)
	parts := make([][]int, segments)
	d := &Drift{Frames: make([]float64, segments), X: make([]float64, segments), Y: make([]float64, segments)}
	for k := range parts {
		parts[k] = order[k*len(order)/segments : (k+1)*len(order)/segments]
		for _, row := range parts[k] {
			d.Frames[k] += float64(all[row].Frame) / float64(len(parts[k]))
		}
		if k > 0 && !(d.Frames[k] > d.Frames[k-1]) {
			return nil, errors.New("all localisations are of a few frames; a drift cannot be seen")
		}
	}
	var pairs []moved
	for j := range parts {
		cells := newCells(all, parts[j], reach)
		for i := range j {
			m := moved{from: i, to: j}
			var ok bool
			m.x, m.y, ok = difference(all, parts[i], cells, reach)
			if ok {
				pairs = append(pairs, m)
			}
		}
	}
	if !d.settle(pairs) {
		return nil, errors.New("the parts of the stack have nothing in common by which a drift could be seen")
	}
	return d, nil
}

// cells are localisations by squares of the size of the reach.
type cells struct {
	all  []Localisation
	side float64
	of   map[cellKey][]int
}

func newCells(all []Localisation, rows []int, side float64) *cells {
	c := &cells{all, side, map[cellKey][]int{}}
	for _, row := range rows {
		k := c.key(&all[row])
		c.of[k] = append(c.of[k], row)
	}
	return c
}

func (c *cells) key(l *Localisation) cellKey {
	return cellKey{int(math.Floor(l.X / c.side)), int(math.Floor(l.Y / c.side))}
}

// near calls f for each localisation in the nine squares around a place.
func (c *cells) near(l *Localisation, f func(row int, o *Localisation)) {
	at := c.key(l)
	for y := at.y - 1; y <= at.y+1; y++ {
		for x := at.x - 1; x <= at.x+1; x++ {
			for _, row := range c.of[cellKey{x, y}] {
				f(row, &c.all[row])
			}
		}
	}
}

// difference is the peak of the differences between localisations.
func difference(all []Localisation, from []int, to *cells, reach float64) (x, y float64, ok bool) {
	const bins = 121 // across
	bin := 2 * reach / bins
	counts := make([]float64, bins*bins)
	total := 0.0
	for _, row := range from {
		l := &all[row]
		to.near(l, func(_ int, o *Localisation) {
			i, j := int(math.Floor((o.Y-l.Y+reach)/bin)), int(math.Floor((o.X-l.X+reach)/bin))
			if i >= 0 && j >= 0 && i < bins && j < bins {
				counts[i*bins+j]++
				total++
			}
		})
	}
	if total == 0 {
		return 0, 0, false
	}
	best, score := 0, -1.0
	smooth := blurred(counts, bins, 4)
	for i, v := range smooth {
		if v > score {
			best = i
			score = v
		}
	}
	// The peak stands on what unrelated molecules give; its middle is the mean above that.
	ground := median(smooth)
	x = float64(best % bins)
	y = float64(best / bins)
	const turns, width = 30, 6.0
	for range turns {
		var sum, sx, sy float64
		for i := max(0, int(y-3*width)); i <= min(bins-1, int(y+3*width)); i++ {
			for j := max(0, int(x-3*width)); j <= min(bins-1, int(x+3*width)); j++ {
				r2 := (float64(j)-x)*(float64(j)-x) + (float64(i)-y)*(float64(i)-y)
				w := (smooth[i*bins+j] - ground) * math.Exp(-r2/(2*width*width))
				sum += w
				sx += w * float64(j)
				sy += w * float64(i)
			}
		}
		if !(sum > 0) {
			return 0, 0, false
		}
		x = sx / sum
		y = sy / sum
	}
	return (x+0.5)*bin - reach, (y+0.5)*bin - reach, true
}

func median(x []float64) float64 {
	s := slices.Clone(x)
	slices.Sort(s)
	return s[len(s)/2]
}

// blurred is a square image under a Gaussian of sigma bins.
func blurred(image []float64, side int, sigma float64) []float64 {
	r := int(3 * sigma)
	kernel := make([]float64, 2*r+1)
	for i := range kernel {
		z := float64(i-r) / sigma
		kernel[i] = math.Exp(-z * z / 2)
	}
	pass := func(in []float64) []float64 { // along rows, and transposed
		out := make([]float64, len(in))
		for y := range side {
			for x := range side {
				sum := 0.0
				for k := max(-r, -x); k <= min(r, side-1-x); k++ {
					sum += kernel[k+r] * in[y*side+x+k]
				}
				out[x*side+y] = sum
			}
		}
		return out
	}
	return pass(pass(image))
}

// moved says by how much a segment lies farther than another.
type moved struct {
	from, to int
	x, y     float64
	off      bool
}

// settle finds the drifts that fit pairs best, then once more without those that are far off.
func (d *Drift) settle(pairs []moved) bool {
	for range 3 {
		if !solveDrift(d.X, pairs, func(m *moved) float64 { return m.x }) || !solveDrift(d.Y, pairs, func(m *moved) float64 { return m.y }) {
			return false
		}
		var misses []float64
		for _, m := range pairs {
			misses = append(misses, d.miss(&m))
		}
		const far, least = 4, 5 // nm
		d.Miss = median(misses)
		limit := max(far*d.Miss, least)
		for i := range pairs {
			pairs[i].off = misses[i] > limit
		}
	}
	return true
}

func (d *Drift) miss(m *moved) float64 {
	return math.Hypot(d.X[m.to]-d.X[m.from]-m.x, d.Y[m.to]-d.Y[m.from]-m.y)
}

// solveDrift minimises Σ (d_to − d_from − moved)² with Σ d = 0, by elimination.
func solveDrift(d []float64, pairs []moved, get func(*moved) float64) bool {
	n := len(d)
	a := make([][]float64, n)
	for i := range a {
		a[i] = make([]float64, n+1)
		for j := range n {
			a[i][j] = 1e-3 // the sum is 0
		}
	}
	used := 0
	for i := range pairs {
		m := &pairs[i]
		if m.off {
			continue
		}
		used++
		a[m.to][m.to]++
		a[m.from][m.from]++
		a[m.to][m.from]--
		a[m.from][m.to]--
		a[m.to][n] += get(m)
		a[m.from][n] -= get(m)
	}
	if used < n-1 {
		return false
	}
	for k := range n {
		best := k
		for i := k + 1; i < n; i++ {
			if math.Abs(a[i][k]) > math.Abs(a[best][k]) {
				best = i
			}
		}
		a[k], a[best] = a[best], a[k]
		if math.Abs(a[k][k]) < 1e-9 {
			return false
		}
		for i := range n {
			if i == k {
				continue
			}
			f := a[i][k] / a[k][k]
			for j := k; j <= n; j++ {
				a[i][j] -= f * a[k][j]
			}
		}
	}
	for k := range n {
		d[k] = a[k][n] / a[k][k]
	}
	return true
}
