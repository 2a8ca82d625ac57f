package experiment

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"utvi/engine"
	"utvi/gauss"
	"utvi/internal/sweep"
	"utvi/model"
	"utvi/moment"
	"utvi/rng"
)

// FCTimingSpec times forward passes of the regression's network under several
// rules, in turn, on one core, and on a card if the trial has one.
type FCTimingSpec struct {
	Rules  []string `json:"rules"`
	Rows   int      `json:"rows"`   // of a pass
	Rounds int      `json:"rounds"` // the fastest counts: disturbances only slow
}

// FCTiming is the result of an FCTimingSpec.
type FCTiming struct {
	Seconds map[string]float64 `json:"seconds"`        // of the fastest pass on one core, by rule
	Card    map[string]float64 `json:"card,omitempty"` // the same on a card, from numbers in memory to numbers in memory
}

var fcTimingKind = kindOf[FCTimingSpec]("fc-timing")

func (s FCTimingSpec) check() error {
	if s.Rows < 1 || s.Rows > 1<<20 || s.Rounds < 1 || s.Rounds > 100_000 {
		return fmt.Errorf("%d rounds of %d rows; rounds must be 1 to 100000, rows 1 to 2^20", s.Rounds, s.Rows)
	}
	return checkRules(s.Rules)
}

// checkRules reports rules that cannot pass the regression's nonlinearity.
func checkRules(rules []string) error {
	for _, name := range rules {
		if err := (FCSpec{Rule: name, Steps: 1}).check(); err != nil {
			return err
		}
	}
	return nil
}

func (s FCTimingSpec) run(ctx context.Context, j sweep.Job) (sweep.Outcome, error) {
	in := gauss.Fixed(1, make([]float32, s.Rows))
	for i := range in.Mean {
		in.Mean[i] = float32(i)/float32(s.Rows) - fcBorder
	}
	var t FCTiming
	var err error
	t.Seconds, err = s.time(ctx, in, nil, func(round int) { j.Tell(round, s.Rounds, math.NaN()) })
	if err == nil && j.Engine != nil && j.Engine.Abilities().Card != "" {
		t.Card, err = s.time(ctx, in, j.Engine, func(int) {})
	}
	return sweep.Outcome{Metrics: map[string]float64{}, Data: t}, err
}

// time measures the fastest pass of every rule on an engine; nil stands for one core.
func (s FCTimingSpec) time(ctx context.Context, in gauss.Batch[float32], e engine.Engine[float32], tell func(round int)) (map[string]float64, error) {
	var passes []*model.Predictor[float32]
	for _, rule := range s.Rules {
		m, err := model.New(FCSpec{Rule: rule}.net(rng.New(1)))
		if err != nil {
			return nil, err
		}
		if e != nil {
			m.Use(e)
		}
		passes = append(passes, m.NewPredictor(s.Rows))
	}
	fastest := map[string]float64{}
	for round := range s.Rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for i, p := range passes {
			begin := time.Now()
			p.Predict(in)
			took := time.Since(begin).Seconds()
			if best, ok := fastest[s.Rules[i]]; !ok || took < best {
				fastest[s.Rules[i]] = took
			}
		}
		tell(round + 1)
	}
	return fastest, nil
}

// FCErrorSpec measures the standard error of Monte Carlo in predictions: one network
// is trained with sigma points, then predicts repeatedly with n samples.
type FCErrorSpec struct {
	FCSpec
	Samples []int `json:"samples"`
	Repeats int   `json:"repeats"`
}

// FCErrors is the result of an FCErrorSpec, for each of Samples, as a root mean
// square over the range of the data.
type FCErrors struct {
	SD     float64   `json:"sd"`      // predicted standard deviation of y
	Mean   []float64 `json:"mean_se"` // standard deviation of the predicted mean over repeats
	Spread []float64 `json:"sd_se"`   // of the predicted standard deviation
}

var fcErrorKind = kindOf[FCErrorSpec]("fc-error")

func (s FCErrorSpec) check() error {
	if len(s.Samples) == 0 || slices.Min(s.Samples) < 2 || s.Repeats < 2 || s.Repeats > 1<<16 {
		return fmt.Errorf("%d repeats with %v samples; repeats must be 2 to 65536, samples at least 2", s.Repeats, s.Samples)
	}
	return s.FCSpec.check()
}

func (s FCErrorSpec) run(ctx context.Context, j sweep.Job) (sweep.Outcome, error) {
	root := rng.New(s.Seed)
	key := root.Sub(uint64(s.Replicate), 1)
	m, _, err := s.training(key, newFCSample(root.Sub(0, 2), fcValidation)).run(ctx, j)
	if err != nil {
		return sweep.Outcome{}, err
	}
	const places = 33
	x := make([]float32, places*s.Repeats)
	for i := range x {
		x[i] = float32(fcBorder * (2*float64(i/s.Repeats)/(places-1) - 1))
	}
	in := gauss.Fixed(1, x)
	var r FCErrors
	for _, v := range m.NewPredictor(in.Rows).Predict(in).Var {
		r.SD += float64(v) / float64(in.Rows)
	}
	r.SD = math.Sqrt(r.SD)
	for _, n := range s.Samples {
		c := s.FCSpec
		c.Rule = moment.MonteCarlo(n).String()
		mc, err := model.New(c.net(key))
		if err != nil {
			return sweep.Outcome{}, err
		}
		mc.Params.Share(m.Params)
		mc.Changed()
		out := mc.NewPredictor(in.Rows).Predict(in)
		var mean, spread float64
		for p := range places {
			var a, b Stat
			for i := p * s.Repeats; i < (p+1)*s.Repeats; i++ {
				a.Values = append(a.Values, float64(out.Mean[i]))
				b.Values = append(b.Values, math.Sqrt(float64(out.Var[i])))
			}
			_, sa := meanSD(a.Values)
			_, sb := meanSD(b.Values)
			mean += sa * sa / places
			spread += sb * sb / places
		}
		r.Mean, r.Spread = append(r.Mean, math.Sqrt(mean)), append(r.Spread, math.Sqrt(spread))
	}
	return sweep.Outcome{Metrics: map[string]float64{"slope": logSlope(s.Samples, r.Mean)}, Data: r}, nil
}

// logSlope is the slope of ln y against ln n, by least squares; −½ where y falls
// like 1/√n.
func logSlope(n []int, y []float64) float64 {
	var sx, sy, sxx, sxy float64
	for i := range n {
		a, b := math.Log(float64(n[i])), math.Log(y[i])
		sx = sx + a
		sy = sy + b
		sxx = sxx + a*a
		sxy = sxy + a*b
	}
	k := float64(len(n))
	if k < 2 {
		return 0
	}
	return (k*sxy - sx*sy) / (k*sxx - sx*sx)
}
