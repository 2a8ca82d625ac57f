package digits

import (
	"math"

	"utvi/data"
	"utvi/internal/compute/kernel"
	"utvi/rng"
)

// Side is the height and width of the images of this file, Pixels their size.
const (
	Side   = 28
	Pixels = Side * Side
)

// Digits returns a source of handwritten-like digits: images of 28×28 grey values
// in [0, 1], and their class 0 … 9. rows counts as an epoch.
func Digits(rows int) *data.Generator {
	return &data.Generator{N: rows, In: Pixels, Out: 1, Generate: func(key rng.Key, row uint64, x, y []float32) {
		y[0] = float32(Digit(key, row, x))
	}}
}

// Digit draws the digit of a row into pixels and returns which it is. It is a
// pure function of key and row: a skeleton of strokes, bent, turned, sheared,
// scaled and shifted, inked with a pen of random width and softness, with grain.
func Digit(key rng.Key, row uint64, pixels []float32) int {
	d := newDraft(key, row, 1)
	which := d.choose(len(digits))
	d.draw(digits[which], pixels)
	return which
}

// Letter draws a capital letter that resembles no digit, by the same hand as
// Digit: an input that a classifier of digits has not met.
func Letter(key rng.Key, row uint64, pixels []float32) byte {
	d := newDraft(key, row, 2)
	which := d.choose(len(letters))
	d.draw(letters[which].strokes, pixels)
	return letters[which].name
}

// Garment fills the outline of a piece of clothing.
func Garment(key rng.Key, row uint64, pixels []float32) {
	d := newDraft(key, row, 3)
	outline := garments[d.choose(len(garments))]
	d.begin(pixels)
	d.fill(outline, pixels)
	d.grain(pixels)
}

// NoiseImage is an image of pure noise, from fine to coarse.
func NoiseImage(key rng.Key, row uint64, pixels []float32) {
	d := newDraft(key, row, 4)
	size := 1 + d.choose(4) // of a speck
	level := d.between(0.05, 0.6)
	for i := range pixels {
		speck := uint64(i/Side/size*Side + i%Side/size)
		pixels[i] = float32(min(1, max(0, level+0.35*rng.Normal(d.key, 1000+speck))))
	}
}

// A draft is one image being drawn: a stream of random choices, and the warp that
// came of them.
type draft struct {
	key  rng.Key
	next uint64

	a, b, c, e    float64    // linear part of the warp, in pixels
	x0, y0        float64    // its centre
	bend, phase   [2]float64 // sideways waves
	radius, blur  float64
	ink, speckles float64
}

func newDraft(key rng.Key, row uint64, kind uint32) *draft {
	return &draft{key: key.Sub(row, kind)}
}

func (d *draft) uniform() float64 {
	d.next++
	return rng.Uniform(d.key, d.next)
}

func (d *draft) between(lo, hi float64) float64 { return lo + (hi-lo)*d.uniform() }
func (d *draft) choose(n int) int               { return int(d.uniform() * float64(n)) }

func (d *draft) normal(sd float64) float64 {
	d.next++
	return sd * rng.Normal(d.key, d.next)
}

// begin chooses the warp and the pen.
func (d *draft) begin(pixels []float32) {
	clear(pixels)
	turn, shear := d.normal(0.15), d.normal(0.2)
	height := d.between(0.8, 1.1) * Side
	width := height * d.between(0.75, 1.15)
	sin, cos := math.Sincos(turn)
	d.a, d.b = width*cos, height*(shear*cos-sin)
	d.c, d.e = width*sin, height*(shear*sin+cos)
	d.x0, d.y0 = Side/2-0.5+d.normal(1.2), Side/2-0.5+d.normal(1.2)
	for i := range d.bend {
		d.bend[i], d.phase[i] = d.normal(0.03), d.between(0, 2*math.Pi)
	}
	d.radius, d.blur = d.between(0.7, 1.8), d.between(0.6, 1.5)
	d.ink, d.speckles = d.between(0.7, 1), d.between(0.02, 0.12)
}

// place maps a point of the unit square to pixels.
func (d *draft) place(p point) point {
	x := p.x - 0.5 + d.bend[0]*math.Sin(6*p.y+d.phase[0])
	y := p.y - 0.5 + d.bend[1]*math.Sin(6*p.x+d.phase[1])
	return point{d.x0 + d.a*x + d.b*y, d.y0 + d.c*x + d.e*y}
}

// draw inks strokes.
func (d *draft) draw(strokes []stroke, pixels []float32) {
	d.begin(pixels)
	for _, s := range strokes {
		p := d.place(s[0])
		for _, next := range s[1:] {
			q := d.place(next)
			d.line(p, q, pixels)
			p = q
		}
	}
	d.grain(pixels)
}

// line inks the pixels near the segment from p to q.
func (d *draft) line(p, q point, pixels []float32) {
	reach := d.radius + d.blur/2
	x0, x1 := span(p.x, q.x, reach)
	y0, y1 := span(p.y, q.y, reach)
	ux, uy := q.x-p.x, q.y-p.y
	length2 := ux*ux + uy*uy
	for y := y0; y <= y1; y++ {
		for x := x0; x <= x1; x++ {
			vx, vy := float64(x)-p.x, float64(y)-p.y
			t := 0.0
			if length2 > 0 {
				t = min(1, max(0, (vx*ux+vy*uy)/length2))
			}
			dist := math.Hypot(vx-t*ux, vy-t*uy)
			ink := float32(d.ink * min(1, max(0, (reach-dist)/d.blur)))
			i := y*Side + x
			pixels[i] = max(pixels[i], ink)
		}
	}
}

func span(a, b, reach float64) (lo, hi int) {
	return max(0, int(math.Ceil(min(a, b)-reach))), min(Side-1, int(math.Floor(max(a, b)+reach)))
}

// fill inks the inside of a closed outline, a little unevenly, by the even-odd
// rule.
func (d *draft) fill(outline stroke, pixels []float32) {
	corners := make([]point, len(outline))
	for i, p := range outline {
		corners[i] = d.place(p)
	}
	stripes, along := d.between(0, 0.4), d.between(0.3, 1.5)
	for i := range pixels {
		x, y := float64(i%Side), float64(i/Side)
		inside := false
		for j, p := range corners {
			q := corners[(j+1)%len(corners)]
			if (p.y > y) != (q.y > y) && x < p.x+(y-p.y)/(q.y-p.y)*(q.x-p.x) {
				inside = !inside
			}
		}
		if inside {
			pixels[i] = float32(d.ink * (1 - stripes*(0.5+0.5*math.Sin(along*y))))
		}
	}
}

// grain adds noise to every pixel, within [0, 1].
func (d *draft) grain(pixels []float32) {
	var z [Pixels]float32
	kernel.Normals(z[:], d.key, 0, 0, Pixels/4, 4)
	for i, z := range z {
		pixels[i] = min(1, max(0, pixels[i]+float32(float32(d.speckles)*z)))
	}
}
