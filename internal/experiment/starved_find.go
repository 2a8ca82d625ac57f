package experiment

import (
	"math"
	"slices"
)

// The measures of a training: the lowest score of its marks.
const (
	starvedTotal    = "total"    // sum over x, y and photons, the paper's
	starvedPosition = "position" // mean of x and y
)

// A StarvedCell is what the trainings of one setting gave.
type StarvedCell struct {
	Pairs    int     `json:"pairs"`
	Outputs  string  `json:"outputs"`
	KL       string  `json:"kl"`
	Shared   bool    `json:"shared_training_set"`
	Scale    float64 `json:"input_scale,omitempty"`
	Steps    int     `json:"steps"`
	Best     Stat    `json:"best_position_nll"`
	All      Stat    `json:"best_total_nll"`
	BestStep Stat    `json:"best_step"`
	Diverged int     `json:"diverged"`

	best map[string][]float64 // by measure, of every replicate; +Inf without a score
}

func newStarvedCell(c starvedSetting) StarvedCell {
	return StarvedCell{Pairs: c.pairs, Outputs: c.outputs, KL: c.kl, Shared: c.shared, Scale: c.scale, Steps: c.steps, best: map[string][]float64{}}
}

func (c *StarvedCell) add(t LocalizationTrial) {
	if t.Diverged != nil {
		c.Diverged++
	}
	total, position := math.Inf(1), math.Inf(1)
	step := 0
	for _, m := range t.Marks {
		total = min(total, m.Scores[locX]+m.Scores[locY]+m.Scores[locPhotons])
		if m.Scores[locPosition] < position {
			position = m.Scores[locPosition]
			step = m.Step
		}
	}
	c.best[starvedTotal] = append(c.best[starvedTotal], total)
	c.best[starvedPosition] = append(c.best[starvedPosition], position)
	if len(t.Marks) > 0 {
		c.Best.add(position)
		c.All.add(total)
		c.BestStep.add(float64(step))
	}
}

// starvedPrior is the position NLL of the prior alone.
var starvedPrior = 0.5 * (math.Log(2*math.Pi*emitterSpread*emitterSpread) + 1)

// A StarvedGain is how much lower the physics-informed network's best NLL is than another's,
// replicate by replicate.
type StarvedGain struct {
	Pairs    int     `json:"pairs"`
	KL       string  `json:"kl"`
	Shared   bool    `json:"shared_training_set"`
	Scale    float64 `json:"input_scale,omitempty"`
	Steps    int     `json:"steps"`
	Over     string  `json:"over"` // the other network's outputs
	Measure  string  `json:"measure"`
	Gain     Stat    `json:"gain"`     // nats, over the replicates in which both have a score
	Unscored int     `json:"unscored"` // replicates in which one of them has none
}

// usual reports whether a gain is of the images as they are and the usual number of steps.
func (g StarvedGain) usual(steps int) bool { return g.Scale == 0 && g.Steps == steps }

func starvedGains(cells []StarvedCell) (gains []StarvedGain) {
	for _, p := range cells {
		if p.Outputs != locPhysics {
			continue
		}
		for _, over := range []string{locPlain, locScaled} {
			for _, measure := range []string{starvedTotal, starvedPosition} {
				g := StarvedGain{Pairs: p.Pairs, KL: p.KL, Shared: p.Shared, Scale: p.Scale, Steps: p.Steps, Over: over, Measure: measure}
				for r, nll := range p.beside(cells, over).best[measure] {
					if physics := p.best[measure][r]; math.IsInf(nll, 0) || math.IsInf(physics, 0) {
						g.Unscored++
					} else {
						g.Gain.add(nll - physics)
					}
				}
				gains = append(gains, g)
			}
		}
	}
	return gains
}

// beside finds the planned cell that differs from c only by its outputs.
func (c StarvedCell) beside(cells []StarvedCell, outputs string) StarvedCell {
	return cells[slices.IndexFunc(cells, func(o StarvedCell) bool {
		return o.Outputs == outputs && o.Pairs == c.Pairs && o.KL == c.KL && o.Shared == c.Shared && o.Scale == c.Scale && o.Steps == c.Steps
	})]
}
