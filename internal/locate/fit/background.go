package fit

import (
	"math"
	"slices"
)

// tiles estimate a background that changes slowly: one number for each tile, straight lines between
// their middles.
type tiles struct {
	across, down int
	level        []float64
	variance     []float64 // of the read-out, of a usual pixel
	spare        []float64
	x, y         []blend // of each column, of each row
}

// A blend is where a pixel lies between two tiles.
type blend struct {
	tile int
	part float64 // of the next one
}

// tileSide is about that of a tile in pixels.
const tileSide = 16

func (t *tiles) init(f *Fitter) {
	t.x, t.across = blends(f.width)
	t.y, t.down = blends(f.height)
	n := t.across * t.down
	t.level = make([]float64, n)
	t.spare = make([]float64, n)
	t.variance = make([]float64, n)
	var all []float64
	for k := range t.variance {
		x0, x1 := bounds(k%t.across, t.across, f.width)
		y0, y1 := bounds(k/t.across, t.down, f.height)
		all = all[:0]
		for y := y0; y < y1; y++ {
			all = append(all, f.variance[y*f.width+x0:y*f.width+x1]...)
		}
		slices.Sort(all)
		t.variance[k] = all[len(all)/2] // a median does not heed a few hot pixels
	}
}

func blends(side int) ([]blend, int) {
	n := max(1, side/tileSide)
	all := make([]blend, side)
	for i := range all {
		at := (float64(i)+0.5)*float64(n)/float64(side) - 0.5
		at = min(max(at, 0), float64(n-1))
		k := min(int(at), max(0, n-2))
		all[i] = blend{k, at - float64(k)}
	}
	return all, n
}

// bounds are the pixels of a tile along one axis.
func bounds(tile, tiles, side int) (from, to int) {
	return tile * side / tiles, (tile + 1) * side / tiles
}

// begin takes for each tile the mean of the pixels that are not bright.
func (t *tiles) begin(f *Fitter) {
	clear(f.model)
	for k := range t.level {
		x0, x1 := bounds(k%t.across, t.across, f.width)
		y0, y1 := bounds(k/t.across, t.down, f.height)
		limit := math.Inf(1)
		level := 0.0
		for range 8 {
			var n, sum float64
			for y := y0; y < y1; y++ {
				for _, q := range f.quanta[y*f.width+x0 : y*f.width+x1] {
					if float64(q) <= limit {
						n++
						sum += float64(q)
					}
				}
			}
			if n == 0 {
				break
			}
			level = sum / n
			noise := math.Sqrt(max(level, 0) + t.variance[k])
			limit = level + 1.5*f.Noise*noise
		}
		t.level[k] = level
	}
	t.spread(f)
}

// again takes the mean residual under the emitters, without the pixels that lie far off.
func (t *tiles) again(f *Fitter) {
	const far = 3
	copy(t.spare, t.level)
	for k := range t.level {
		x0, x1 := bounds(k%t.across, t.across, f.width)
		y0, y1 := bounds(k/t.across, t.down, f.height)
		var n, sum float64
		for y := y0; y < y1; y++ {
			for x := x0; x < x1; x++ {
				i := y*f.width + x
				w := f.weight[i]
				z := f.weighted[i] / math.Sqrt(w)
				if math.Abs(z) < far*f.Noise {
					n += w
					sum += f.weighted[i]
				}
			}
		}
		if n > 0 {
			t.spare[k] += sum / n
		}
	}
	copy(t.level, t.spare)
	t.spread(f)
}

// spread draws the background.
func (t *tiles) spread(f *Fitter) {
	right, below := min(1, t.across-1), min(1, t.down-1)*t.across
	for y, v := range t.y {
		row := f.ground0[y*f.width:][:f.width]
		for x, u := range t.x {
			k := v.tile*t.across + u.tile
			top := t.level[k]*(1-u.part) + t.level[k+right]*u.part
			bottom := t.level[k+below]*(1-u.part) + t.level[k+below+right]*u.part
			row[x] = top*(1-v.part) + bottom*v.part
		}
	}
}
