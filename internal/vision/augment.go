package vision

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"utvi/rng"
)

// An Augment says how training images are changed, each time anew, so that a network does not
// learn what does not matter. Lengths are shares of the image's width or height.
type Augment struct {
	Flip   bool    `json:"flip,omitempty"`   // half of the images are mirrored left to right
	Shift  float64 `json:"shift,omitempty"`  // up to so far
	Rotate float64 `json:"rotate,omitempty"` // up to so many degrees, either way
	Zoom   float64 `json:"zoom,omitempty"`   // up to so much larger or smaller
	Light  float64 `json:"light,omitempty"`  // up to so much brighter or darker, and as much more or less contrast, in standard deviations
	Erase  float64 `json:"erase,omitempty"`  // a square with a side up to so long is replaced by the mean
	Wear   float64 `json:"wear,omitempty"`   // this share of images is blurred, noisy or of another contrast
}

// moves is the part that moves pixels, which the targets of pixels share.
func (a Augment) moves() Augment {
	return Augment{Flip: a.Flip, Shift: a.Shift, Rotate: a.Rotate, Zoom: a.Zoom}
}

// A way to augment has a name.
type way struct {
	name string
	is   Augment
}

// The ways to augment that are tried for classes, from the fewest changes to the most.
var forClasses = []way{
	{"none", Augment{}},
	{"shift", Augment{Shift: 0.1, Rotate: 10, Zoom: 0.1}},
	{"photo", Augment{Flip: true, Shift: 0.125, Light: 0.2, Erase: 0.3}},
}

// worn is the share of images that are worn where error bars shall hold for such images.
const worn = 0.5

// The ways that are tried for numbers. A number may say where something lies, how large it is or
// which way it points, so that the first only wears images.
var forNumbers = []way{
	{"wear", Augment{Wear: worn}},
	{"move+wear", Augment{Shift: 0.1, Wear: worn}},
	{"shift+wear", Augment{Shift: 0.1, Rotate: 10, Zoom: 0.1, Wear: worn}},
	{"photo+wear", Augment{Flip: true, Shift: 0.125, Light: 0.2, Wear: worn}},
}

// The ways that are tried where each pixel has a number: what changes the brightness of an image, but not
// that of its target, would teach something else.
var forPixels = []way{
	{"none", Augment{}},
	{"mirror", Augment{Flip: true}},
	{"mirror+move", Augment{Flip: true, Shift: 0.1}},
}

// named are all ways that have a name.
var named = slices.Concat(forClasses, forNumbers, forPixels[1:])

// Augmentation returns the way to augment that has a name: none; shift, for what has a left and a
// right side, such as digits; photo, for what has none; with +wear, half of the images are blurred,
// noisy or of another contrast as well.
func Augmentation(name string) (Augment, error) {
	var names []string
	for _, x := range named {
		if x.name == name {
			return x.is, nil
		}
		names = append(names, x.name)
	}
	return Augment{}, fmt.Errorf("the augmentation is %q; choose from %s", name, strings.Join(names, ", "))
}

// String is the name of the augmentation.
func (a Augment) String() string {
	at := slices.IndexFunc(named, func(x way) bool { return x.is == a })
	if at < 0 {
		return fmt.Sprintf("%+v", struct{ Augment }{a})
	}
	return named[at].name
}

// The places of an image's random numbers in its stream.
const (
	drawFlip = iota
	drawDown
	drawRight
	drawTurn
	drawZoom
	drawLight
	drawContrast
	drawHole
	drawHoleTop
	drawHoleLeft
	drawn // how many there are
)

// An easel changes one image at a time.
type easel struct {
	Augment
	height, width, channels int
	spans                   []span // of the channels; nil: not known
	nearest                 bool   // numbers are classes, between which nothing lies
}

// paint writes the image src, changed as the numbers of key from first on say, to dst. Then src is
// room.
func (e *easel) paint(dst, src []float32, key rng.Key, image uint64) {
	between := drawing(key, image)
	e.place(dst, src, between)
	e.light(dst, between)
	e.erase(dst, func(which uint64) float64 { return rng.Uniform(key, image*drawn+which) })
	e.wear(dst, src, key, image)
}

// drawing draws the numbers of an image, between ± the most.
func drawing(key rng.Key, image uint64) func(which uint64, most float64) float64 {
	return func(which uint64, most float64) float64 {
		return most * (2*rng.Uniform(key, image*drawn+which) - 1)
	}
}

// move is the part of paint that moves pixels.
func (e *easel) move(dst, src []float32, key rng.Key, image uint64) {
	e.place(dst, src, drawing(key, image))
}

// place moves, turns, mirrors and scales: each pixel of dst is read where it came from, between
// four pixels of src. Beyond the border, the pixels at the border go on.
func (e *easel) place(dst, src []float32, between func(which uint64, most float64) float64) {
	down := math.Round(between(drawDown, e.Shift*float64(e.height)))
	right := math.Round(between(drawRight, e.Shift*float64(e.width)))
	sin, cos := math.Sincos(between(drawTurn, e.Rotate*math.Pi/180))
	scale := math.Exp(between(drawZoom, e.Zoom))
	sin *= scale
	cos *= scale
	mirror := 1.0
	if e.Flip && between(drawFlip, 1) < 0 {
		mirror = -1
	}
	midY := float64(e.height-1) / 2
	midX := float64(e.width-1) / 2
	at := 0
	for y := range e.height {
		for x := range e.width {
			v := float64(y) - midY - down
			u := mirror * (float64(x) - midX - right)
			e.read(dst[at:at+e.channels], src, midY+float64(cos*v)+float64(sin*u), midX+float64(cos*u)-float64(sin*v))
			at += e.channels
		}
	}
}

// read writes what src is at a place between pixels.
func (e *easel) read(dst, src []float32, y, x float64) {
	y = min(max(y, 0), float64(e.height-1))
	x = min(max(x, 0), float64(e.width-1))
	if e.nearest {
		y = math.Round(y)
		x = math.Round(x)
	}
	top := int(y)
	left := int(x)
	below := min(top+1, e.height-1)
	beside := min(left+1, e.width-1)
	fy := float32(y - float64(top))
	fx := float32(x - float64(left))
	a := src[(top*e.width+left)*e.channels:]
	b := src[(top*e.width+beside)*e.channels:]
	c := src[(below*e.width+left)*e.channels:]
	d := src[(below*e.width+beside)*e.channels:]
	for i := range dst {
		upper := a[i] + float32(fx*(b[i]-a[i]))
		lower := c[i] + float32(fx*(d[i]-c[i]))
		dst[i] = upper + float32(fy*(lower-upper))
	}
}

// light makes an image brighter or darker, and its contrast larger or smaller.
func (e *easel) light(dst []float32, between func(which uint64, most float64) float64) {
	if e.Light == 0 {
		return
	}
	shift := float32(between(drawLight, e.Light))
	scale := float32(math.Exp(between(drawContrast, e.Light)))
	for i, v := range dst {
		dst[i] = float32(v*scale) + shift
	}
}

// erase replaces a square by the mean of all images, which is 0.
func (e *easel) erase(dst []float32, uniform func(which uint64) float64) {
	if e.Erase == 0 {
		return
	}
	side := e.Erase * uniform(drawHole)
	high := int(math.Round(side * float64(e.height)))
	wide := int(math.Round(side * float64(e.width)))
	top := int(uniform(drawHoleTop) * float64(e.height-high+1))
	left := int(uniform(drawHoleLeft) * float64(e.width-wide+1))
	for y := top; y < top+high; y++ {
		clear(dst[(y*e.width+left)*e.channels : (y*e.width+left+wide)*e.channels])
	}
}
