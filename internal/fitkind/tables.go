package fitkind

import (
	"context"
	"encoding/json"
	"errors"
	"math"

	"utvi/internal/strictjson"
	"utvi/internal/sweep"
	"utvi/internal/tablebench"
)

// A TableSplit is a trial of kind "table": a split of a table of the benchmark, by the default or,
// with a Python that has scikit-learn, by its peers.
type TableSplit struct {
	Table  tablebench.Table `json:"table"`
	Split  int              `json:"split"`
	Python string           `json:"python,omitempty"`
}

func readTableSplit(spec json.RawMessage) (s TableSplit, err error) {
	if err := strictjson.Unmarshal(spec, &s); err != nil {
		return s, err
	}
	if s.Split < 0 {
		return s, errors.New("the split must be a number ≥ 0")
	}
	return s, s.Table.Check()
}

func runTableSplit(ctx context.Context, j sweep.Job) (sweep.Outcome, error) {
	s, err := readTableSplit(j.Spec)
	if err != nil {
		return sweep.Outcome{}, err
	}
	j.Tell(0, 1, math.NaN())
	var r tablebench.Result
	if s.Python != "" {
		r, err = s.Table.RunPeers(ctx, s.Split, s.Python)
	} else {
		const steps = 1000
		r, err = s.Table.Run(ctx, s.Split, j.Workers, func(done, total float64) {
			j.Tell(int(steps*done/max(total, 1)), steps, math.NaN())
		})
	}
	if err != nil {
		return sweep.Outcome{}, err
	}
	metrics := map[string]float64{}
	for name, m := range r.Methods {
		metrics["ll "+name] = m.LL
	}
	return sweep.Outcome{Metrics: metrics, Data: r}, nil
}
