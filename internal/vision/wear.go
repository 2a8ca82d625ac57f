package vision

import (
	"math"
	"slices"

	"utvi/gauss"
	"utvi/internal/tabular"
	"utvi/model"
	"utvi/rng"
)

// Images that people take later are blurred, noisy, darker or of another contrast. A network that
// has never seen such images is sure of them. So error bars of numbers are learned with a share of
// images that are worn in these ways; the others stay as they are.

// How far images are worn.
const (
	mostBlur     = 0.07 // standard deviation of a blur, as a share of the shorter side
	mostGrain    = 0.4  // standard deviation of noise, as a share of the range from black to white
	mostContrast = 1.2  // logarithm of the contrast, either way
	mostLift     = 0.25 // of brightness, as a share of the range
)

// A span is the least and the largest number of a channel, such as black and white.
type span struct{ least, most float32 }

// usualSpan is that of images that are not known to have one.
var usualSpan = span{-2, 2}

// The places of an image's random numbers in its stream of wear.
const (
	drawWorn = iota
	drawKinds
	drawBlur
	drawGrain
	drawSlope
	drawMiddle
	drawLift
	drawnOfWear // behind them: the noise of each number
)

// wears tells the stream of wear from that of other changes.
const wears = 2

// wear wears an image down, by numbers of the key. room is as large as the image.
func (e *easel) wear(dst, room []float32, key rng.Key, image uint64) {
	if e.Wear == 0 {
		return
	}
	key = key.Sub(image, wears)
	if rng.Uniform(key, drawWorn) >= e.Wear {
		return
	}
	kinds := 1 + int(7*rng.Uniform(key, drawKinds)) // any of three ways, and at least one
	if kinds&1 != 0 {
		e.blur(dst, room, rng.Uniform(key, drawBlur)*mostBlur*float64(min(e.height, e.width)))
	}
	if kinds&2 != 0 {
		e.contrast(dst, key)
	}
	if kinds&4 != 0 {
		e.grain(dst, key)
	}
	if e.spans == nil {
		return
	}
	for i, v := range dst { // as a file would store it
		s := e.span(i % e.channels)
		dst[i] = min(max(v, s.least), s.most)
	}
}

func (e *easel) span(channel int) span {
	if e.spans == nil {
		return usualSpan
	}
	return e.spans[channel]
}

// contrast draws numbers together around one of them, or apart, and lifts them.
func (e *easel) contrast(dst []float32, key rng.Key) {
	slope := float32(math.Exp(mostContrast * (2*rng.Uniform(key, drawSlope) - 1)))
	middle := float32(rng.Uniform(key, drawMiddle))
	lift := float32(mostLift * (2*rng.Uniform(key, drawLift) - 1))
	for c := range e.channels {
		s := e.span(c)
		about := s.least + float32(middle*(s.most-s.least))
		up := about + float32(lift*(s.most-s.least))
		for i := c; i < len(dst); i += e.channels {
			dst[i] = float32(slope*(dst[i]-about)) + up
		}
	}
}

// grain adds noise.
func (e *easel) grain(dst []float32, key rng.Key) {
	sd := float32(mostGrain * rng.Uniform(key, drawGrain))
	for i := 0; i < len(dst); i += 4 {
		z := rng.Normals(key, drawnOfWear, 0, uint32(i/4))
		for k := range min(4, len(dst)-i) {
			s := e.span((i + k) % e.channels)
			dst[i+k] += sd * (s.most - s.least) * z[k]
		}
	}
}

// mostReach is how many pixels a blur reaches to each side at most.
const mostReach = 24

// blur spreads every pixel over its neighbours, by a bell curve of a standard deviation in pixels.
func (e *easel) blur(dst, room []float32, sd float64) {
	reach := min(int(math.Ceil(3*sd)), mostReach)
	if reach < 1 {
		return
	}
	var weights [2*mostReach + 1]float32
	var sum float64
	for i := -reach; i <= reach; i++ {
		sum += math.Exp(-0.5 * float64(i) * float64(i) / (sd * sd))
	}
	for i := -reach; i <= reach; i++ {
		weights[reach+i] = float32(math.Exp(-0.5*float64(i)*float64(i)/(sd*sd)) / sum)
	}
	bell := weights[:2*reach+1]
	row := e.width * e.channels
	e.spread(room, dst, bell, runs{e.height, row, e.width, e.channels})
	e.spread(dst, room, bell, runs{e.width, e.channels, e.height, row})
}

// Runs are lines of pixels along one direction: how many pixels each has, how far these lie apart, how
// many lines there are, and how far they begin apart.
type runs struct{ pixels, step, lines, apart int }

// spread blurs along one direction.
func (e *easel) spread(to, from, bell []float32, r runs) {
	reach := len(bell) / 2
	for l := range r.lines {
		for c := range e.channels {
			start := l*r.apart + c
			for i := range r.pixels {
				var sum float32
				for k, w := range bell {
					at := min(max(i+k-reach, 0), r.pixels-1)
					sum += float32(w * from[start+at*r.step])
				}
				to[start+i*r.step] = sum
			}
		}
	}
}

// wear adds worn copies of every second image, so that what corrects error bars knows such images, too.
func (s *sample) wear(d *Data, key rng.Key) {
	size := s.x.Width
	targets := len(s.y) / s.x.Rows
	e := newEasel(Augment{Wear: 1}, d.Images)
	room := make([]float32, d.Images.Shape().Size())
	for i := 0; i < s.x.Rows; i += 2 {
		copied := slices.Clone(s.x.Mean[i*size : (i+1)*size])
		e.wear(d.Known.Pixels(copied), room, key, uint64(i))
		s.x.Mean = append(s.x.Mean, copied...)
		s.y = append(s.y, s.y[i*targets:(i+1)*targets]...)
	}
	s.x.Rows = len(s.x.Mean) / size
}

// boundNoise bounds the noise that a network predicts by what it predicts for images as it has seen
// them in training, worn ones among them.
func (r *run) boundNoise(n *model.Model) {
	if r.data.Classes > 0 || r.data.Maps != nil {
		return
	}
	a, err := Augmentation(r.candidate.Augment)
	if err != nil { // a name that was checked
		panic("vision: the augmentation has no name")
	}
	x := gauss.Batch[float32]{Rows: r.learning.x.Rows, Width: r.learning.x.Width, Mean: slices.Clone(r.learning.x.Mean)}
	if a != (Augment{}) {
		e := newEasel(a, r.data.Images)
		key := r.key.Sub(0, forNoise)
		room := make([]float32, r.data.Images.Shape().Size())
		for i := range x.Rows {
			row := r.data.Known.Pixels(x.Mean[i*x.Width : (i+1)*x.Width])
			copy(room, row)
			e.paint(row, room, key, uint64(i))
		}
	}
	tabular.BoundNoise(n, x, r.data.Targets)
}
