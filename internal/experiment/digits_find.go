package experiment

import (
	"fmt"

	"utvi/internal/report"
	"utvi/internal/sweep"
)

var digitsExperiment = Experiment{
	Name:  "digits",
	Title: "A convolutional classifier beside its deterministic twin",
	Extra: true,
	Plan: func(s Size) (trials []sweep.Trial) {
		for r := range digitsReplicates(s) {
			for _, m := range digitsMethods {
				trials = append(trials, digitsTrial(s, m.name, m.fixed, r))
			}
		}
		return trials
	},
	Find: findDigits,
}

// digitsMethods are the two kinds of weights.
var digitsMethods = []struct {
	name  string
	fixed bool
}{{"twin", true}, {"bayes", false}}

func digitsReplicates(s Size) int { return s.pick(s.Replicates, 1, 3, 5) }

func digitsTrial(s Size, name string, fixed bool, r int) sweep.Trial {
	const epoch = digitsRows / digitsBatch
	spec := DigitsSpec{
		Seed: s.Seed, Replicate: r, Fixed: fixed,
		Steps: s.pick(s.Steps, 30, epoch/2, 4*epoch), TestRows: s.pick(0, 100, 2000, 4000),
	}
	return sweep.NewTrial("digits", fmt.Sprintf("digits-%s-%d", name, r+1), "digits "+name, 3e-3*float64(spec.Steps), spec)
}

// A DigitsMethod is what one kind of weights gave.
type DigitsMethod struct {
	Name     string        `json:"name"`
	Accuracy Stat          `json:"accuracy"`
	NLL      Stat          `json:"nll"`
	Entropy  []Stat        `json:"auroc_entropy"`
	Variance []Stat        `json:"auroc_variance"`
	Trials   []DigitsTrial `json:"trials"`
}

func digitsMethod(s Size, res Results, name string, fixed bool) (DigitsMethod, error) {
	n := len(digitsUnfamiliar)
	m := DigitsMethod{Name: name, Entropy: make([]Stat, n), Variance: make([]Stat, n)}
	for r := range digitsReplicates(s) {
		var t DigitsTrial
		if err := res.decode(digitsTrial(s, name, fixed, r), &t); err != nil {
			return m, err
		}
		m.Trials = append(m.Trials, t)
		m.Accuracy.add(t.Accuracy)
		m.NLL.add(t.NLL)
		for k := range n {
			m.Entropy[k].add(t.Entropy[k])
			m.Variance[k].add(t.Variance[k])
		}
	}
	return m, nil
}

func findDigits(s Size, res Results) (*Findings, error) {
	table := report.Table{
		Caption: fmt.Sprintf("Test digits and the same number of unfamiliar images of each kind; %s. AUROC is the probability that an unfamiliar image gets more entropy, or more variance over the weights, than a digit. Chance gives 0.5; the twin has no variance over the weights, so its value is 0.5.", ofReplicates(digitsReplicates(s))),
		Head:    []string{"weights", "accuracy", "NLL"},
	}
	for _, u := range digitsUnfamiliar {
		table.Head = append(table.Head, u.name+", entropy", u.name+", variance")
	}
	var methods []DigitsMethod
	for _, m := range digitsMethods {
		found, err := digitsMethod(s, res, m.name, m.fixed)
		if err != nil {
			return nil, err
		}
		methods = append(methods, found)
		row := []string{m.name, found.Accuracy.format("%.4f"), found.NLL.format("%.4f")}
		for k := range digitsUnfamiliar {
			row = append(row, found.Entropy[k].format("%.3f"), found.Variance[k].format("%.3f"))
		}
		table.Rows = append(table.Rows, row)
	}
	return &Findings{Tables: []report.Table{table}, Numbers: map[string]any{"methods": methods}}, nil
}
