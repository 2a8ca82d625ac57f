// Package fitkind holds the kinds of trials that fit tables: "fit", a table with
// settings, "uci", a split of the literature's benchmark, and "table", one of real tables;
// and "predict", rows of a table predicted by a model.
package fitkind

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"utvi/fit"
	"utvi/internal/strictjson"
	"utvi/internal/sweep"
	"utvi/internal/tabular"
	"utvi/internal/uci"
	"utvi/table"
)

// All are the kinds of this package.
func All() []sweep.Kind {
	return []sweep.Kind{
		{Name: "fit", Paths: []string{"table"}, Check: func(spec json.RawMessage) error { _, err := readSpec(spec); return err }, Run: runFit},
		{Name: "predict", Paths: []string{"model", "table"}, Check: func(spec json.RawMessage) error { _, err := readPrediction(spec); return err }, Run: runPrediction},
		{Name: "table", Check: func(spec json.RawMessage) error { _, err := readTableSplit(spec); return err }, Run: runTableSplit},
		{Name: "uci", Paths: []string{"data"}, Check: func(spec json.RawMessage) error { _, err := readSplit(spec); return err }, Run: runSplit},
	}
}

// A Spec is a trial of kind "fit": a table, and a Config's settings beside it.
type Spec struct {
	Table string `json:"table"`
	fit.Config
}

func readSpec(spec json.RawMessage) (s Spec, err error) {
	if err := strictjson.Unmarshal(spec, &s); err != nil {
		return s, err
	}
	if s.Table == "" {
		return s, errors.New("the setting table is missing; name the file of a table")
	}
	if s.Holdout < 0 {
		return s, fmt.Errorf("holdout is %g; a trial is scored on held-out rows, so it must lie between 0 and 1", s.Holdout)
	}
	return s, s.Check()
}

// runFit fits a table; the model is kept beside the result.
func runFit(ctx context.Context, j sweep.Job) (sweep.Outcome, error) {
	s, err := readSpec(j.Spec)
	if err != nil {
		return sweep.Outcome{}, err
	}
	f, err := fit.ReadTable(s.Table, table.Options{Used: s.Uses})
	if err != nil {
		return sweep.Outcome{}, err
	}
	r, err := fit.Run(ctx, f, s.Config, fit.Options{Checkpoint: j.Stem + ".checkpoint", Workers: j.Workers, Engine: j.Engine, Progress: func(p tabular.Progress) {
		const steps = 1000
		j.Tell(int(steps*p.Done/max(p.Total, 1)), steps, math.NaN())
	}})
	if err != nil {
		return sweep.Outcome{}, err
	}
	j.Tell(1, 1, math.NaN())
	return sweep.Outcome{Metrics: metrics(r.Evaluation), Data: r.Evaluation}, r.Model.Save(j.Stem + ".utvi")
}

// metrics are the scores by name, a target's behind its own where there are several.
func metrics(e *fit.Evaluation) map[string]float64 {
	all := map[string]float64{}
	for _, t := range e.Targets {
		prefix := ""
		if len(e.Targets) > 1 {
			prefix = t.Target + "."
		}
		if c := t.Classes; c != nil {
			all[prefix+"accuracy"] = c.Accuracy.Value
			all[prefix+"ll"] = c.LL.Value
			all[prefix+"brier"] = c.Brier.Value
			all[prefix+"ece"] = c.ECE
			continue
		}
		n := t.Numbers
		all[prefix+"ll"] = n.LL.Value
		all[prefix+"rmse"] = n.RMSE.Value
		all[prefix+"mae"] = n.MAE.Value
		all[prefix+"crps"] = n.CRPS.Value
		all[prefix+"calibration_error"] = n.CalibrationError
		for _, i := range n.Intervals {
			all[fmt.Sprintf("%scoverage%g", prefix, 100*i.Level)] = i.Coverage
		}
	}
	return all
}

// A Split is a trial of kind "uci": one split of a set of the benchmark.
type Split struct {
	Data     string         `json:"data"` // folder of the sets
	Set      string         `json:"set"`
	Split    int            `json:"split"`
	Protocol bool           `json:"protocol,omitempty"` // the literature's one hidden layer
	Gaps     bool           `json:"gaps,omitempty"`     // splits are gaps of inputs
	Network  tabular.Config `json:"network"`
}

func readSplit(spec json.RawMessage) (s Split, err error) {
	if err := strictjson.Unmarshal(spec, &s); err != nil {
		return s, err
	}
	if s.Data == "" || s.Set == "" || s.Split < 0 {
		return s, errors.New("the settings data (folder of the sets), set (one of them) and split (a number ≥ 0) are needed")
	}
	return s, s.Network.Check(false)
}

func runSplit(ctx context.Context, j sweep.Job) (sweep.Outcome, error) {
	s, err := readSplit(j.Spec)
	if err != nil {
		return sweep.Outcome{}, err
	}
	j.Tell(0, 1, math.NaN())
	s.Network.Parallel, s.Network.Engine = j.Workers, j.Engine
	r, err := uci.RunSplit(ctx, s.Data, s.Set, s.Split, s.Network, s.Protocol, s.Gaps)
	if err != nil {
		return sweep.Outcome{}, err
	}
	j.Tell(1, 1, r.LL)
	r.Seconds = 0 // the result's record of the run knows
	return sweep.Outcome{Data: r, Metrics: map[string]float64{
		"ll": r.LL, "rmse": r.RMSE, "coverage90": float64(r.Covered) / float64(r.Rows)}}, nil
}
