// Package fit finds the emitters of a frame and fits them together: matched filter, Fisher scoring
// in blocks of neighbours, a search in what is left, and the Cramér–Rao bound of each emitter with
// all its neighbours unknown.
package fit

import (
	"math"
	"slices"
)

// Settings say what to look for.
type Settings struct {
	Sigma     float64 // standard deviation of the point's image in pixels
	Threshold float64 // in standard deviations of the noise; 0 means 4
	Rounds    int     // of searches in the residual; 0 means 3
	// Noise is the standard deviation of the residuals in terms of what the camera's numbers promise;
	// 0 means 1. It widens thresholds and bounds.
	Noise float64
	// What is usual in the stack, a property of the optics that only package net reads: Found.Misfit, and
	// the strengths of oval and of lopsided residuals, all in terms of the noise. They are 1 if the image
	// of a point is the Gaussian that is fitted; 0 means 1.
	Misfit, Oval, Lopsided float64
	// Width is what the frames say that Sigma is, if it was given; 0: not known. Only package net reads it.
	Width float64
	// Alone fits each candidate as if there were no other, as most programs do: to compare with.
	Alone bool
}

func (s Settings) withDefaults() Settings {
	if s.Threshold == 0 {
		s.Threshold = 4
	}
	if s.Rounds == 0 {
		s.Rounds = 3
	}
	if s.Noise == 0 {
		s.Noise = 1
	}
	for _, usual := range []*float64{&s.Misfit, &s.Oval, &s.Lopsided} {
		if *usual == 0 {
			*usual = 1
		}
	}
	return s
}

// A Fitter fits frames, one at a time, with memory of its own.
type Fitter struct {
	Settings
	width, height int
	radius        int // of windows

	quanta   []float32
	variance []float64 // of the read-out, for each pixel
	alike    bool      // it is the same for all
	ground0  []float64 // background
	model    []float64 // background and light of all emitters
	weight   []float64 // 1/variance
	weighted []float64 // residual/variance

	emitters []emitter
	cells    []int32 // first emitter of each cell, −1: none
	across   int     // cells of a row
	near     []int32
	drop     []bool // emitters to be removed
	block    system
	score    []float64 // of the matched filter
	strength []float64
	passed   []float64 // between the two passes of a filter
	kernel   profile
	squares  [maxWindow]float64
	tiles    tiles
}

// New returns a fitter for frames of a size, whose read-out has a variance in quanta² (one for all
// pixels, or one each).
func New(width, height int, variance []float64, s Settings) *Fitter {
	n := width * height
	f := &Fitter{Settings: s.withDefaults(), width: width, height: height}
	f.radius = min(max(int(math.Ceil(3.6*s.Sigma)), 3), maxWindow/2)
	for _, p := range []*[]float64{&f.variance, &f.ground0, &f.model, &f.weight, &f.weighted, &f.score, &f.strength, &f.passed} {
		*p = make([]float64, n)
	}
	for i := range f.variance {
		f.variance[i] = variance[min(i, len(variance)-1)]
	}
	f.alike = len(variance) == 1
	f.across = (width + cellSide - 1) / cellSide
	f.cells = make([]int32, f.across*((height+cellSide-1)/cellSide))
	f.kernel.set(float64(f.radius)+0.5, s.Sigma, f.radius, 2*f.radius+1)
	for i, x := range f.kernel.light[:f.kernel.n] {
		f.squares[i] = x * x
	}
	f.tiles.init(f)
	return f
}

// Frame fits a frame of quanta and appends its emitters to all.
func (f *Fitter) Frame(quanta []float32, all []Found) []Found {
	f.begin(quanta)
	if f.Alone {
		return f.eachAlone(all)
	}
	for round := range f.Rounds {
		if f.search(round) == 0 && round > 0 {
			break
		}
		f.converge(4)
		f.level()
	}
	f.converge(6)
	if f.prune() {
		f.level()
		f.converge(6)
	}
	return f.report(all)
}

// eachAlone fits the candidates of the first search, one after the other.
func (f *Fitter) eachAlone(all []Found) []Found {
	f.search(0)
	candidates := slices.Clone(f.emitters)
	for _, e := range candidates {
		f.emitters = append(f.emitters[:0], e)
		f.redraw()
		f.converge(10)
		all = f.report(all)
	}
	f.emitters = f.emitters[:0]
	return all
}

func (f *Fitter) begin(quanta []float32) {
	f.quanta = quanta
	f.emitters = f.emitters[:0]
	f.tiles.begin(f)
	f.redraw()
}

// redraw makes the model anew, from the background and all emitters.
func (f *Fitter) redraw() {
	copy(f.model, f.ground0)
	for i := range f.emitters {
		f.light(&f.emitters[i], 1)
	}
	f.weighRange(0, len(f.model))
}

// level estimates the background anew, under the emitters that are known.
func (f *Fitter) level() {
	f.tiles.again(f)
	f.redraw()
	for i := range f.emitters {
		f.emitters[i].settled = false
	}
}

// cellSide is that of the cells in which neighbours are looked up.
const cellSide = 6

func (f *Fitter) cell(e *emitter) int {
	cx := min(max(int(e.x)/cellSide, 0), f.across-1)
	cy := min(max(int(e.y)/cellSide, 0), len(f.cells)/f.across-1)
	return cy*f.across + cx
}

// sort puts the emitters into cells.
func (f *Fitter) sort() {
	for i := range f.cells {
		f.cells[i] = -1
	}
	for i := range f.emitters {
		e := &f.emitters[i]
		c := f.cell(e)
		e.next = f.cells[c]
		f.cells[c] = int32(i)
	}
}

// neighbours lists emitter i and those within a distance, the nearest first, at most maxBlock.
func (f *Fitter) neighbours(i int, within float64, most int) []int32 {
	e := &f.emitters[i]
	c := f.cell(e)
	cx, cy := c%f.across, c/f.across
	reach := 1 + int(within)/cellSide
	f.near = append(f.near[:0], int32(i))
	for y := max(0, cy-reach); y <= min(cy+reach, len(f.cells)/f.across-1); y++ {
		for x := max(0, cx-reach); x <= min(cx+reach, f.across-1); x++ {
			for k := f.cells[y*f.across+x]; k >= 0; k = f.emitters[k].next {
				if int(k) != i && distance2(e, &f.emitters[k]) < within*within {
					f.near = append(f.near, k)
				}
			}
		}
	}
	rest := f.near[1:]
	for a := 1; a < len(rest); a++ { // few: insertion, with the number of the emitter to break ties
		for b := a; b > 0 && f.nearer(e, rest[b], rest[b-1]); b-- {
			rest[b], rest[b-1] = rest[b-1], rest[b]
		}
	}
	return f.near[:min(len(f.near), most)]
}

func (f *Fitter) nearer(e *emitter, a, b int32) bool {
	x, y := distance2(e, &f.emitters[a]), distance2(e, &f.emitters[b])
	return x < y || x == y && a < b
}

func distance2(a, b *emitter) float64 {
	dx, dy := a.x-b.x, a.y-b.y
	return dx*dx + dy*dy
}

// converge steps through the emitters, each with its nearest neighbours, until none moves by more
// than a hundredth of its standard deviation.
func (f *Fitter) converge(sweeps int) {
	f.sort()
	for range sweeps {
		moved := false
		for i := range f.emitters {
			near := f.neighbours(i, 2.6*f.Sigma, 4)
			if f.allSettled(near) {
				continue
			}
			f.step(near)
			moved = true
		}
		if !moved {
			return
		}
	}
}

func (f *Fitter) allSettled(near []int32) bool {
	return !slices.ContainsFunc(near, func(k int32) bool { return !f.emitters[k].settled })
}

// step solves for a block of emitters at once and moves them.
func (f *Fitter) step(near []int32) {
	s := &f.block
	s.reset(perEmitter * len(near))
	for a, k := range near {
		f.own(&f.emitters[k], s, perEmitter*a)
		for b, l := range near[:a] {
			f.cross(&f.emitters[k], &f.emitters[l], s, perEmitter*a, perEmitter*b)
		}
	}
	const damping = 1e-3 // against emitters that can hardly be told apart
	var information [perEmitter * maxBlock]float64
	for i := range s.n {
		information[i] = s.matrix[i*s.n+i]
		s.matrix[i*s.n+i] += damping*information[i] + 1e-12
	}
	if !s.factor() {
		for _, k := range near {
			f.emitters[k].settled = true
		}
		return
	}
	s.solve()
	for a, k := range near {
		e := &f.emitters[k]
		f.light(e, -1)
		f.move(e, s.gradient[perEmitter*a:], information[perEmitter*a:])
		f.shape(e)
		f.light(e, 1)
	}
	for _, k := range near {
		f.weigh(&f.emitters[k])
	}
}

// move takes a step of at most half a pixel, and of at most a factor of two in the light.
func (f *Fitter) move(e *emitter, step, information []float64) {
	const small = 1e-4 // of the variance
	worst := 0.0
	for i := range perEmitter {
		worst = max(worst, step[i]*step[i]*information[i])
	}
	e.settled = worst < small
	const far = 0.5
	e.x = min(max(e.x+min(max(step[atX], -far), far), -1), float64(f.width)+1)
	e.y = min(max(e.y+min(max(step[atY], -far), far), -1), float64(f.height)+1)
	e.n *= math.Exp(min(max(step[atN], -0.7), 0.7))
	e.n = max(e.n, 1e-3)
}
