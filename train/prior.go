package train

import (
	"encoding/json"
	"errors"
)

// priorsKey is where a checkpoint keeps the priors' standard deviations, one per
// tensor.
const priorsKey = "utvi.priors"

func (t *Trainer) priors() (string, error) {
	var std []float64
	for _, x := range t.program.State().Params.Tensors {
		std = append(std, x.Prior.Std)
	}
	b, err := json.Marshal(std)
	return string(b), err
}

func (t *Trainer) readPriors(s string) ([]float64, error) {
	var std []float64
	if err := json.Unmarshal([]byte(s), &std); err != nil || len(std) != len(t.program.State().Params.Tensors) {
		return nil, errors.New("the priors cannot be read")
	}
	for i, s := range std {
		if t.program.State().Params.Tensors[i].Random && !(s > 0) {
			return nil, errors.New("the priors must be standard deviations > 0")
		}
	}
	return std, nil
}
