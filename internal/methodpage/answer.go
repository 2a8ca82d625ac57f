package methodpage

import (
	"encoding/json"
	"fmt"
	"math"

	"utvi/fn"
	"utvi/internal/compute"
	"utvi/internal/quad"
	"utvi/moment"
	"utvi/rng"
)

// A Question is what the page asks: a Normal, a function by its name or formula, a rule.
type Question struct {
	Function string  `json:"function"`
	Rule     string  `json:"rule"`
	Mean     float64 `json:"mean"`
	Std      float64 `json:"std"`
	Seed     uint64  `json:"seed"`
	Sweep    bool    `json:"sweep"` // over means, too
}

// An Answer is what the page draws. Values that are not finite are null.
type Answer struct {
	Error   string     `json:"error,omitempty"`
	Rule    moments    `json:"rule"`
	Exact   moments    `json:"exact"`
	Points  []point    `json:"points"`
	Curve   curve      `json:"curve"`
	Density curve      `json:"density"`
	Atoms   []atom     `json:"atoms"`
	Sweep   []swept    `json:"sweep,omitempty"`
	View    [4]float64 `json:"view"` // x from, to; y from, to
}

type moments struct {
	Mean number `json:"mean"`
	Std  number `json:"std"`
}

type point struct {
	X      float64 `json:"x"`
	Y      number  `json:"y"`
	Weight float64 `json:"weight"`
}

type atom struct {
	At   float64 `json:"at"`
	Mass float64 `json:"mass"`
}

// A curve has values at even steps.
type curve struct {
	From   float64  `json:"from"`
	To     float64  `json:"to"`
	Values []number `json:"values"`
}

// swept are the moments for another mean of the input.
type swept struct {
	At    float64 `json:"at"`
	Rule  moments `json:"rule"`
	Exact moments `json:"exact"`
}

// A number is null in JSON if it is not finite.
type number float64

func (n number) MarshalJSON() ([]byte, error) {
	if !compute.Finite(float64(n)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// mostSamples keep the page quick.
const mostSamples = 100_000

// Answer answers a question in JSON; a question that has no answer gets an error's sentence.
func (q Question) Answer() Answer {
	f, err := fn.Named(q.Function)
	if err != nil {
		return Answer{Error: err.Error()}
	}
	rule, err := moment.Parse(q.Rule)
	if err != nil {
		return Answer{Error: err.Error()}
	}
	if rule.Nodes().Samples > mostSamples {
		return Answer{Error: fmt.Sprintf("%s draws more samples than this page waits for; take up to %d", q.Rule, mostSamples)}
	}
	if !(q.Std >= 0) || !compute.Finite(q.Mean, q.Std) {
		return Answer{Error: "the mean and the standard deviation must be finite numbers, the latter ≥ 0"}
	}
	out := Answer{}
	out.Rule, err = byRule(f, rule, q.Mean, q.Std, q.Seed)
	if err != nil {
		return Answer{Error: err.Error()}
	}
	out.Exact, err = exactly(f, q.Mean, q.Std)
	if err != nil {
		return Answer{Error: err.Error()}
	}
	x, w := moment.PointsAt(rule, q.Mean, q.Std*q.Std, rng.New(q.Seed))
	for i := range x {
		out.Points = append(out.Points, point{x[i], number(f.F(x[i])), w[i]})
	}
	out.draw(f, q.Mean, q.Std)
	if q.Sweep {
		out.sweep(f, rule, q)
	}
	return out
}

func byRule(f *moment.Func, rule moment.Rule, mean, std float64, seed uint64) (moments, error) {
	jet, err := moment.At(f, rule, mean, std*std, rng.New(seed))
	return moments{number(jet.Mean), number(math.Sqrt(jet.Var))}, err
}

func exactly(f *moment.Func, mean, std float64) (moments, error) {
	m, v, err := quad.Moments(f, mean, std*std)
	return moments{number(m), number(math.Sqrt(v))}, err
}

// draw fills in the curve and the exact density.
func (a *Answer) draw(f *moment.Func, mean, std float64) {
	const curveSteps, bins = 600, 300
	reach := 3.5 * std
	if reach == 0 {
		reach = 1
	}
	from, to := mean-reach, mean+reach
	for _, p := range a.Points {
		from = min(from, p.X-0.1*reach)
		to = max(to, p.X+0.1*reach)
	}
	low := min(float64(a.Exact.Mean-3*a.Exact.Std), float64(a.Rule.Mean-3*a.Rule.Std))
	high := max(float64(a.Exact.Mean+3*a.Exact.Std), float64(a.Rule.Mean+3*a.Rule.Std))
	a.Curve = curve{From: from, To: to, Values: make([]number, curveSteps+1)}
	for i := range a.Curve.Values {
		x := from + (to-from)*float64(i)/curveSteps
		y := f.F(x)
		a.Curve.Values[i] = number(y)
		if math.Abs(x-mean) <= reach && math.Abs(y) < 1e12 {
			low = min(low, y)
			high = max(high, y)
		}
	}
	if !(high > low) {
		low = low - 1
		high = high + 1
	}
	pad := 0.05 * (high - low)
	low = low - pad
	high = high + pad
	a.View = [4]float64{from, to, low, high}
	a.Density = curve{From: low, To: high, Values: make([]number, bins)}
	if std == 0 {
		a.Atoms = []atom{{f.F(mean), 1}}
		return
	}
	density := make([]float64, bins)
	for _, at := range quad.Density(f, mean, std, low, high, density) {
		a.Atoms = append(a.Atoms, atom{at.At, at.Mass})
	}
	for i, d := range density {
		a.Density.Values[i] = number(d)
	}
}

// sweep computes the moments for other means of the input: where a rule is blind shows there.
func (a *Answer) sweep(f *moment.Func, rule moment.Rule, q Question) {
	const steps = 80
	const reach = 6 // standard deviations
	for i := range steps + 1 {
		at := q.Mean + reach*q.Std*(2*float64(i)/steps-1)
		missing := moments{number(math.NaN()), number(math.NaN())}
		s := swept{At: at, Rule: missing, Exact: missing}
		r, err := byRule(f, rule, at, q.Std, q.Seed)
		if err == nil {
			s.Rule = r
		}
		e, err := exactly(f, at, q.Std)
		if err == nil {
			s.Exact = e
		}
		a.Sweep = append(a.Sweep, s)
	}
}

// Ask answers a question in JSON with an answer in JSON.
func Ask(question []byte) []byte {
	var q Question
	a := Answer{}
	err := json.Unmarshal(question, &q)
	if err != nil {
		a.Error = "the question is not what this page asks: " + err.Error()
	} else {
		a = q.Answer()
	}
	text, err := json.Marshal(a)
	if err != nil {
		panic("methodpage: an answer has no JSON")
	}
	return text
}
