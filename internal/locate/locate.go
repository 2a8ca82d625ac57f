// Package locate finds the molecules in stacks of camera frames: it reads frames, fits them on all
// cores, and hands the localisations on in the order of frames. The result does not depend on the
// number of cores.
package locate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"utvi/internal/compute"
	"utvi/internal/locate/camera"
	"utvi/internal/locate/fit"
	"utvi/internal/locate/frames"
	"utvi/internal/locate/list"
	"utvi/internal/locate/net"
)

// A Config says how frames are to be read and fitted.
type Config struct {
	Camera    camera.Camera
	Maps      camera.Maps
	Sigma     float64 // standard deviation of the point's image in pixels; 0: estimated
	Threshold float64 // of candidates, in standard deviations of the noise
	First     int     // frame, from 0
	Frames    int     // 0: to the end
	Workers   int
	// Net corrects what was fitted; nil: nothing does. Least is the smallest probability of being an
	// emitter with which a localisation is kept.
	Net   *net.Net
	Least float64
}

// A Localisation is one molecule in one frame.
type Localisation = list.Localisation

// Facts are what was learnt of a stack before it was fitted, and what was in it.
type Facts struct {
	Sigma  float64 // width of the point's image in pixels
	Seen   float64 // what the frames say that the width is
	Noise  float64 // standard deviation of the noise, in terms of what the camera's numbers promise
	Frames int     // fitted
	Blank  int     // of them, with one and the same count in all pixels
	Found  int

	Unlikely  int // not kept: the probability of being a molecule was too low
	Outside   int // of those found, unlike anything that the network was trained on
	Saturated int // of those found
}

// A Locator locates in one stack.
type Locator struct {
	Facts    Facts
	config   Config
	stack    *frames.Stack
	sensor   *camera.Sensor
	settings fit.Settings
}

// A Part is what was found in one frame.
type Part struct {
	Frame    int // from 0, in the stack
	All      []Localisation
	Unlikely int // not kept
	Blank    bool
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
	sensor, err := c.Maps.Sensor(c.Camera, stack.Width, stack.Height)
	if err != nil {
		return nil, err
	}
	l := &Locator{config: c, stack: stack, sensor: sensor}
	r := stack.NewReader()
	defer r.Close()
	frames := min(max(enoughPixels/(min(stack.Width, sampleSide)*min(stack.Height, sampleSide)), 48), 512)
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
		all += len(q)
		below += sensor.Below(q)
		sensor.Quanta(q)
		sample = append(sample, middle(q, stack.Width, stack.Height))
	}
	if 2*below > all {
		offset := fmt.Sprintf("Offset of %g counts; set it to the count of a dark pixel", c.Camera.Offset)
		if c.Maps.Offset != "" {
			offset = fmt.Sprintf("offset in %s; is it of this camera, and of this region (--map-at)?", c.Maps.Offset)
		}
		return nil, fmt.Errorf("%.0f %% of the pixels are below the camera's %s", 100*float64(below)/float64(all), offset)
	}
	w, h := min(stack.Width, sampleSide), min(stack.Height, sampleSide)
	variance := sensor.VarianceOf((stack.Width-w)/2, (stack.Height-h)/2, w, h, stack.Width)
	l.settings = fit.Tune(sample, w, h, variance, fit.Settings{Sigma: c.Sigma, Threshold: c.Threshold})
	l.Facts.Sigma = l.settings.Sigma
	l.Facts.Seen = l.settings.Width
	l.Facts.Noise = l.settings.Noise
	return l, nil
}

// sampleSide bounds the part of a frame from which Prepare learns.
// enoughPixels is how many pixels are enough to learn from, where frames are small.
const (
	sampleSide   = 256
	enoughPixels = 1 << 19
)

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

	corrector   *net.Corrector // nil: none
	corrections []net.Correction
}

// Run fits frames from one on (counted in the range, from 0) up to another, and gives sink one after the
// other, and done their number. When the context ends, whole frames have been given; all before are in Facts.
func (l *Locator) Run(ctx context.Context, from, to int, sink func(*Part) error, done func(frames int)) error {
	pool := compute.NewPool(compute.Workers(l.config.Workers))
	defer pool.Close()
	workers := make([]*worker, pool.Workers())
	for i := range workers {
		workers[i] = &worker{
			reader: l.stack.NewReader(),
			fitter: fit.New(l.stack.Width, l.stack.Height, l.sensor.Variance(), l.settings),
			frame:  make([]float32, l.stack.Width*l.stack.Height),
		}
		if l.config.Net != nil {
			workers[i].corrector = l.config.Net.NewCorrector()
		}
		defer workers[i].reader.Close()
	}
	const perWorker = 16
	batch := perWorker * len(workers)
	parts, errs := make([]Part, batch), make([]error, batch)
	first := from
	task := func(w, i int) {
		parts[i].Frame = l.config.First + first + i
		errs[i] = l.frame(workers[w], &parts[i])
	}
	for ; first < to; first += batch {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(batch, to-first)
		pool.Run(n, task)
		for i := range n {
			if errs[i] != nil {
				return errs[i]
			}
			if err := sink(&parts[i]); err != nil {
				return err
			}
			l.Facts.Count(&parts[i])
		}
		done(n)
	}
	return nil
}

// Count adds a frame.
func (f *Facts) Count(p *Part) {
	f.Frames++
	f.Found += len(p.All)
	f.Unlikely += p.Unlikely
	if p.Blank {
		f.Blank++
	}
	for i := range p.All {
		if p.All[i].Outside {
			f.Outside++
		}
		if p.All[i].Saturated {
			f.Saturated++
		}
	}
}

func (l *Locator) frame(w *worker, p *Part) error {
	p.All = p.All[:0]
	p.Unlikely = 0
	if err := w.reader.Read(p.Frame, w.frame); err != nil {
		return err
	}
	p.Blank = blank(w.frame)
	if p.Blank {
		return nil
	}
	l.sensor.Quanta(w.frame)
	w.found = w.fitter.Frame(w.frame, w.found[:0])
	if w.corrector != nil {
		w.corrections = slices.Grow(w.corrections[:0], len(w.found))[:len(w.found)]
		w.corrector.Correct(w.fitter, w.found, w.corrections)
	}
	for k := range w.found {
		x := l.localisation(p.Frame, w.fitter, &w.found[k], w.frame)
		if w.corrector != nil {
			correct(&x, &w.corrections[k], l.config.Camera.Photons())
		}
		if x.Probability < l.config.Least {
			p.Unlikely++
			continue
		}
		p.All = append(p.All, x)
	}
	return nil
}

// correct takes over what the network says.
func correct(x *Localisation, c *net.Correction, photons float64) {
	x.X += c.X
	x.Y += c.Y
	x.Photons *= math.Exp(c.Light)
	x.Photon = x.Photons * c.SLight
	x.Ground = c.SBackground * photons
	x.Background = max(x.Background+c.Background*photons, 0)
	// What the network adds to the bound has no direction of its own.
	x.Cov *= min(1, c.SX*c.SY/(x.SX*x.SY))
	x.SX = c.SX
	x.SY = c.SY
	x.Probability = c.Probability
	x.Doubt = c.Doubt
	x.Outside = c.Outside
}

func (l *Locator) localisation(frame int, by *fit.Fitter, f *fit.Found, quanta []float32) Localisation {
	photons := l.config.Camera.Photons()
	return Localisation{
		Frame: frame, X: f.X, Y: f.Y,
		Photons:    f.N * photons,
		Background: f.Background * photons,
		BackStd:    l.Facts.Noise * photons * math.Sqrt(max(f.Background, 0)+by.Read(f)),
		Misfit:     f.Misfit,
		SX:         math.Sqrt(f.XX), SY: math.Sqrt(f.YY), Cov: f.XY,
		JointX: math.Sqrt(f.XX), JointY: math.Sqrt(f.YY),
		Probability: 1,
		Photon:      f.N * photons * math.Sqrt(f.LogN),
		Ground:      photons * math.Sqrt(f.Ground),
		Bound:       f.Single,
		Near:        f.Near,
		Saturated:   l.saturated(f, quanta),
	}
}

func (l *Locator) saturated(f *fit.Found, quanta []float32) bool {
	const reach = 2
	w, h := l.stack.Width, l.stack.Height
	for y := max(0, int(f.Y)-reach); y <= min(h-1, int(f.Y)+reach); y++ {
		for x := max(0, int(f.X)-reach); x <= min(w-1, int(f.X)+reach); x++ {
			if l.sensor.Full(y*w+x, quanta[y*w+x]) {
				return true
			}
		}
	}
	return false
}
