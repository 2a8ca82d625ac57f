package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"utvi/fit"
	"utvi/internal/strictjson"
	"utvi/metric"
	"utvi/sweep"
	"utvi/table"
	"utvi/tabular"
)

// A fitSpec is the fit of a table as a trial. The seed is that of the rows held out,
// too, so seeds are random splits.
type fitSpec struct {
	Table string `json:"table"`
	fit.Config
}

func readFitSpec(b json.RawMessage) (s fitSpec, err error) {
	if err := strictjson.Unmarshal(b, &s); err != nil {
		return s, err
	}
	if s.Table == "" {
		return s, errors.New("no table is given; name a file")
	}
	return s, s.Check()
}

var fitKind = sweep.Kind{
	Name:  "fit",
	Paths: []string{"table"},
	Check: func(spec json.RawMessage) error {
		_, err := readFitSpec(spec)
		return err
	},
	Run: func(ctx context.Context, j sweep.Job) (sweep.Outcome, error) {
		s, err := readFitSpec(j.Spec)
		if err != nil {
			return sweep.Outcome{}, err
		}
		frame, err := fit.ReadTable(s.Table, table.Options{})
		if err != nil {
			return sweep.Outcome{}, err
		}
		r, err := fit.Run(ctx, frame, s.Config, fit.Options{
			Checkpoint: j.Stem + ".checkpoint", Workers: j.Workers,
			Tell: func(p tabular.Progress) { j.Tell(fitPart(p), 2*permille, math.NaN()) },
		})
		if err != nil {
			return sweep.Outcome{}, err
		}
		scores := r.Evaluation.Scores()
		return sweep.Outcome{Metrics: fitMetrics(scores), Data: scores}, r.Model.Save(j.Stem + ".utvi")
	},
}

// fitPart is how far a fit is: choosing takes the first half.
func fitPart(p tabular.Progress) int {
	done := int(permille * p.Done / max(1, p.Total))
	if p.Stage == "training" {
		done += permille
	}
	return done
}

// fitMetrics are the scores by name, with the target's where there are several.
func fitMetrics(all []fit.Scores) map[string]float64 {
	m := map[string]float64{}
	for _, s := range all {
		of := ""
		if len(all) > 1 {
			of = s.Target + " "
		}
		put := func(name string, x float64) { m[of+name] = x }
		if c := s.Classes; c != nil {
			for name, x := range map[string]metric.Score{"accuracy": c.Accuracy, "ll": c.LL, "brier": c.Brier} {
				put(name, x.Value)
			}
			put("ece", c.ECE)
			if c.AUROC != nil {
				put("auroc", *c.AUROC)
			}
			continue
		}
		n := s.Numbers
		for name, x := range map[string]metric.Score{"ll": n.LL, "rmse": n.RMSE, "mae": n.MAE, "crps": n.CRPS} {
			put(name, x.Value)
		}
		for _, i := range n.Intervals {
			put(fmt.Sprintf("coverage %g", i.Level), i.Coverage)
		}
		put("calibration error", n.CalibrationError)
	}
	return m
}
