package learn

import (
	"context"
	"math"

	"utvi/internal/compute"
	"utvi/internal/locate/fit"
	"utvi/internal/locate/net"
	"utvi/internal/locate/scene"
	"utvi/internal/locate/score"
)

// Targets of a row: the errors along x and y in the units of package net and whether they are known (1)
// or not (0), the same of light and background, and whether the row is an emitter.
const (
	pair    = 3 // targets for two errors
	knownAt = 2
	realAt  = 2 * pair
	targets = realAt + 1
)

// tolerance in pixels within which a fitted emitter is a true one.
const tolerance = 2.5

// Windows are rows for training: inputs and targets.
type Windows struct {
	X, Y []float32
	Rows int
}

func (w *Windows) add(o *Windows) {
	w.X = append(w.X, o.X...)
	w.Y = append(w.Y, o.Y...)
	w.Rows += o.Rows
}

// Draw makes scenes from first on and locates in them, with about so many windows each.
func Draw(ctx context.Context, o Optic, seed uint64, first, scenes, each int, pool *compute.Pool, done func(scenes int)) (*Windows, error) {
	all := &Windows{}
	batch := 4 * pool.Workers()
	parts := make([]Windows, batch)
	for i := 0; i < scenes; i += batch {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := min(batch, scenes-i)
		pool.Run(n, func(_, k int) {
			t := o.draw(seed, first+i+k)
			parts[k] = t.windows(each)
		})
		for k := range parts[:n] {
			all.add(&parts[k])
		}
		done(n)
	}
	return all, nil
}

// windows locates in frames of a scene until there are as many as asked for.
func (t *truth) windows(each int) (w Windows) {
	told := t.told.Alike()
	read := told.Variance()
	perFrame := t.Density * float64(t.Width*t.Height) * t.Pixel * t.Pixel * 1e-6
	const tuned, most = 1600, 120 // emitters that tell of the optics; frames
	var sample [][]float32
	for i := range min(max(int(tuned/perFrame), 8), 256) {
		q := make([]float32, t.Width*t.Height)
		t.Frame(i, q, nil)
		told.Quanta(q)
		sample = append(sample, q)
	}
	settings := fit.Tune(sample, t.Width, t.Height, read, fit.Settings{Sigma: t.sigma})
	f := fit.New(t.Width, t.Height, read, settings)
	q := make([]float32, t.Width*t.Height)
	var emitters []scene.Emitter
	var found []fit.Found
	for i := 0; i < most && w.Rows < each; i++ {
		emitters = t.Frame(1000+i, q, emitters[:0])
		told.Quanta(q)
		found = f.Frame(q, found[:0])
		t.match(f, found, emitters, &w)
	}
	return w
}

// match appends a row for each emitter that was found.
func (t *truth) match(f *fit.Fitter, found []fit.Found, emitters []scene.Emitter, w *Windows) {
	var a, b []score.Point
	for _, e := range found {
		a = append(a, score.Point{X: e.X, Y: e.Y})
	}
	for _, e := range emitters {
		b = append(b, score.Point{X: e.X, Y: e.Y})
	}
	// What the program takes for a photon is so many of the scene's.
	perPhoton := t.Camera.QE * max(1, t.Camera.EM) / t.Camera.Gain * t.told.Scale()
	for k, j := range score.Match(a, b, tolerance) {
		e := &found[k]
		row := make([]float32, net.Inputs)
		net.Fill(f, e, row)
		var y [targets]float32
		if j >= 0 {
			u := net.Units(e, f.Noise, f.Read(e))
			ground := t.Background * (1 + t.Tilt*(b[j].X/float64(t.Width)-0.5))
			errors := [net.Shifts]float64{b[j].X - e.X, b[j].Y - e.Y, math.Log(emitters[j].Photons * perPhoton / e.N), ground*perPhoton - e.Background}
			for i, x := range errors {
				const most = 25
				y[i/2*pair+i%2] = float32(min(max(x/u[i], -most), most))
			}
			y[knownAt] = 1
			y[pair+knownAt] = 1
			y[realAt] = 1
		}
		w.X = append(w.X, row...)
		w.Y = append(w.Y, y[:]...)
		w.Rows++
	}
}
