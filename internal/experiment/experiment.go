package experiment

import (
	"fmt"
	"slices"
	"strings"

	"utvi/internal/report"
	"utvi/internal/sweep"
)

// An Experiment is one study of the paper, or beyond it.
type Experiment struct {
	Name  string
	Title string
	Extra bool // not in the paper: it runs only by name

	Plan func(s Size) []sweep.Trial
	Find func(s Size, r Results) (*Findings, error)
}

// All returns the experiments in the order of running and reporting.
func All() []Experiment {
	return []Experiment{fcExperiment, samplesExperiment, localizationExperiment, starvedExperiment, beyondExperiment, truthExperiment, digitsExperiment}
}

// Kinds run the trials of all experiments.
func Kinds() []sweep.Kind {
	return []sweep.Kind{fcKind, fcTimingKind, fcErrorKind, localizationKind, digitsKind, truthKind}
}

// A Size says how much of an experiment is run.
type Size struct {
	Preset     string // one of Presets
	Seed       uint64 // of weights, data and samples
	Replicates int    // trainings of each method; 0: the preset's
	Steps      int    // of each training; 0: the preset's
}

// Presets are the names of sizes: tiny tests the program, quick takes minutes, paper
// is the paper's size.
func Presets() []string { return []string{"tiny", "quick", "paper"} }

// Check reports a size that makes no sense.
func (s Size) Check() error {
	switch {
	case !slices.Contains(Presets(), s.Preset):
		return fmt.Errorf("there is no preset %q; the presets are %s", s.Preset, strings.Join(Presets(), ", "))
	case s.Replicates < 0 || s.Replicates > 1000:
		return fmt.Errorf("%d replicates; the number must be 1 to 1000", s.Replicates)
	case s.Steps < 0 || s.Steps > 10_000_000:
		return fmt.Errorf("%d steps; the number must be 1 to 10000000", s.Steps)
	}
	return nil
}

// pick is the number that the user asked for, or else the preset's.
func (s Size) pick(asked, tiny, quick, paper int) int {
	if asked > 0 {
		return asked
	}
	return map[string]int{"tiny": tiny, "quick": quick, "paper": paper}[s.Preset]
}

// Results are those of a plan's trials, by the trial's ID.
type Results map[string]*sweep.Result

// NewResults joins a plan with its results. It leaves out trials without a result.
func NewResults(p *sweep.Plan, found []*sweep.Result) Results {
	r := Results{}
	for i, t := range p.Trials {
		if i < len(found) && found[i] != nil {
			r[t.ID()] = found[i]
		}
	}
	return r
}

// decode reads the data of a trial's result into v.
func (r Results) decode(t sweep.Trial, v any) error {
	res, ok := r[t.ID()]
	if !ok {
		return fmt.Errorf("trial %s has no result", t.Name)
	}
	return res.Decode(v)
}

// Findings are what an experiment shows.
type Findings struct {
	Claims   []Claim
	Pictures []Picture
	Tables   []report.Table
	Notes    []string // sentences a reader should know
	Scaled   []string // what is smaller than in the paper
	Numbers  any      // every number behind tables and figures
}

// A Claim is a statement of the paper, or a finding of our own, with what was found here.
type Claim struct {
	ID       string         `json:"id"`
	Title    string         `json:"title"` // the statement in a few words
	Paper    string         `json:"paper"`
	Own      bool           `json:"own,omitempty"` // the paper does not claim it: counted apart
	Ours     string         `json:"ours"`          // what was found, with the bars it is judged by
	Value    float64        `json:"value"`
	Shown    string         `json:"shown"` // the value with its unit, for a reader who scans
	Verdict  report.Verdict `json:"verdict"`
	Why      string         `json:"why,omitempty"` // a sentence, unless it holds
	Needs    string         `json:"needs"`         // the size of a run that can decide it
	Evidence map[string]any `json:"evidence,omitempty"`
}

// found is what was found and why the verdict is what it is.
func (c Claim) found() string { return strings.TrimSpace(c.Ours + " " + c.Why) }

// A Picture is a figure with the name of its files.
type Picture struct {
	Name string
	report.Picture
}

// scaled names a number that is smaller than the paper's.
func scaled(what string, have, paper int) []string {
	if have >= paper {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d %s", have, paper, what)}
}
