package learn

import (
	"context"
	"math"
	"time"

	"utvi/internal/locate/camera"
	"utvi/internal/locate/fit"
	"utvi/internal/locate/net"
	"utvi/internal/locate/scene"
	"utvi/internal/locate/score"
)

// A Case is a scene, and the camera of which the program is told.
type Case struct {
	Name  string
	Scene scene.Scene
	Told  camera.Camera
	Sigma float64 // width that the program is told, pixels; 0: it estimates it
	// Molecules is about how many to draw.
	Molecules int
}

// Cases are the scenes of the benchmark: the standard one, and what goes wrong.
func Cases(seed uint64, molecules int) (all []Case) {
	for _, r := range requests() {
		c := Case{Name: r.name, Scene: scene.Standard(), Molecules: molecules}
		c.Scene.Seed = seed
		c.Told = c.Scene.Camera
		r.change(&c)
		all = append(all, c)
	}
	return all
}

// A request is how a case differs from the standard scene.
type request struct {
	name   string
	change func(*Case)
}

func requests() []request {
	const sigma = 1.088
	return []request{
		{"isolated", isolated},
		{"isolated, 5000 photons on 10", light(5000, 10)},
		{"isolated, 500 photons on 10", light(500, 10)},
		{"1.3 per µm²", density(1.3)},
		{"4.1 per µm²", density(4.1)},
		{"6.4 per µm²", density(6.4)},
		{"gain told twice too high", gain(2)},
		{"gain told twice too low", gain(0.5)},
		{"EM register not told", hiddenRegister},
		{"Airy", optic(scene.Airy(sigma), 3000, 500)},
		{"10 % 1 px aside", optic(scene.Lopsided(sigma, 0.1, 1, true), 3000, 500)},
		{"20 % 1.5 px aside", optic(scene.Lopsided(sigma, 0.2, 1.5, true), 3000, 500)},
		{"10 % 1 px aside, 5000 photons on 10", optic(scene.Lopsided(sigma, 0.1, 1, true), 5000, 10)},
		{"20 % 1.5 px aside, 5000 photons on 10", optic(scene.Lopsided(sigma, 0.2, 1.5, true), 5000, 10)},
		{"width told 10 % too small", told(0.9 * sigma)},
		{"width told 25 % too small", told(0.75 * sigma)},
		{"width told 25 % too large", told(1.25 * sigma)},
		{"width 2 px", optic(scene.Gaussian(2), 3000, 500)},
		{"60000 photons", optic(scene.Gaussian(sigma), 60000, 500)},
		{"40 % 2.5 px aside, 5000 photons on 10", optic(scene.Lopsided(sigma, 0.4, 2.5, true), 5000, 10)},
	}
}

func isolated(c *Case) { c.Scene.Pattern = scene.Isolated }

func density(perArea float64) func(*Case) {
	return func(c *Case) { c.Scene.Density = perArea }
}

func light(photons, background float64) func(*Case) {
	return func(c *Case) {
		isolated(c)
		c.Scene.Photons = photons
		c.Scene.Background = background
	}
}

func optic(p scene.PSF, photons, background float64) func(*Case) {
	return func(c *Case) {
		light(photons, background)(c)
		c.Scene.PSF = p
	}
}

// gain is that of a camera of which another is told.
func gain(factor float64) func(*Case) {
	return func(c *Case) {
		isolated(c)
		c.Told.Gain *= factor
		c.Told.Read *= factor
	}
}

// told is a width that was told, whatever the true one is.
func told(sigma float64) func(*Case) {
	return func(c *Case) {
		isolated(c)
		c.Sigma = sigma
	}
}

// hiddenRegister is a multiplying register that nobody told.
func hiddenRegister(c *Case) {
	isolated(c)
	c.Scene.Camera.EM = 100
	c.Scene.Camera.Gain = 100
	c.Scene.Camera.Read *= 100
}

// A Result is what one way to localise gave in a case.
type Result struct {
	Case, Way string
	score.Summary
	PerBound float64 // RMSE in terms of the median bound for a molecule alone
	Flagged  float64 // share that is marked as unlike the training
	Doubt    float64 // pixels, mean
	Each     float64 // seconds of a core for a molecule
}

// Ways to localise.
const (
	Alone = "each alone, CRLB"
	Joint = "together, joint CRLB"
	Ours  = "with the network"
)

// Judge compares ways to localise in a case: each molecule alone, all together, and what networks make
// of that; these are given by name, and tried in order.
func Judge(ctx context.Context, c Case, nets map[string]*net.Net, order []string) (all []Result, err error) {
	frames := c.frames()
	told := c.Told.Alike()
	sample := make([][]float32, min(frames, 512))
	for i := range sample {
		sample[i] = make([]float32, c.Scene.Width*c.Scene.Height)
		c.Scene.Frame(1<<20+i, sample[i], nil)
		told.Quanta(sample[i])
	}
	read := told.Variance()
	settings := fit.Tune(sample, c.Scene.Width, c.Scene.Height, read, fit.Settings{Sigma: c.Sigma})
	alone := settings
	alone.Alone = true
	j, err := c.fit(ctx, alone, frames, nil)
	if err != nil {
		return nil, err
	}
	all = append(all, j.result(c.Name, Alone))
	j, err = c.fit(ctx, settings, frames, nil)
	if err != nil {
		return nil, err
	}
	all = append(all, j.result(c.Name, Joint))
	for _, name := range order {
		j, err = c.fit(ctx, settings, frames, nets[name])
		if err != nil {
			return nil, err
		}
		all = append(all, j.result(c.Name, name))
	}
	return all, nil
}

func (c *Case) frames() int {
	if c.Scene.Pattern == scene.Isolated {
		return max(1, c.Molecules/4)
	}
	area := float64(c.Scene.Width*c.Scene.Height) * c.Scene.Pixel * c.Scene.Pixel * 1e-6
	return max(1, int(float64(c.Molecules)/(c.Scene.Density*area)))
}

// A judgement adds up frames.
type judgement struct {
	errors       []score.Error
	found, truth int
	flagged      int
	doubt        float64
	bound        []float64
	took         time.Duration
}

func (c *Case) fit(ctx context.Context, s fit.Settings, frames int, n *net.Net) (*judgement, error) {
	told := c.Told.Alike()
	f := fit.New(c.Scene.Width, c.Scene.Height, told.Variance(), s)
	var corrector *net.Corrector
	if n != nil {
		corrector = n.NewCorrector()
	}
	j := &judgement{}
	q := make([]float32, c.Scene.Width*c.Scene.Height)
	var emitters []scene.Emitter
	var found []fit.Found
	var corrections []net.Correction
	for i := range frames {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		emitters = c.Scene.Frame(i, q, emitters[:0])
		told.Quanta(q)
		begin := time.Now()
		found = f.Frame(q, found[:0])
		if corrector != nil {
			corrections = append(corrections[:0], make([]net.Correction, len(found))...)
			corrector.Correct(f, found, corrections)
		}
		j.took += time.Since(begin)
		j.add(found, corrections, emitters, s.Alone)
	}
	return j, nil
}

func (j *judgement) add(found []fit.Found, corrections []net.Correction, emitters []scene.Emitter, alone bool) {
	var a, b []score.Point
	var promised []score.Error
	for k, e := range found {
		p := score.Point{X: e.X, Y: e.Y}
		s := score.Error{SX: math.Sqrt(e.XX), SY: math.Sqrt(e.YY)}
		if alone {
			s = score.Error{SX: e.Single, SY: e.Single}
		}
		if corrections != nil {
			c := corrections[k]
			if c.Probability < 0.5 {
				continue
			}
			p.X += c.X
			p.Y += c.Y
			s = score.Error{SX: c.SX, SY: c.SY}
			j.doubt += c.Doubt
			if c.Outside {
				j.flagged++
			}
		}
		a = append(a, p)
		promised = append(promised, s)
		j.bound = append(j.bound, e.Single)
	}
	for _, e := range emitters {
		b = append(b, score.Point{X: e.X, Y: e.Y})
	}
	j.found += len(a)
	j.truth += len(b)
	for k, t := range score.Match(a, b, tolerance) {
		if t >= 0 {
			e := promised[k]
			e.DX = a[k].X - b[t].X
			e.DY = a[k].Y - b[t].Y
			j.errors = append(j.errors, e)
		}
	}
}

func (j *judgement) result(name, way string) Result {
	r := Result{Case: name, Way: way, Summary: score.Summarise(j.errors, j.found, j.truth)}
	n := float64(max(j.found, 1))
	r.Flagged = float64(j.flagged) / n
	r.Doubt = j.doubt / n
	r.Each = j.took.Seconds() / n
	if len(j.bound) > 0 {
		r.PerBound = r.RMSE / score.Median(j.bound)
	}
	return r
}
