package experiment

import (
	"fmt"
	"math"
	"slices"

	"utvi/internal/report"
	"utvi/internal/sweep"
	"utvi/moment"
)

var samplesExperiment = Experiment{
	Name:  "samples",
	Title: "How many samples Monte Carlo needs",
	Plan: func(s Size) (trials []sweep.Trial) {
		for r := range samplesReplicates(s) {
			for _, m := range samplesMethods(s) {
				trials = append(trials, fcTrial(s, m.name, m.rule, r))
			}
		}
		return append(trials, samplesErrors(s), samplesTiming(s))
	},
	Find: findSamples,
}

func samplesReplicates(s Size) int { return s.pick(s.Replicates, 1, 2, 10) }

// sampleCounts are the paper's 2, 4 … 256, or the first of them.
func sampleCounts(s Size) []int { return powersOfTwo(s.pick(0, 2, 6, 8)) }

// powersOfTwo are 2, 4, 8 …
func powersOfTwo(count int) (n []int) {
	for k := range count {
		n = append(n, 2<<k)
	}
	return n
}

type fcRule struct{ name, rule string }

// samplesMethods are the two methods to compare with, which the regression trains,
// and Monte Carlo with every number of samples.
func samplesMethods(s Size) []fcRule {
	m := []fcRule{{"UT", "ut(2)"}, {"SMP", "exact"}}
	for _, n := range sampleCounts(s) {
		m = append(m, fcRule{fmt.Sprintf("MC%d", n), moment.MonteCarlo(n).String()})
	}
	return m
}

func samplesErrors(s Size) sweep.Trial {
	spec := FCErrorSpec{FCSpec: FCSpec{Seed: s.Seed, Rule: "ut(2)", Steps: fcSteps(s)}, Samples: sampleCounts(s), Repeats: s.pick(0, 8, 64, 256)}
	return sweep.NewTrial("fc-error", "samples-error", "standard error", spec.cost()+4, spec)
}

// samplesTimingRounds is how often each forward pass is timed.
func samplesTimingRounds(s Size) int { return s.pick(0, 1, 30, 100) }

func samplesTiming(s Size) sweep.Trial {
	spec := FCTimingSpec{Rules: []string{"ut(2)", "exact"}, Rows: 1024, Rounds: samplesTimingRounds(s)}
	for _, n := range powersOfTwo(8) {
		spec.Rules = append(spec.Rules, moment.MonteCarlo(n).String())
	}
	t := sweep.NewTrial("fc-timing", "samples-timing", "time", 0.06*float64(spec.Rounds), spec)
	t.Alone = true
	return t
}

// SamplesNumbers are the numbers of the paper's Figure 2.
type SamplesNumbers struct {
	Methods    []FCMethod         `json:"methods"`
	Difference []Stat             `json:"difference_to_ut"` // best NLL, paired by seed, of each number of samples
	Seconds    map[string]float64 `json:"forward_seconds"`

	CardSeconds map[string]float64 `json:"card_forward_seconds,omitempty"` // none where no card was at work

	Samples []int    `json:"samples"`
	Errors  FCErrors `json:"standard_errors"`
	Slope   float64  `json:"slope"` // of ln(standard error) against ln n
	Share   float64  `json:"share"` // of σ/√n that the standard error is, mean over n; σ predicted for y
}

func findSamples(s Size, res Results) (*Findings, error) {
	n := SamplesNumbers{Samples: sampleCounts(s)}
	for _, m := range samplesMethods(s) {
		found, err := fcMethod(s, res, m.name, m.rule, samplesReplicates(s))
		if err != nil {
			return nil, err
		}
		n.Methods = append(n.Methods, found)
	}
	var timing FCTiming
	if err := res.decode(samplesTiming(s), &timing); err != nil {
		return nil, err
	}
	if err := res.decode(samplesErrors(s), &n.Errors); err != nil {
		return nil, err
	}
	n.Seconds = timing.Seconds
	n.CardSeconds = timing.Card
	n.Slope = logSlope(n.Samples, n.Errors.Mean)
	for i, k := range n.Samples {
		n.Share += n.Errors.Mean[i] * math.Sqrt(float64(k)) / n.Errors.SD / float64(len(n.Samples))
	}
	for _, mc := range n.Methods[2:] {
		n.Difference = append(n.Difference, mc.minus(&n.Methods[0]))
	}
	f := &Findings{
		Claims: n.claims(runSize{samplesReplicates(s), fcSteps(s)}, samplesTimingRounds(s)), Tables: []report.Table{n.table()}, Numbers: n,
		Scaled: slices.Concat(scaled("replicates", samplesReplicates(s), 10), scaled("steps per training", fcSteps(s), fcEpochs*fcEpochSteps),
			scaled("numbers of samples", len(n.Samples), 8)),
	}
	f.Pictures = []Picture{{"fig2", report.Picture{
		Figure: n.figure(), Label: "Figure 2", Title: "What sampling costs.",
		Caption: "(a) Best validation NLL above the true model's of networks trained and evaluated with n samples, mean ± sd over replicates. (b) Time of the fastest of many forward passes of 1,024 rows on one core relative to UT's (the table has a card's, where one was at work). (c) Standard deviation of the predicted mean over repeated predictions of one trained network, root mean square over the range of the data. The paper's σ/√n is the error of n networks drawn as a whole. Here only the nonlinearities are sampled, and the variance of the weights is propagated, so the error is smaller.",
		Paper:   "About 2⁷ samples are needed for the NLL of three sigma points, at ten times the time; the standard error falls like σ/√n.",
		Ours:    fmt.Sprintf("%s %s The standard error falls like n to the power of %.3f and is %.3g of σ/√n.", f.Claims[0].Ours, f.Claims[1].Ours, n.Slope, n.Share),
	}}}
	return f, nil
}

func (n *SamplesNumbers) table() report.Table {
	t := report.Table{
		Caption: "Best validation NLL above the true model's (nats), the same minus UT's, paired by seed, with a 95 % interval, the time of a forward pass relative to UT, and the standard deviation of the predicted mean over repeated predictions of one network.",
		Head:    []string{"method", "best", "minus UT", "95 % interval", "time", "standard error"},
	}
	if n.CardSeconds != nil {
		t.Head = append(t.Head, "time on the card")
	}
	for i, m := range n.Methods {
		row := []string{m.Name, m.Best.format("%.4f"), "", "", fmt.Sprintf("%.2f", n.relative(m.Rule)), ""}
		if i >= 2 {
			d := n.Difference[i-2]
			row[2] = d.format("%.4f")
			if lo, hi, ok := d.interval(); ok {
				row[3] = fmt.Sprintf("%.4f to %.4f", lo, hi)
			}
			row[5] = fmt.Sprintf("%.5f", n.Errors.Mean[i-2])
		}
		if n.CardSeconds != nil {
			row = append(row, fmt.Sprintf("%.2f", n.CardSeconds[m.Rule]/n.CardSeconds["ut(2)"]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (n *SamplesNumbers) figure() report.Figure {
	ut, smp := n.Methods[0], n.Methods[1]
	fig := report.Sweep{
		NLLLevels:  []report.Level{{Name: "UT", Colour: report.Series(2), Y: ut.Best.Mean, SD: ut.Best.SD}, {Name: "SMP", Colour: report.Series(0), Y: smp.Best.Mean, SD: smp.Best.SD}},
		TimeLevels: []report.Level{{Name: "UT", Colour: report.Series(2), Y: 1}, {Name: "SMP", Colour: report.Series(0), Y: n.relative("exact")}},
	}
	for i, m := range n.Methods[2:] {
		samples := float64(n.Samples[i])
		fig.N = append(fig.N, samples)
		fig.NLL, fig.NLLSD = append(fig.NLL, m.Best.Mean), append(fig.NLLSD, m.Best.SD)
		fig.Time = append(fig.Time, n.relative(m.Rule))
		fig.SE = append(fig.SE, n.Errors.Mean[i])
		fig.RootLaw = append(fig.RootLaw, n.Errors.Mean[0]*math.Sqrt(float64(n.Samples[0])/samples))
	}
	return fig.Figure()
}
