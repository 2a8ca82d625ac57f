// Package locate finds the molecules in stacks of camera frames: it reads frames, fits them on all
// cores, and hands the localisations on in the order of frames. The result does not depend on the
// number of cores.
package locate

import (
	"context"
	"fmt"
	"math"

	"utvi/internal/compute"
	"utvi/internal/locate/camera"
	"utvi/internal/locate/fit"
	"utvi/internal/locate/frames"
)

// A Config says how frames are to be read and fitted.
type Config struct {
	Camera    camera.Camera
	Sigma     float64 // standard deviation of the point's image in pixels; 0: estimated
	Threshold float64 // of candidates, in standard deviations of the noise
	First     int     // frame, from 0
	Frames    int     // 0: to the end
	Workers   int
}

// A Localisation is one molecule in one frame. Places are in pixels from the corner of the first
// pixel, whose centre is at one half; light is in photons.
type Localisation struct {
	Frame      int // from 0
	X, Y       float64
	Photons    float64
	Background float64 // photons of a pixel
	BackStd    float64 // standard deviation of the background's noise in a pixel, photons
	Misfit     float64 // mean squared residual around it, in terms of its variance; 1 is right
	SX, SY     float64 // standard deviations of the place
	Cov        float64 // covariance of X and Y
	Photon     float64 // standard deviation of the photons
	Bound      float64 // standard deviation of the place by the bound for one molecule alone
	Near       int     // other molecules within five pixels
	// What the network says; without one the probability is 1, and the joint bound is SX, SY.
	Probability    float64 // of being one molecule
	JointX, JointY float64 // standard deviations of the place by the bound with all neighbours unknown
	Doubt          float64 // the part of SX and SY that the network's doubt in itself adds, in quadrature
	Outside        bool    // unlike anything that the network was trained on
	Saturated      bool    // a pixel nearby is at the highest count that 16 bits can store
}

// Facts are what was learnt of a stack before it was fitted, and what was in it.
type Facts struct {
	Sigma  float64 // width of the point's image in pixels
	Noise  float64 // standard deviation of the noise, in terms of what the camera's numbers promise
	Frames int     // fitted
	Blank  int     // of them, with one and the same count in all pixels
	Found  int
}

// A Locator locates in one stack.
type Locator struct {
	Facts    Facts
	config   Config
	stack    *frames.Stack
	settings fit.Settings
}

// Prepare reads some frames of a stack and learns from them what it does not say. Frames of the range
// must be in the stack.
func Prepare(ctx context.Context, stack *frames.Stack, c Config) (*Locator, error) {
	if err := c.Camera.Check(); err != nil {
		return nil, err
	}
	if c.Frames == 0 {
		c.Frames = stack.Frames - c.First
	}
	l := &Locator{config: c, stack: stack}
	r := stack.NewReader()
	defer r.Close()
	const frames, emptyEnough = 32, 4
	var sample [][]float32
	below := 0
	all := 0
	for i := range min(frames, c.Frames) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		q := make([]float32, stack.Width*stack.Height)
		if err := r.Read(c.First+i*c.Frames/min(frames, c.Frames), q); err != nil {
			return nil, err
		}
		if blank(q) {
			continue
		}
		for _, x := range q {
			all++
			if float64(x) < c.Camera.Offset {
				below++
			}
		}
		c.Camera.Quanta(q)
		sample = append(sample, middle(q, stack.Width, stack.Height))
	}
	if 2*below > all {
		return nil, fmt.Errorf("%.0f %% of the pixels are below the camera's Offset of %g counts; set it to the count of a dark pixel", 100*float64(below)/float64(all), c.Camera.Offset)
	}
	w, h := min(stack.Width, sampleSide), min(stack.Height, sampleSide)
	l.settings = fit.Tune(sample, w, h, []float64{c.Camera.ReadVariance()}, fit.Settings{Sigma: c.Sigma, Threshold: c.Threshold})
	l.Facts.Sigma = l.settings.Sigma
	l.Facts.Noise = l.settings.Noise
	return l, nil
}

// sampleSide bounds the part of a frame from which Prepare learns.
const sampleSide = 256

// middle cuts out the middle of a large frame.
func middle(q []float32, width, height int) []float32 {
	w, h := min(width, sampleSide), min(height, sampleSide)
	x, y := (width-w)/2, (height-h)/2
	for i := range h {
		copy(q[i*w:][:w], q[(y+i)*width+x:])
	}
	return q[:w*h]
}

func blank(frame []float32) bool {
	for _, x := range frame {
		if x != frame[0] {
			return false
		}
	}
	return true
}

// A worker is what one goroutine needs to fit frames.
type worker struct {
	reader *frames.Reader
	fitter *fit.Fitter
	frame  []float32
	found  []fit.Found
}

// Run fits the frames and gives sink the localisations of one frame after the other, and done the
// number of frames. When the context ends, whole frames have been given.
func (l *Locator) Run(ctx context.Context, sink func([]Localisation) error, done func(frames int)) error {
	pool := compute.NewPool(compute.Workers(l.config.Workers))
	defer pool.Close()
	workers := make([]*worker, pool.Workers())
	for i := range workers {
		workers[i] = &worker{
			reader: l.stack.NewReader(),
			fitter: fit.New(l.stack.Width, l.stack.Height, []float64{l.config.Camera.ReadVariance()}, l.settings),
			frame:  make([]float32, l.stack.Width*l.stack.Height),
		}
		defer workers[i].reader.Close()
	}
	const perWorker = 16
	batch := perWorker * len(workers)
	type result struct {
		all   []Localisation
		blank bool
		err   error
	}
	results := make([]result, batch)
	first := 0
	task := func(w, i int) {
		r := &results[i]
		r.all, r.blank, r.err = l.frame(workers[w], l.config.First+first+i, r.all[:0])
	}
	for ; first < l.config.Frames; first += batch {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(batch, l.config.Frames-first)
		pool.Run(n, task)
		for _, r := range results[:n] {
			if r.err != nil {
				return r.err
			}
			if err := sink(r.all); err != nil {
				return err
			}
			l.Facts.Found += len(r.all)
			l.Facts.Frames++
			if r.blank {
				l.Facts.Blank++
			}
		}
		done(n)
	}
	return nil
}

func (l *Locator) frame(w *worker, i int, all []Localisation) ([]Localisation, bool, error) {
	if err := w.reader.Read(i, w.frame); err != nil {
		return all, false, err
	}
	if blank(w.frame) {
		return all, true, nil
	}
	l.config.Camera.Quanta(w.frame)
	w.found = w.fitter.Frame(w.frame, w.found[:0])
	for k := range w.found {
		all = append(all, l.localisation(i, &w.found[k], w.frame))
	}
	return all, false, nil
}

func (l *Locator) localisation(frame int, f *fit.Found, quanta []float32) Localisation {
	photons := l.config.Camera.Photons()
	return Localisation{
		Frame: frame, X: f.X, Y: f.Y,
		Photons:    f.N * photons,
		Background: f.Background * photons,
		BackStd:    l.Facts.Noise * photons * math.Sqrt(max(f.Background, 0)+l.config.Camera.ReadVariance()),
		Misfit:     f.Misfit,
		SX:         math.Sqrt(f.XX), SY: math.Sqrt(f.YY), Cov: f.XY,
		JointX: math.Sqrt(f.XX), JointY: math.Sqrt(f.YY),
		Probability: 1,
		Photon:      f.N * photons * math.Sqrt(f.LogN),
		Bound:       f.Single,
		Near:        f.Near,
		Saturated:   l.saturated(f, quanta),
	}
}

func (l *Locator) saturated(f *fit.Found, quanta []float32) bool {
	const reach = 2
	limit := float32((math.MaxUint16 - l.config.Camera.Offset) * l.config.Camera.Scale())
	limit -= float32(l.config.Camera.Scale() / 2)
	w, h := l.stack.Width, l.stack.Height
	for y := max(0, int(f.Y)-reach); y <= min(h-1, int(f.Y)+reach); y++ {
		for x := max(0, int(f.X)-reach); x <= min(w-1, int(f.X)+reach); x++ {
			if quanta[y*w+x] >= limit {
				return true
			}
		}
	}
	return false
}
