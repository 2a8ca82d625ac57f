package main

import (
	"utvi/gauss"
	"utvi/model"
)

// forecasts are what came in the hours behind several starts, and what was predicted, start by start.
type forecasts struct {
	starts               int
	before               []float32 // the day before each start
	came, mean, variance []float32
}

// at are the values so many hours ahead, of all starts.
func (f *forecasts) at(values []float32, hours int) (all []float32) {
	for i := range f.starts {
		all = append(all, values[i*ahead+hours-1])
	}
	return all
}

// forecast predicts the hours behind several starts, one each day at midnight, side by side. What is
// predicted for an hour is an input of the next, with its variance.
func forecast(net *model.Model, series []float32, starts int) (*forecasts, error) {
	n := starts * ahead
	f := &forecasts{starts: starts, came: make([]float32, n), mean: make([]float32, n), variance: make([]float32, n)}
	head, err := (&model.Ensemble{Members: []*model.Model{net}}).NewHead(starts)
	if err != nil {
		return nil, err
	}
	for i := range starts {
		f.before = append(f.before, series[24*i:][:day]...)
		copy(f.came[i*ahead:][:ahead], series[24*i+day:])
	}
	x := gauss.New[float32](starts, inputs)
	for i := range starts {
		for k := range day {
			put(x.Mean[i*inputs+k*each:], f.before[i*day+k], k)
		}
		put(x.Mean[i*inputs+day*each:], f.before[i*day+day-1], day-1)
	}
	for h := range ahead {
		p, err := head.TryPredict(x)
		if err != nil {
			return nil, err
		}
		for i := range starts {
			f.mean[i*ahead+h] = p.Mean[i]
			f.variance[i*ahead+h] = p.Var[i]
			at := i*inputs + day*each
			put(x.Mean[at:], p.Mean[i], h)
			x.Var[at] = p.Var[i]
		}
	}
	return f, nil
}
