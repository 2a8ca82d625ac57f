package tabular

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"utvi/engine"
	"utvi/fn"
	"utvi/moment"
)

// A Config overrides defaults; its zero value overrides nothing. If noise, KL,
// activation, width or depth is set, all candidates share that value and still differ in
// the others.
type Config struct {
	Ensemble   int     `json:"ensemble,omitempty" yaml:"ensemble,omitempty"`     // members; 0 stands for 5, or up to 10 that stop early
	Noise      string  `json:"noise,omitempty" yaml:"noise,omitempty"`           // Embedded, Learned, Heteroscedastic, Poisson or NegativeBinomial; "": chosen
	KL         float64 `json:"kl,omitempty" yaml:"kl,omitempty"`                 // weight of the KL; 0: chosen
	Activation string  `json:"activation,omitempty" yaml:"activation,omitempty"` // as fn.Named takes it: a name or a formula; "": chosen
	Rule       string  `json:"rule,omitempty" yaml:"rule,omitempty"`             // as moment.Parse takes it; "": the closed form or gh(9)
	// Independent takes the units of a network as independent, as the paper does, and
	// saves the pass that carries their correlations.
	Independent bool `json:"independent,omitempty" yaml:"independent,omitempty"`
	Width       int  `json:"width,omitempty" yaml:"width,omitempty"` // units of a hidden layer; 0: by the rows, or chosen
	Depth       int  `json:"depth,omitempty" yaml:"depth,omitempty"` // hidden layers; 0: chosen
	// Bins is the number of intervals that numeric inputs are embedded by (nn.Piecewise),
	// Waves the number of frequencies (nn.Periodic); −1: none; 0: chosen, and none if
	// activation, width and depth are given. A network has one of them at most.
	Bins       int     `json:"bins,omitempty" yaml:"bins,omitempty"`
	Waves      int     `json:"waves,omitempty" yaml:"waves,omitempty"`
	Steps      int     `json:"steps,omitempty" yaml:"steps,omitempty"`           // of a member's training; 0: by the rows
	Batch      int     `json:"batch,omitempty" yaml:"batch,omitempty"`           // rows of a step; 0: by the rows
	Rate       float64 `json:"rate,omitempty" yaml:"rate,omitempty"`             // the largest learning rate; 0 stands for 0.005
	Validation float64 `json:"validation,omitempty" yaml:"validation,omitempty"` // share of rows held out at a time; 0: by the rows
	Seed       uint64  `json:"seed,omitempty" yaml:"seed,omitempty"`

	// Parallel is the number of trainings at a time; 0 stands for GOMAXPROCS. The
	// result does not depend on it.
	Parallel int `json:"-" yaml:"-"`

	// Engine trains the networks; nil stands for the CPU. The result depends on it only
	// by rounding.
	Engine engine.Engine[float32] `json:"-" yaml:"-"`

	// Again says that a Refit follows, whose work the progress counts, too.
	Again bool `json:"-" yaml:"-"`
}

// The models of the noise.
const (
	Embedded        = "embedded"        // in the variances of the weights
	Learned         = "learned"         // one variance per target, nn.Noise
	Heteroscedastic = "heteroscedastic" // a head that predicts the variance
)

var noises = append([]string{Embedded, Learned, Heteroscedastic}, countNoises...)

// Check reports settings that cannot work, for regression or classification.
func (c Config) Check(classes bool) error {
	for _, check := range []func() error{c.checkCounts, c.checkNumbers, func() error { return c.checkNoise(classes) }, c.checkNames} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkCounts reports whole numbers out of their range.
func (c Config) checkCounts() error {
	const standard, choose = "or 0 for the default", "−1 for none, or 0 to choose"
	for _, x := range []struct {
		name               string
		value, least, most int
		other              string
	}{
		{"the ensemble", c.Ensemble, 0, 100, standard},
		{"the width", c.Width, 0, 1 << 16, standard},
		{"the depth", c.Depth, 0, 100, standard},
		{"the number of steps", c.Steps, 0, 1e9, standard},
		{"the batch", c.Batch, 0, 1 << 20, standard},
		{"parallel", c.Parallel, 0, 1 << 16, standard},
		{"the number of bins", c.Bins, -1, 1024, choose},
		{"the number of waves", c.Waves, -1, 1024, choose},
	} {
		if x.value < x.least || x.value > x.most {
			return fmt.Errorf("%s is %d; it must be 1 to %d, %s", x.name, x.value, x.most, x.other)
		}
	}
	if c.Bins > 0 && c.Waves > 0 {
		return fmt.Errorf("there are %d bins and %d waves; numbers are embedded by bins or by waves", c.Bins, c.Waves)
	}
	return nil
}

// checkNumbers reports numbers that are none, or out of their range.
func (c Config) checkNumbers() error {
	positive := func(x float64) bool { return x >= 0 && !math.IsInf(x, 0) }
	for _, x := range []struct {
		name  string
		value float64
		right bool
		must  string
	}{
		{"the weight of the KL", c.KL, positive(c.KL), "a number > 0, or 0 to choose it"},
		{"the learning rate", c.Rate, positive(c.Rate), "a number > 0, or 0 for the default"},
		{"the share of rows held out", c.Validation, c.Validation == 0 || c.Validation >= 0.01 && c.Validation <= 0.5, "0.01 to 0.5, or 0 for the default"},
	} {
		if !x.right {
			return fmt.Errorf("%s is %v; it must be %s", x.name, x.value, x.must)
		}
	}
	return nil
}

func (c Config) checkNoise(classes bool) error {
	switch {
	case c.Noise != "" && classes:
		return fmt.Errorf("noise %q applies to regression only", c.Noise)
	case c.Noise != "" && !slices.Contains(noises, c.Noise):
		return fmt.Errorf("unknown noise %q; choose from %s", c.Noise, strings.Join(noises, ", "))
	}
	return nil
}

// checkNames reports an activation or a rule that is not known.
func (c Config) checkNames() error {
	if c.Activation != "" {
		if _, err := fn.Named(c.Activation); err != nil {
			return fmt.Errorf("the activation: %w", err)
		}
	}
	if c.Rule != "" {
		if _, err := moment.Parse(c.Rule); err != nil {
			return fmt.Errorf("the rule: %w", err)
		}
	}
	return nil
}

// The sizes at which more rows change how they are used.
const (
	fewRows    = 2500        // below a third of it more than 2 folds are held out, up to half of the rows
	fewestRows = fewRows / 3 // up to so many, shorter trainings are tried, too
	tinyRows   = 200         // below it every row is held out once
	manyRows   = 5000        // enough to set some apart for good
	moreRows   = 50_000
)

// mostMembers is the largest number of members by default. Networks that stop early differ
// more between seeds, so more of them are worth their time.
const mostMembers = 10

// A plan is a Config with everything decided for a table.
type plan struct {
	Config
	classes   int
	folds     int  // a row is in one of them
	used      int  // folds held out in turn to choose by
	apart     bool // members do not see fold 0 either
	trial     int  // steps of a candidate's training
	most      int  // members, if they stop early
	candidate []Candidate
}

// plan decides what the configuration leaves open. It depends only on the number of rows.
func (c Config) plan(d Data) plan {
	n := d.X.Rows
	p := plan{Config: c, classes: d.Classes}
	p.used = min(max(2, fewRows/n), 5)
	p.folds = max(8, 2*p.used)
	if n < tinyRows && c.Steps == 0 { // trainings take no time
		p.used = p.folds
	}
	p.apart = n >= manyRows
	if p.apart {
		p.folds, p.used = 16, 1
	}
	if d.Ordered {
		p.folds, p.used = min(p.folds, 8), 1
	}
	if c.Validation > 0 {
		p.folds, p.used = max(2, int(math.Round(1/c.Validation))), min(p.used, 2)
	}
	p.most = c.Ensemble
	if c.Ensemble == 0 {
		p.Ensemble, p.most = 5, 5
		if !p.apart {
			p.most = mostMembers
		}
	}
	if c.Rate == 0 {
		p.Rate = 5e-3
	}
	if c.Batch == 0 {
		p.Batch = 64
		if n >= manyRows {
			p.Batch = 128
		}
		if n >= moreRows {
			p.Batch = 256
		}
	}
	if c.Steps == 0 {
		p.Steps = 1250
		if n >= manyRows {
			p.Steps = int(min(27_500, 55*math.Sqrt(float64(n))))
		}
	}
	p.trial = p.Steps
	if p.apart {
		p.trial = max(1, p.Steps/3)
	}
	p.candidate = c.candidates(d)
	return p
}
