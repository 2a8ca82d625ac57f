package experiment

import (
	"context"

	"utvi/gauss"
	"utvi/internal/sweep"
	"utvi/model"
)

// An Agreement compares a network's propagated outputs with those of networks
// drawn from its weights, over some rows.
type Agreement struct {
	Networks   int     `json:"networks"`
	MeanMedian float64 `json:"mean_median"` // |propagated − sampled| in sampled standard deviations
	MeanWorst  float64 `json:"mean_worst"`
	SDMedian   float64 `json:"sd_median"` // |σ propagated/σ sampled − 1|
	SDWorst    float64 `json:"sd_worst"`
}

func agree(ctx context.Context, m *model.Model, rows gauss.Batch[float32], networks int, seed uint64, j sweep.Job) (*Agreement, error) {
	v, err := m.Verify(ctx, rows, model.VerifyConfig{Networks: networks, Seed: seed, Workers: j.Workers})
	if err != nil {
		return nil, err
	}
	out := v.Layers[len(v.Layers)-1]
	return &Agreement{v.Networks, out.Mean.Median, out.Mean.Worst, out.Std.Median, out.Std.Worst}, nil
}
