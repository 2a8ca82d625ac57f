package experiment

import (
	"math"
	"strings"
	"testing"

	"utvi/internal/report"
	"utvi/internal/sweep"
	"utvi/rng"
)

// Simulator and bound hold each other: the maximum-likelihood estimate from
// simulated images has the bound for its variance, and no bias. An image shifted
// by half a pixel, or mirrored, would show.
func TestLikelihoodReachesBound(t *testing.T) {
	const n, x, y = 2000, 0.3, -1.2
	var image [emitterPixels]float32
	var targets [emitterTargets]float32
	var mean, square [2]float64
	for row := range uint64(n) {
		microscope.At(rng.New(8), row, x, y, image[:], targets[:])
		r := [2]float64{x, y}
		for range 3 {
			step := scoring(image[:], r)
			r[0], r[1] = r[0]+step[0], r[1]+step[1]
		}
		for k, truth := range []float64{x, y} {
			mean[k] += (r[k] - truth) / n
			square[k] += (r[k] - truth) * (r[k] - truth) / n
		}
	}
	bx, by := emitterBound(x, y)
	for k, bound := range []float64{bx, by} {
		if e := square[k] / bound; e < 0.88 || e > 1.14 {
			t.Errorf("coordinate %d: squared error %.5f, %.3f times the bound", k, square[k], e)
		}
		if math.Abs(mean[k]) > 5*math.Sqrt(bound/n)+0.002 {
			t.Errorf("coordinate %d: bias %g", k, mean[k])
		}
	}
}

// scoring is a step of Fisher's: the inverse information times the slope of the
// log-likelihood, by differences.
func scoring(image []float32, r [2]float64) [2]float64 {
	logLikelihood := func(x, y float64) (l float64) {
		for p, count := range image {
			mu := 100 * pixelShare(p%8, x) * pixelShare(p/8, y)
			l += float64(count)*math.Log(mu) - mu
		}
		return l
	}
	const h = 1e-4
	bx, by := emitterBound(r[0], r[1]) // the off-diagonal is small here
	return [2]float64{
		bx * (logLikelihood(r[0]+h, r[1]) - logLikelihood(r[0]-h, r[1])) / (2 * h),
		by * (logLikelihood(r[0], r[1]+h) - logLikelihood(r[0], r[1]-h)) / (2 * h),
	}
}

// pixelShare is the blur's integral over a column.
func pixelShare(j int, x float64) float64 {
	phi := func(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }
	return phi((float64(j-3)-x)/1.05) - phi((float64(j-4)-x)/1.05)
}

func TestMapNumbers(t *testing.T) {
	bound, _ := boundMaps()
	one := mapNumbers{1, 1, 1, 1, 1, 1, 0, 1}
	got := newMapNumbers(bound, bound)
	for name, x := range got.metrics() {
		if math.Abs(x-one.metrics()[name]) > 1e-12 {
			t.Errorf("maps that are the bound have %s %g, want %g", name, x, one.metrics()[name])
		}
	}
	// Twice the error in the centre and 1.5 times in the corners, three times the variance
	// in one row.
	variance, square := bound, bound
	for _, p := range []int{27, 28, 35, 36} {
		square[p] *= 2
	}
	for _, p := range []int{0, 7, 56, 63} {
		square[p] *= 1.5
	}
	for j := range 8 {
		variance[j] *= 3
	}
	got = newMapNumbers(variance, square)
	if math.Abs(got.Centre-2) > 1e-12 || math.Abs(got.CentreVariance-0.5) > 1e-12 || math.Abs(got.Corner-1.5) > 1e-12 || got.Median != 1 || math.Abs(got.Within-56./64) > 1e-12 || got.Correlation > 0.99 || math.Abs(got.Distance-math.Log(3)/math.Sqrt(8)) > 1e-12 {
		t.Errorf("found %+v", got)
	}
}

func runPlan(t *testing.T, workers int, trials ...sweep.Trial) Results {
	t.Helper()
	p, err := sweep.NewPlan("test", trials...)
	if err != nil {
		t.Fatal(err)
	}
	r := sweep.Runner{Kinds: []sweep.Kind{localizationKind}, Dir: t.TempDir()}
	results := Results{}
	for _, trial := range p.Trials {
		res, err := r.Trial(t.Context(), trial, workers)
		if err != nil {
			t.Fatal(err)
		}
		results[trial.ID()] = res
	}
	return results
}

// The bits of a training do not depend on the number of workers; those of a rule
// that draws least of all.
func TestLocalizationDeterminism(t *testing.T) {
	s := LocalizationSpec{Seed: 3, Rule: "mc(3)", Outputs: locPhysics, Joint: true, Steps: 6, ScoreEvery: 3, KL: "paper", Clip: 100, PerPixel: 3}
	trial := s.trial("a")
	one, two := runPlan(t, 1, trial)[trial.ID()], runPlan(t, 2, trial)[trial.ID()]
	if one.Sum != two.Sum {
		t.Error("one and two workers found other numbers")
	}
	s.Seed++
	other := s.trial("a")
	if runPlan(t, 1, other)[other.ID()].Sum == one.Sum {
		t.Error("another seed found the same")
	}
}

// A training that meets a number that is not finite ends with what it has.
func TestLocalizationDiverges(t *testing.T) {
	s := LocalizationSpec{Seed: 1, Rule: "mc(3)", Outputs: locPlain, Steps: 4, ScoreEvery: 1, Pairs: 8, KL: "full", Clip: 100, Draws: 1}
	trial := s.trial("drawn")
	if r := runPlan(t, 1, trial)[trial.ID()]; r.Metrics["diverged"] != 0 || r.Metrics["best_position_nll"] == 0 {
		t.Errorf("found %v", r.Metrics)
	}
	m := LocalizationMethod{Maps: map[string]Stat{}}
	m.add(LocalizationTrial{History: History{Diverged: &Divergence{Step: 1, What: "a gradient"}}})
	if m.average(); m.Diverged != 1 || len(m.Best.Values) != 0 || m.Variance != nil {
		t.Errorf("a training that diverged at once counts as %+v", m)
	}
}

func TestLocalizationCheck(t *testing.T) {
	good := LocalizationSpec{Rule: "ut(2)", Outputs: locPhysics, Steps: 1, ScoreEvery: 1, KL: "paper"}
	for want, change := range map[string]func(s *LocalizationSpec){
		"rule":     func(s *LocalizationSpec) { s.Rule = "nothing(1)" },
		"outputs":  func(s *LocalizationSpec) { s.Outputs = "physical" },
		"joint":    func(s *LocalizationSpec) { s.Outputs, s.Joint = locPlain, true },
		"KL":       func(s *LocalizationSpec) { s.KL = "" },
		"clipped":  func(s *LocalizationSpec) { s.Clip = -1 },
		"scores":   func(s *LocalizationSpec) { s.ScoreEvery = 0 },
		"set 1":    func(s *LocalizationSpec) { s.TrainingSet = 1 },
		"pairs":    func(s *LocalizationSpec) { s.Pairs = -1 },
		"draws":    func(s *LocalizationSpec) { s.Draws = 1001 },
		"steps":    func(s *LocalizationSpec) { s.Steps = 0 },
		"negative": func(s *LocalizationSpec) { s.Replicate = -1 },
	} {
		s := good
		change(&s)
		if err := localizationKind.Check(s.trial("a").Spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want a word on %s", s, err, want)
		}
	}
	if err := localizationKind.Check(good.trial("a").Spec); err != nil {
		t.Error(err)
	}
}

// The smallest plans run and are compared; what they show is checked where it
// can be known.
func TestLocalizationFindings(t *testing.T) {
	size := Size{Preset: "tiny", Seed: 1}
	for _, e := range []Experiment{localizationExperiment, starvedExperiment} {
		trials := e.Plan(size)
		f, err := e.Find(size, runPlan(t, 1, trials...))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range f.Claims {
			if c.Ours == "" || c.Evidence == nil || math.IsNaN(c.Value) || math.Abs(c.Value) > 1e6 {
				t.Errorf("claim %s: %+v", c.ID, c)
			}
			if c.Verdict != report.Undecided {
				t.Errorf("a tiny run decides %s: %s", c.ID, c.Why)
			}
		}
		if len(f.Pictures) == 0 || len(f.Tables) == 0 || len(f.Scaled) == 0 {
			t.Errorf("%s has %d pictures, %d tables, %d notes of scale", e.Name, len(f.Pictures), len(f.Tables), len(f.Scaled))
		}
		for _, p := range f.Pictures {
			if w, h := p.Figure.Size(); w <= 0 || h <= 0 {
				t.Errorf("figure %s is empty", p.Name)
			}
		}
	}
}

// Trainings that all diverged before their first score leave gaps, and numbers
// that JSON can hold.
func TestLocalizationWithoutScores(t *testing.T) {
	size := Size{Preset: "tiny", Seed: 1}
	for _, e := range []Experiment{localizationExperiment, starvedExperiment} {
		results := Results{}
		for _, trial := range e.Plan(size) {
			results[trial.ID()] = &sweep.Result{Data: []byte(`{"marks":null,"diverged":{"step":1,"what":"a gradient"}}`)}
		}
		f, err := e.Find(size, results)
		if err != nil {
			t.Fatal(err)
		}
		s := &Study{Size: size, Experiments: []Experiment{e}, Findings: []*Findings{f}}
		dir := t.TempDir()
		if _, err := s.Save(dir); err != nil {
			t.Error(err)
		}
		for _, c := range f.Claims {
			if c.Verdict != report.Undecided || c.Value != 0 || strings.Contains(c.Ours, "NaN") || strings.Contains(c.Ours, "Inf") {
				t.Errorf("%s: value %v, %v: %s", c.ID, c.Value, c.Verdict, c.Ours)
			}
		}
	}
}

// The claims turn with the numbers they are made of.
func TestLocalizationClaims(t *testing.T) {
	bound, _ := boundMaps()
	method := func(name string, nll float64, variance, square emitterMap) LocalizationMethod {
		m := LocalizationMethod{Name: name, Maps: map[string]Stat{}}
		for r := range 5 {
			v, e := variance, square
			scale(&v, 1+0.001*float64(r))
			scale(&e, 1+0.001*float64(r))
			m.add(LocalizationTrial{History: History{Marks: []Mark{{Step: 1, Scores: []float64{nll, nll, nll, 1}, MaxGrad: 2}}}, Variance: v[:], Error: e[:]})
		}
		m.average()
		return m
	}
	flat, double := bound, bound
	for p := range flat {
		flat[p] = 0.02
	}
	scale(&double, 2) // the logarithms correlate perfectly, the distance is ln 2
	ut := method("UT", -0.5, bound, bound)
	mc10 := method("MC10", -0.2, double, bound)
	mc3 := method("MC3", 5, flat, flat)
	good := []LocalizationMethod{ut, mc10, mc3}
	lost := LocalizationMethod{Name: "MC3", Maps: map[string]Stat{}}
	for range 5 {
		lost.add(LocalizationTrial{History: History{Diverged: &Divergence{Step: 7}}})
	}
	ripples := bound
	for p := range ripples {
		ripples[p] *= 1 + 0.3*float64(p%2)
	}
	wavy := method("MC10", -0.2, ripples, bound)
	full := runSize{10, locFullSteps}
	for i, c := range []struct {
		claim Claim
		want  report.Verdict
	}{
		{mc3Fails(full, good), report.Holds},
		{mc3Fails(full, []LocalizationMethod{ut, mc3, mc10}), report.Fails},
		{mc3Fails(full, []LocalizationMethod{mc10, ut, mc3}), report.Fails},
		{mc3Fails(runSize{10, 300}, []LocalizationMethod{ut, mc3, mc10}), report.Undecided},
		{mc3Explodes(full, good, good), report.Fails}, // no training diverges
		{mc3Explodes(full, []LocalizationMethod{ut, mc10, lost}, []LocalizationMethod{ut, mc10, lost}), report.Holds},
		{mc3Explodes(full, []LocalizationMethod{lost, mc10, lost}, []LocalizationMethod{ut, mc10, lost}), report.Fails},
		{mc3Explodes(full, []LocalizationMethod{ut, mc10, mc3}, []LocalizationMethod{ut, mc10, lost}), report.Holds}, // 5 of 10
		{mc3Explodes(runSize{1, 300}, good, good), report.Undecided},
		{varianceHasTrend(full, []LocalizationMethod{ut, wavy, mc3}), report.Holds},
		{varianceHasTrend(full, []LocalizationMethod{wavy, ut, mc3}), report.Fails},
		{varianceHasTrend(full, []LocalizationMethod{ut, ut, mc3}), report.Undecided},
		{varianceHasTrend(runSize{2, locFullSteps}, []LocalizationMethod{wavy, ut, mc3}), report.Undecided},
		{varianceHasLevel(full, good), report.Holds},
		{varianceHasLevel(full, []LocalizationMethod{mc10, ut, mc3}), report.Fails},
		{varianceHasLevel(full, []LocalizationMethod{ut, ut, mc3}), report.Undecided},
		{varianceHasLevel(runSize{10, 1500}, []LocalizationMethod{mc10, ut, mc3}), report.Undecided},
		{varianceHasLevel(runSize{2, locFullSteps}, good), report.Undecided},
	} {
		checkVerdict(t, i, c.claim, c.want)
	}
	if d := varianceHasLevel(full, good).Evidence["mc10_distance_minus_ut"].(Stat); math.Abs(d.Mean-math.Ln2) > 0.01 {
		t.Errorf("twice the bound is at a distance of %v, want ln 2", d.Mean)
	}
	for name, change := range map[string]func(v, e *emitterMap){
		"the centre errs":        func(v, e *emitterMap) { e[27], v[27] = 1.6*e[27], 1.6*v[27] },
		"all but the centre err": func(v, e *emitterMap) { *e, *v = around(1.2, *e), around(1.2, *v) },
		"the centre is too sure": func(v, _ *emitterMap) { *v = around(1/0.84, *v); scale(v, 0.84) },
		"the others are unsure":  func(v, _ *emitterMap) { *v = around(1.2, *v) },
		"twelve pixels are off": func(v, _ *emitterMap) {
			for _, p := range []int{0, 1, 8, 6, 7, 15, 48, 56, 57, 55, 62, 63} {
				v[p] *= 1.52
			}
		},
		"MC10 follows it closer": nil,
	} {
		v, e := bound, bound
		others := good
		if change != nil {
			change(&v, &e)
		} else {
			scale(&v, 1.1)
			others = []LocalizationMethod{ut, method("MC10", -0.2, bound, bound), mc3}
		}
		bad := []LocalizationMethod{method("UT", -0.5, v, e), others[1], others[2]}
		c := varianceHasLevel(full, bad)
		if c.Verdict != report.Fails || strings.Contains(c.Why, "Bars missed: ") == (change == nil) {
			t.Errorf("%s, and the claim is judged %v: %s", name, c.Verdict, c.Why)
		}
	}
}

func scale(m *emitterMap, by float64) {
	for p := range m {
		m[p] *= by
	}
}

// around multiplies all pixels but the central four.
func around(by float64, m emitterMap) emitterMap {
	centre := m
	scale(&m, by)
	for _, p := range []int{27, 28, 35, 36} {
		m[p] = centre[p]
	}
	return m
}
