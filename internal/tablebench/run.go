package tablebench

import (
	"context"
	"fmt"
	"math"

	"utvi/fit"
	"utvi/internal/compute"
	"utvi/internal/tabular"
	"utvi/table"
)

// utvi is the name of our own scores.
const utvi = "utvi"

// A Result holds the scores of a split, by method.
type Result struct {
	Table   string            `json:"table"`
	Task    string            `json:"task"`
	Split   int               `json:"split"`
	Rows    int               `json:"rows"`    // learned from
	Test    int               `json:"test"`    // scored
	Counts  bool              `json:"counts"`  // our log-likelihood is that of counts
	Methods map[string]Scores `json:"methods"` // by name
	Chosen  string            `json:"chosen,omitempty"`
}

// Scores are those of a method on the test rows.
type Scores struct {
	LL       float64  `json:"ll"`                // mean ln p, nats
	Mass     *float64 `json:"ll_mass,omitempty"` // the same of whole numbers, with probabilities in place of densities
	RMSE     float64  `json:"rmse,omitempty"`
	Cover    float64  `json:"cover,omitempty"` // of 90 % intervals
	Accuracy float64  `json:"accuracy,omitempty"`
	Seconds  float64  `json:"seconds,omitempty"`
}

// Run fits the default to the training rows of split k and scores the others.
func (t Table) Run(ctx context.Context, k, workers int, tell func(done, total float64)) (Result, error) {
	r := Result{Table: t.Name, Task: t.Task, Split: k, Methods: map[string]Scores{}}
	f, err := fit.ReadTable(t.File, table.Options{})
	if err != nil {
		return r, err
	}
	train, test, err := t.split(f, k)
	if err != nil {
		return r, err
	}
	r.Rows = len(train)
	r.Test = len(test)
	learned, err := table.Load(f.Rows(train))
	if err != nil {
		return r, err
	}
	made, err := fit.Run(ctx, learned, t.config(1), fit.Options{Workers: workers, Progress: func(p tabular.Progress) { tell(p.Done, p.Total) }})
	if err != nil {
		return r, fmt.Errorf("%s, split %d: %w", t.Name, k, err)
	}
	pool := compute.NewPool(compute.Workers(workers))
	defer pool.Close()
	e, err := made.Model.Evaluate(ctx, f.Rows(test), pool)
	if err != nil {
		return r, fmt.Errorf("%s, split %d: %w", t.Name, k, err)
	}
	s := e.Targets[0].Scores
	r.Chosen = made.Model.Net.Report.Members[0].Candidate.String()
	r.Counts = made.Model.Net.Counts()
	if c := s.Classes; c != nil {
		r.Methods[utvi] = Scores{LL: c.LL.Value, Accuracy: c.Accuracy.Value}
		return r, nil
	}
	found := Scores{LL: s.Numbers.LL.Value, RMSE: s.Numbers.RMSE.Value}
	for _, i := range s.Numbers.Intervals {
		if math.Abs(i.Level-0.9) < 1e-9 {
			found.Cover = i.Coverage
		}
	}
	r.Methods[utvi] = found
	return r, nil
}
