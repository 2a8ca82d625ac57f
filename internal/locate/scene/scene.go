// Package scene draws what a camera sees of blinking molecules, with the truth beside it. Frames are
// pure functions of a seed and their number.
package scene

import (
	"errors"
	"fmt"
	"math"

	"utvi/internal/locate/camera"
	"utvi/rng"
)

// A Scene says what there is to see.
type Scene struct {
	Width, Height int     // pixels
	Pixel         float64 // nm
	PSF           PSF
	Density       float64 // emitters per µm² that are on in a frame
	Photons       float64 // of an emitter and frame
	Spread        float64 // of the logarithm of the photons, standard deviation
	Background    float64 // photons of a pixel
	Tilt          float64 // the background's change from left to right, as a part of it
	Lifetime      float64 // mean number of frames for which an emitter is on; 0 or 1: one
	Drift         float64 // nm in each direction over 1000 frames
	Pattern       Pattern
	Camera        camera.Camera
	Sensor        *camera.Sensor // of pixels that are not alike; nil: as Camera says
	Seed          uint64
}

// A Pattern is where molecules are.
type Pattern string

// Patterns: anywhere; one in the middle of each square of 16 pixels, so that no two overlap; along
// curved filaments.
const (
	Uniform   Pattern = "uniform"
	Isolated  Pattern = "isolated"
	Filaments Pattern = "filaments"
)

// An Emitter is a molecule that is on. Its place is in pixels from the corner of the first pixel,
// whose centre is at half a pixel.
type Emitter struct {
	ID      uint64
	X, Y    float64
	Photons float64
}

// Standard is the scene with which methods are compared: 100 nm pixels, 3000 photons on a background
// of 500, read noise √300.
func Standard() Scene {
	return Scene{Width: 32, Height: 32, Pixel: 100, PSF: Gaussian(1.088), Density: 1.3, Photons: 3000, Background: 500,
		Pattern: Uniform, Camera: camera.Camera{Offset: 500, Gain: 1, QE: 1, Read: math.Sqrt(300)}, Seed: 1}
}

// Check says what cannot be drawn.
func (s *Scene) Check() error {
	if err := s.Camera.Check(); err != nil {
		return err
	}
	known := s.Pattern == Uniform || s.Pattern == Isolated || s.Pattern == Filaments
	switch {
	case s.Width < 8 || s.Height < 8 || s.Width > 1<<13 || s.Height > 1<<13:
		return fmt.Errorf("frames of %d×%d pixels; each side must be 8 to 8192", s.Width, s.Height)
	case !known:
		return fmt.Errorf("there is no pattern %q; the patterns are %s, %s, %s", s.Pattern, Uniform, Isolated, Filaments)
	case !(s.Pixel > 0 && s.Pixel < 1e6):
		return fmt.Errorf("the Pixel is %g nm; it must be above 0", s.Pixel)
	case !(s.Photons > 0 && s.Photons < 1e9) || !(s.Background >= 0 && s.Background < 1e9):
		return errors.New("the Photons must be above 0, the Background at least 0")
	case !(s.Density >= 0 && s.perFrame() < 1e5):
		return fmt.Errorf("a Density of %g emitters per µm² cannot be drawn", s.Density)
	case !(s.Spread >= 0 && s.Spread <= 3) || !(s.Lifetime >= 0 && s.Lifetime <= 1000) || !(math.Abs(s.Tilt) <= 1):
		return errors.New("the Spread must be 0 to 3, the Lifetime 0 to 1000 frames, the Tilt −1 to 1")
	}
	return nil
}

// perFrame is the mean number of emitters in a frame.
func (s *Scene) perFrame() float64 {
	return s.Density * float64(s.Width) * float64(s.Height) * s.Pixel * s.Pixel * 1e-6
}

// Streams of random numbers, by purpose.
const (
	streamBirths uint32 = iota
	streamNoise
	streamRead
	streamFilaments
	streamAngle
)

// Frame draws frame i, in counts, and appends the emitters that are on to all.
func (s *Scene) Frame(i int, counts []float32, all []Emitter) []Emitter {
	mean := make([]float64, s.Width*s.Height)
	begin := len(all)
	all = s.emitters(i, all)
	for j := range mean {
		x := (float64(j%s.Width) + 0.5) / float64(s.Width)
		mean[j] = s.Background * (1 + s.Tilt*(x-0.5))
	}
	for _, e := range all[begin:] {
		angle := s.PSF.Angle
		if s.PSF.Free {
			angle = 2 * math.Pi * rng.Uniform(rng.New(s.Seed).Sub(e.ID, streamAngle), 0)
		}
		s.PSF.add(mean, s.Width, s.Height, e, angle)
	}
	s.expose(i, mean, counts)
	return all
}

// expose draws the counts of a frame.
func (s *Scene) expose(i int, mean []float64, counts []float32) {
	c := s.Camera
	sensor := s.Sensor
	if sensor == nil {
		sensor = c.Alike()
	}
	photons := rng.New(s.Seed).Sub(uint64(i), streamNoise)
	read := rng.New(s.Seed).Sub(uint64(i), streamRead)
	for j, m := range mean {
		e := float64(rng.Poisson(photons, uint64(j), m*c.QE))
		if c.EM > 0 {
			e = c.EM * amplified(e, rng.Normal(read, uint64(2*j+1)))
		}
		counts[j] = float32(math.Round(sensor.Counts(j, e, rng.Normal(read, uint64(2*j)))))
	}
}

// amplified is a Gamma number of shape n, by the cube of a Normal (Wilson and Hilferty).
func amplified(n, z float64) float64 {
	if n == 0 {
		return 0
	}
	x := 1 - 1/(9*n) + z/(3*math.Sqrt(n))
	return n * max(0, x*x*x)
}

// emitters appends the emitters of frame i: those that began in it, and those that began before
// and are still on.
func (s *Scene) emitters(i int, all []Emitter) []Emitter {
	if s.Pattern == Isolated {
		return s.isolated(i, all)
	}
	life := max(1, s.Lifetime)
	births := s.perFrame() / life
	const longest = 8 // mean lives
	oldest := 0
	if life > 1 {
		oldest = int(longest * life)
	}
	for age := oldest; age >= 0; age-- {
		frame := uint64(i - age + 1<<20)
		key := rng.New(s.Seed).Sub(frame, streamBirths)
		for k := range rng.Poisson(key, 0, births) {
			key := key.Sub(uint64(k), 1)
			if age > 0 && rng.Uniform(key, 0) > math.Pow(1-1/life, float64(age)) {
				continue
			}
			e := Emitter{ID: frame<<20 | uint64(k)}
			e.X, e.Y = s.place(key)
			e.X += s.Drift / s.Pixel * float64(i) / 1000
			e.Y += s.Drift / s.Pixel * float64(i) / 1000
			all = s.on(all, e, key)
		}
	}
	return all
}

func (s *Scene) on(all []Emitter, e Emitter, key rng.Key) []Emitter {
	e.Photons = s.Photons
	if s.Spread > 0 {
		e.Photons *= math.Exp(s.Spread * rng.Normal(key, 1))
	}
	if e.X < 0 || e.Y < 0 || e.X >= float64(s.Width) || e.Y >= float64(s.Height) {
		return all
	}
	return append(all, e)
}

func (s *Scene) place(key rng.Key) (x, y float64) {
	if s.Pattern == Filaments {
		return s.filament(key)
	}
	return rng.Uniform(key, 2) * float64(s.Width), rng.Uniform(key, 3) * float64(s.Height)
}

// filament is a place on one of some curves, 25 nm wide.
func (s *Scene) filament(key rng.Key) (x, y float64) {
	const filaments = 7
	w, h := float64(s.Width), float64(s.Height)
	f := uint64(rng.Uniform(key, 2) * filaments)
	shape := rng.New(s.Seed).Sub(f, streamFilaments)
	along := rng.Uniform(key, 3)
	across := 25 / s.Pixel * (rng.Uniform(key, 4) - 0.5)
	bend := 0.12 * math.Sin(2*math.Pi*(along*(0.5+rng.Uniform(shape, 0))+rng.Uniform(shape, 1)))
	level := rng.Uniform(shape, 2)*(1-along) + rng.Uniform(shape, 3)*along + bend
	if f%2 == 0 {
		return along * w, level*h + across
	}
	return level*w + across, along * h
}

// isolated puts an emitter into the middle of each square of 16 pixels, at any phase of a pixel.
func (s *Scene) isolated(i int, all []Emitter) []Emitter {
	const square = 16
	n := uint64(0)
	for y := 0; y+square <= s.Height; y += square {
		for x := 0; x+square <= s.Width; x += square {
			n++
			id := uint64(i+1)<<20 | n
			key := rng.New(s.Seed).Sub(id, streamBirths)
			e := Emitter{ID: id}
			e.X = float64(x) + square/2 + 4*(rng.Uniform(key, 2)-0.5)
			e.Y = float64(y) + square/2 + 4*(rng.Uniform(key, 3)-0.5)
			all = s.on(all, e, key)
		}
	}
	return all
}
