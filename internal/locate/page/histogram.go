package page

import (
	"image"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"utvi/internal/locate/list"
	"utvi/internal/report"
)

// A histogram counts numbers in steps, of their logarithms if log is set.
type histogram struct {
	least, step float64
	log         bool
	count       []float64
}

func newHistogram(least, most float64) histogram {
	const perDecade = 20
	steps := int(math.Ceil(math.Log10(most/least) * perDecade))
	return histogram{least: math.Log10(least), step: 1. / perDecade, log: true, count: make([]float64, steps)}
}

func (h *histogram) add(x float64) {
	if h.log {
		x = math.Log10(max(x, 1e-300))
	}
	i := int(math.Floor((x - h.least) / h.step))
	h.count[min(max(i, 0), len(h.count)-1)]++
}

func (h *histogram) middle(i int) float64 {
	x := h.least + (float64(i)+0.5)*h.step
	if h.log {
		return math.Pow(10, x)
	}
	return x
}

func (h *histogram) total() (sum float64) {
	for _, n := range h.count {
		sum += n
	}
	return sum
}

// points are the shares of the steps, from the first one with anything to the last.
func (h *histogram) points() (x, y []float64) {
	from, to := len(h.count), 0
	for i, n := range h.count {
		if n > 0 {
			from = min(from, i)
			to = i
		}
	}
	total := h.total()
	for i := max(0, from-1); i <= min(to+1, len(h.count)-1); i++ {
		x = append(x, h.middle(i))
		y = append(y, h.count[i]/total)
	}
	return x, y
}

func (h *histogram) quantile(q float64) float64 {
	left := q * h.total()
	for i, n := range h.count {
		left -= n
		if left <= 0 {
			return h.middle(i)
		}
	}
	return h.middle(len(h.count) - 1)
}

// cells are means over squares of the field.
type cells struct {
	width, height int
	side          float64 // nm
	sum, n        []float64
}

func newCells(width, height float64) cells {
	const across = 48
	side := max(width, height) / across
	c := cells{side: side, width: max(1, int(math.Ceil(width/side))), height: max(1, int(math.Ceil(height/side)))}
	c.sum = make([]float64, c.width*c.height)
	c.n = make([]float64, c.width*c.height)
	return c
}

func (c *cells) add(x, y, v float64) {
	i := min(max(int(y/c.side), 0), c.height-1)*c.width + min(max(int(x/c.side), 0), c.width-1)
	c.sum[i] += v
	c.n[i]++
}

// picture shows the first row on top, as frames do.
func (c *cells) picture() report.Map {
	m := report.Map{Width: c.width, Values: make([]float64, len(c.sum))}
	for i, n := range c.n {
		v := math.NaN()
		if n > 0 {
			v = c.sum[i] / n
		}
		m.Values[(c.height-1-i/c.width)*c.width+i%c.width] = v
	}
	return m
}

// drawn is a rendered picture as a figure.
type drawn struct{ picture *list.Picture }

const pictureWidth = 17 * vg.Centimeter

// Size implements report.Figure.
func (d drawn) Size() (width, height vg.Length) {
	return pictureWidth, pictureWidth * vg.Length(d.picture.Height) / vg.Length(d.picture.Width)
}

// Draw implements report.Figure.
func (d drawn) Draw(c draw.Canvas) error {
	var img image.Image = d.picture.Image()
	c.DrawImage(c.Rectangle, img)
	return nil
}
