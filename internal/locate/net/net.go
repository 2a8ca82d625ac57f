package net

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"

	"utvi/gauss"
	"utvi/internal/inputfile"
	"utvi/internal/locate/fit"
	"utvi/model"
)

// A Net is a trained network with what belongs to it.
type Net struct {
	Ensemble *model.Ensemble
	Facts    Facts
	Sum      string // of the file that it was read from
}

// Facts are stored beside the network.
type Facts struct {
	Format int `json:"format"`
	// Low and High bound the numbers of Seen that nearly all training rows had; Doubt is the most that
	// the network's doubt in itself was for them, in the units of the joint bound.
	Low   [Watched]float32 `json:"low"`
	High  [Watched]float32 `json:"high"`
	Doubt float64          `json:"doubt"`
	Scale Scale            `json:"scale"`
	// Begin is the mean size of inputs and of targets among the first training rows: a program that draws
	// other rows makes another network.
	Begin [2]float64 `json:"begin"`
}

// document is the name of Facts in the file.
const document = "locate"

// Watched is how many numbers of a row Seen returns.
const Watched = 5

// Seen are the inputs of a row that must lie where training rows had them: misfit, width, light,
// background, and the noise in terms of what the camera promises.
func Seen(row []float32) [Watched]float32 {
	x := row[numbers:]
	return [Watched]float32{x[inMisfit], x[inWidth], x[inLight], x[inBackground], x[inNoise]}
}

// Alone reports whether the emitter of a row has no others near it.
func Alone(row []float32) bool {
	const one = 1 // emitter near
	return row[numbers+inNear] < (one-0.5-nearMiddle)/nearSpread
}

//go:embed default.utvi
var defaultFile []byte

// Default is the network that is part of the program.
func Default() (*Net, error) { return read(defaultFile, "the network inside the program") }

// Open reads a file that utvi locate train has written.
func Open(path string) (*Net, error) {
	const needs = 4 // bytes of memory for each of the file
	text, err := inputfile.Read(path, needs)
	if err != nil {
		return nil, err
	}
	return read(text, path)
}

func read(text []byte, name string) (*Net, error) {
	e, err := model.ReadEnsemble(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	sum := sha256.Sum256(text)
	n := &Net{Ensemble: e, Sum: hex.EncodeToString(sum[:])}
	raw, ok := e.Documents[document]
	if !ok || e.Inputs() != Inputs || e.Outputs() != Outputs || json.Unmarshal(raw, &n.Facts) != nil {
		return nil, fmt.Errorf("%s: it is a model, but not one for molecules; utvi locate train makes one", name)
	}
	if n.Facts.Format != 1 {
		return nil, fmt.Errorf("%s: its format is %d, this program knows 1; a newer utvi reads it", name, n.Facts.Format)
	}
	return n, nil
}

// Save writes the file that Open reads.
func (n *Net) Save(path string) error {
	n.Facts.Format = 1
	raw, err := json.Marshal(n.Facts)
	if err != nil {
		return err
	}
	n.Ensemble.Documents = map[string]json.RawMessage{document: raw}
	return n.Ensemble.Save(path)
}

// A Correction is what the network says of an emitter.
type Correction struct {
	X, Y, Light, Background float64 // to be added: pixels, logarithm of the light, quanta
	SX, SY                  float64 // standard deviations of the place, corrected
	SLight                  float64 // of the logarithm of the light
	SBackground             float64 // of the background, quanta
	Probability             float64 // of being an emitter
	Doubt                   float64 // the part of SX, SY from the doubt of the weights, in pixels
	Outside                 bool
}

// Rows is how many emitters are corrected at once.
const Rows = 64

// Said is how many numbers are said of an emitter: shifts, and the probability of being one.
const Said = Shifts + 1

// A Corrector corrects emitters, for one goroutine.
type Corrector struct {
	net        *Net
	predictors []*model.Predictor[float32]
	x          gauss.Batch[float32]

	// Of the ensemble, Rows × Said: the shifts and the probability, their variances with the noise, and
	// the doubt in these.
	Mean, Vary, Doubt []float64
}

// NewCorrector returns one with memory of its own.
func (n *Net) NewCorrector() *Corrector {
	c := &Corrector{net: n, x: gauss.Batch[float32]{Width: Inputs, Mean: make([]float32, Rows*Inputs)}}
	for _, m := range n.Ensemble.Members {
		c.predictors = append(c.predictors, m.NewPredictor(Rows))
	}
	for _, p := range []*[]float64{&c.Mean, &c.Vary, &c.Doubt} {
		*p = make([]float64, Rows*Said)
	}
	return c
}

// Correct writes a correction for each emitter that f has just found.
func (c *Corrector) Correct(f *fit.Fitter, all []fit.Found, out []Correction) {
	for len(all) > 0 {
		n := min(len(all), Rows)
		for i := range n {
			Fill(f, &all[i], c.Row(i))
		}
		c.Predict(n)
		for i := range n {
			out[i] = c.correction(f, &all[i], i)
		}
		all = all[n:]
		out = out[n:]
	}
}

// Row is input i of the next Predict.
func (c *Corrector) Row(i int) []float32 { return c.x.Mean[i*Inputs:][:Inputs] }

// Predict runs the first n rows through all members.
func (c *Corrector) Predict(n int) {
	clear(c.Mean)
	clear(c.Vary)
	clear(c.Doubt)
	share := 1 / float64(len(c.predictors))
	c.x.Rows = n
	c.x.Mean = c.x.Mean[:n*Inputs]
	for _, p := range c.predictors {
		out := p.Predict(c.x)
		for i := range n {
			m, v := out.Mean[i*Outputs:][:Outputs], out.Var[i*Outputs:][:Outputs]
			to := i * Said
			for k := range Shifts {
				mean, log := at(k), at(k)+Pair/2
				noise := math.Exp(float64(m[log]) + float64(v[log])/2)
				c.Mean[to+k] += share * float64(m[mean])
				c.Vary[to+k] += share * (noise + float64(v[mean]))
				c.Doubt[to+k] += share * float64(v[mean])
			}
			c.Mean[to+Shifts] += share * float64(m[OfReal])
		}
	}
	c.x.Mean = c.x.Mean[:cap(c.x.Mean)]
}

func (c *Corrector) correction(f *fit.Fitter, e *fit.Found, i int) Correction {
	u := Units(e, f.Noise, f.Read(e))
	m, v := c.Mean[i*Said:], c.Vary[i*Said:]
	doubt := c.Doubt[i*Said:]
	scale := c.net.Facts.Scale.Of(e.Near, v[OfX], v[OfY])
	const most = 3 // pixels
	r := Correction{
		X: u[OfX] * m[OfX], Y: u[OfY] * m[OfY], Light: u[OfLight] * m[OfLight], Background: u[OfBackground] * m[OfBackground],
		SX:          min(scale*u[OfX]*math.Sqrt(v[OfX]), most),
		SY:          min(scale*u[OfY]*math.Sqrt(v[OfY]), most),
		SLight:      u[OfLight] * math.Sqrt(v[OfLight]),
		SBackground: u[OfBackground] * math.Sqrt(v[OfBackground]),
		Probability: min(max(m[Shifts], 0), 1),
		Doubt:       scale * math.Sqrt((u[OfX]*u[OfX]*doubt[OfX]+u[OfY]*u[OfY]*doubt[OfY])/2),
	}
	r.Outside = (doubt[OfX]+doubt[OfY])/2 > c.net.Facts.Doubt
	r.Outside = r.Outside || c.net.Facts.outside(c.Row(i)) || OtherWidth(f.Sigma, f.Width)
	if !(r.SX > 0 && r.SY > 0) { // inputs that were no numbers
		return Correction{SX: math.Sqrt(e.XX), SY: math.Sqrt(e.YY), SLight: math.Sqrt(e.LogN), SBackground: math.Sqrt(e.Ground), Probability: 1, Outside: true}
	}
	return r
}

// OtherWidth reports whether images of points are so much wider or narrower than was said that bars fitted
// with what was said are not to be believed: twice the error with which scenes of the training were told.
func OtherWidth(said, seen float64) bool {
	const most = 0.12
	return seen > 0 && math.Abs(math.Log(seen/said)) > most
}

func (f *Facts) outside(row []float32) bool {
	for k, x := range Seen(row) {
		if x < f.Low[k] || x > f.High[k] {
			return true
		}
	}
	return false
}
