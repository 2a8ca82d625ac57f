package vision

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"utvi/fn"
	"utvi/internal/advice"
	"utvi/internal/tabular"
	"utvi/model"
)

// A Config overrides defaults; its zero value overrides nothing.
type Config struct {
	// Network is what tables and images have in common: members, KL, activation, the channels behind
	// the first convolution (Width), blocks behind each halving (Depth), steps, batch, rate,
	// the share held out (Validation), workers (Parallel) and the engine.
	Network tabular.Config
	Augment string // a name that Augmentation takes; "": chosen on held-out images
	Seed    uint64

	// From is a network that was trained elsewhere, which trainings begin with; nil: they begin anew.
	From *model.Model `json:"-"`
	// Note gets what becomes of the network to start from.
	Note func(advice.Sentence) `json:"-"`
}

// check reports settings that cannot work.
func (c Config) check(classes bool) error {
	if err := c.Network.Check(classes); err != nil {
		return err
	}
	if n := c.Network.Noise; n != "" && n != tabular.Heteroscedastic {
		return fmt.Errorf("noise %q: networks of images learn %s noise", n, tabular.Heteroscedastic)
	}
	if c.Augment != "" {
		if _, err := Augmentation(c.Augment); err != nil {
			return err
		}
	}
	if n := c.Network; c.From != nil && (n.Width > 0 || n.Depth > 0 || n.Activation != "") {
		return fmt.Errorf("width, depth and activation are settings of networks that are made here; the network to start from has its own")
	}
	if c.Network.Bins > 0 || c.Network.Waves > 0 || c.Network.Rule != "" {
		return fmt.Errorf("bins, waves and rules are settings of tables; images have none")
	}
	return nil
}

// A plan is a Config with everything decided for the images.
type plan struct {
	Config
	candidate   tabular.Candidate
	holds       int      // images that are held out
	ways        []string // to augment
	trialSteps  int
	trialImages int

	start *start // nil: networks begin anew
}

// common is the share of the score of numbers in which all images have the same noise: without it, the
// means of images with large noise are learned badly.
const common = 0.5

// plan decides what the configuration leaves open, by the number of images and their size.
func (c Config) plan(d Data) plan {
	n := d.Images.Len()
	p := plan{Config: c, candidate: tabular.Candidate{KL: 0.1, Activation: fn.LeakyReLU(0.01).Name, Width: 16, Depth: 1}}
	const many = 20_000
	if n >= many {
		p.candidate.Width = 24
	} else if d.Classes > 0 && d.Maps == nil { // few images say less than a tenth of the KL asks of them
		p.candidate.KL = max(0.01, 0.1*float64(n)/many)
	}
	w := &p.Network
	p.candidate.Width = cmp.Or(w.Width, p.candidate.Width)
	p.candidate.Depth = cmp.Or(w.Depth, p.candidate.Depth)
	p.candidate.KL = cmp.Or(w.KL, p.candidate.KL)
	p.candidate.Activation = cmp.Or(w.Activation, p.candidate.Activation)
	p.defaults(n)
	if d.Maps != nil && w.Validation == 0 { // each has many pixels
		const share, fewest, most = 0.1, 50, 500
		p.holds = min(max(int(math.Ceil(share*float64(n))), min(fewest, n/4)), most)
	}
	tried := forClasses
	if d.Classes == 0 {
		tried = forNumbers
		p.candidate.Noise = tabular.Heteroscedastic
		p.candidate.Common = common
	}
	if d.Maps != nil {
		p.candidate.Common = 0 // there is no number that pixels share
		p.candidate.Width = cmp.Or(w.Width, 12)
		if d.Classes == 0 {
			tried = forPixels
		}
	}
	if c.From != nil {
		p.candidate.Width = 0
		p.candidate.Depth = 0
	}
	p.ways = []string{c.Augment}
	if c.Augment == "" {
		p.ways = nil
		for _, x := range tried {
			p.ways = append(p.ways, x.name)
		}
	}
	return p
}

// defaults are the settings that follow from the number of images.
func (p *plan) defaults(n int) {
	w := &p.Network
	const share, fewest, most = 0.1, 200, 5000
	p.holds = min(max(int(math.Ceil(share*float64(n))), min(fewest, n/4)), most)
	if p.candidate.Noise != "" { // which correct the error bars of numbers, and need to be many
		const share, fewest = 0.15, 500
		p.holds = min(max(int(math.Ceil(share*float64(n))), min(fewest, n/4)), most)
	}
	if w.Validation > 0 {
		p.holds = max(1, int(w.Validation*float64(n)))
	}
	if w.Batch == 0 {
		w.Batch = 64
		if n >= 5000 {
			w.Batch = 128
		}
	}
	w.Batch = min(w.Batch, n-p.holds)
	if w.Rate == 0 {
		w.Rate = 3e-3
		if p.From != nil {
			w.Rate = 1e-3 // weights that are good already
		}
	}
	if w.Steps == 0 {
		w.Steps = slices.Max([]int{600, min(int(25*math.Sqrt(float64(n))), 8000)})
	}
	if w.Ensemble == 0 {
		w.Ensemble = 3
	}
	const epochs = 12 // of a trial: enough to see which networks overfit
	p.trialSteps = min(w.Steps, max(500, w.Steps/8))
	p.trialImages = max(w.Batch, p.trialSteps*w.Batch/epochs)
	w.Seed = 0
}
