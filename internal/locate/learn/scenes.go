// Package learn makes networks for package net: it draws scenes, locates in them by the very steps
// of use, and trains on the errors.
package learn

import (
	"math"

	"utvi/internal/locate/camera"
	"utvi/internal/locate/scene"
	"utvi/rng"
)

// A Range is where a number of a scene is drawn from.
type Range struct{ Least, Most float64 }

func (r Range) uniform(key rng.Key, i uint64) float64 {
	return r.Least + (r.Most-r.Least)*rng.Uniform(key, i)
}

func (r Range) logarithmic(key rng.Key, i uint64) float64 {
	return math.Exp(Range{math.Log(r.Least), math.Log(r.Most)}.uniform(key, i))
}

// An Optic says what scenes to train on.
type Optic struct {
	Width      Range // of a point's image, standard deviation in pixels
	Photons    Range
	Background Range // photons of a pixel
	Density    Range // emitters per pixel of a frame
	Read       Range // noise in photoelectrons
}

// Usual is the optic of the network that is part of the program.
func Usual() Optic {
	return Optic{Width: Range{0.85, 1.4}, Photons: Range{250, 12000}, Background: Range{1, 1500},
		Density: Range{0.0015, 0.08}, Read: Range{0.5, 35}}
}

// A truth is a scene, and what the program is told of it.
type truth struct {
	scene.Scene
	told  camera.Camera
	sigma float64 // 0: to be estimated
}

// Purposes of random numbers of a scene.
const (
	drawWidth uint64 = iota
	drawPhotons
	drawBackground
	drawDensity
	drawRead
	drawShape
	drawSize
	drawFar
	drawAngle
	drawTilt
	drawSpread
	drawCamera
	drawGain
	drawGiven
	drawError
	drawFree
	drawEven
	drawReal
)

// draw makes scene number i.
func (o Optic) draw(seed uint64, i int) truth {
	key := rng.New(seed).Sub(uint64(i), 77)
	t := truth{}
	s := scene.Standard()
	s.Width = 40
	s.Height = 40
	s.Seed = rng.Uint64(key, drawReal)
	sigma := o.Width.uniform(key, drawWidth)
	s.PSF = shape(key, sigma)
	s.Background = o.Background.logarithmic(key, drawBackground)
	read := o.Read.logarithmic(key, drawRead)
	// Photons whose light can be told from the noise at all: below, there are no candidates.
	visible := 14 * sigma * math.Sqrt(s.Background+read*read)
	photons := o.Photons
	photons.Least = min(max(photons.Least, visible), photons.Most)
	s.Photons = photons.logarithmic(key, drawPhotons)
	s.Density = o.Density.logarithmic(key, drawDensity) / (s.Pixel * s.Pixel * 1e-6)
	if rng.Uniform(key, drawEven) < 0.5 {
		s.Spread = Range{0, 0.6}.uniform(key, drawSpread)
	}
	s.Tilt = Range{-0.5, 0.5}.uniform(key, drawTilt)
	s.Camera = camera.Camera{Offset: 100, Gain: 1, QE: 1, Read: read}
	t.told = s.Camera
	wrong(key, &s.Camera, &t.told)
	t.Scene = s
	if rng.Uniform(key, drawGiven) < 0.3 {
		t.sigma = sigma * (1 + 0.06*rng.Normal(key, drawError))
	}
	return t
}

// wrong makes the camera another one than the program is told, in a part of the scenes.
func wrong(key rng.Key, real, told *camera.Camera) {
	u := rng.Uniform(key, drawCamera)
	switch {
	case u < 0.15:
		g := Range{0.5, 2}.logarithmic(key, drawGain)
		told.Gain *= g
		told.Read *= g
	case u < 0.25: // an EM register of which it does not know
		real.EM = 50
		real.Gain = 50
		real.Read *= 50
	case u < 0.35: // one of which it knows
		real.EM = 50
		real.Gain = 50
		real.Read *= 50
		*told = *real
	}
}

// shape draws the image of a point.
func shape(key rng.Key, sigma float64) scene.PSF {
	size := rng.Uniform(key, drawSize)
	far := rng.Uniform(key, drawFar)
	angle := 2 * math.Pi * rng.Uniform(key, drawAngle)
	free := rng.Uniform(key, drawFree) < 0.6
	u := rng.Uniform(key, drawShape)
	switch {
	case u < 0.5:
		return scene.Gaussian(sigma)
	case u < 0.62:
		return scene.Airy(sigma)
	case u < 0.7:
		share := 0.05 + 0.25*size
		return scene.PSF{Lobes: []scene.Lobe{{Share: 1 - share, Sigma: sigma}, {Share: share, Sigma: sigma * (1.5 + far)}}}
	case u < 0.78: // elliptical
		d := 0.5 * sigma * size
		return scene.PSF{Lobes: []scene.Lobe{{Share: 0.5, X: d, Sigma: sigma}, {Share: 0.5, X: -d, Sigma: sigma}}, Angle: angle, Free: free}
	}
	p := scene.Lopsided(sigma, 0.03+0.22*size, 0.4+1.4*far, free)
	p.Angle = angle
	return p
}
