package tabular

import (
	"utvi/data"
	"utvi/gauss"
	"utvi/model"
)

// FitResiduals finds the mixtures of residuals under which rows that networks have not seen are most
// probable, given the mean and the variance that each network predicts for each target, row by row.
// It also returns the mean ln p of a row and its standard error.
func FitResiduals(targets int, y []float32, mean, variance [][]float32) (all []ResidualMixture, score, se float64) {
	held := Data{Set: data.Set{X: gauss.Batch[float32]{Rows: len(y) / targets}, Targets: targets, Y: y}}
	folds := []fold{{held: held}}
	var by []heldOutPredictions
	for k := range mean {
		by = append(by, heldOutPredictions{mean[k], variance[k]})
	}
	members := func(fold) []heldOutPredictions { return by }
	for t := range targets {
		all = append(all, fitShape(folds, members, t, nil))
	}
	score, se = mixtureScore(folds, members, all)
	return all, score, se
}

// BoundNoise bounds the noise that a network predicts for each of its targets by what it predicts for
// some rows.
func BoundNoise(m *model.Model, x gauss.Batch[float32], targets int) {
	boundNoise(m, Data{Set: data.Set{X: x, Targets: targets, Y: make([]float32, x.Rows*targets)}})
}
