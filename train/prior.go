package train

import (
	"encoding/json"
	"errors"
	"math"

	"utvi/internal/compute"
)

// priorChunk is how many variances are looked at at a time.
const priorChunk = 512

// updatePriors sets the prior of every random tensor to its optimum for the
// parameters as they are. Ranges are summed apart, then in order.
func (t *Trainer) updatePriors() {
	t.pool.Run(len(t.ranges), t.runSize)
	for i, x := range t.params.Tensors {
		if !x.Random {
			continue
		}
		var sum float64
		for _, r := range t.ranges {
			if r.tensor == i {
				sum += r.size
			}
		}
		t.setPrior(i, math.Sqrt(t.config.Prior.Variance(x.Len(), sum)))
	}
}

// setPrior tells the network too, whose parameters share no priors.
func (t *Trainer) setPrior(tensor int, std float64) {
	t.params.Tensors[tensor].Prior.Std = std
	t.net.Params.Tensors[tensor].Prior.Std = std
}

// doSize computes Σ(σ² + (μ−μ₀)²) of a range.
func (t *Trainer) doSize(worker, task int) {
	r := &t.ranges[task]
	p := t.params.Tensors[r.tensor]
	r.size = 0
	if !p.Random {
		return
	}
	for lo := r.lo; lo < r.hi; lo += priorChunk {
		hi := min(r.hi, lo+priorChunk)
		v := t.lanes[worker].variances[:hi-lo]
		compute.Variance(v, p.Rho[lo:hi])
		for i, m := range p.Mean[lo:hi] {
			d := float64(m) - p.Prior.Mean
			r.size += float64(v[i]) + float64(d*d)
		}
	}
}

// priorsKey is where a checkpoint keeps the priors' standard deviations, one per
// tensor.
const priorsKey = "utvi.priors"

func (t *Trainer) priors() (string, error) {
	var std []float64
	for _, x := range t.params.Tensors {
		std = append(std, x.Prior.Std)
	}
	b, err := json.Marshal(std)
	return string(b), err
}

func (t *Trainer) readPriors(s string) ([]float64, error) {
	var std []float64
	if err := json.Unmarshal([]byte(s), &std); err != nil || len(std) != len(t.params.Tensors) {
		return nil, errors.New("its priors cannot be read")
	}
	for i, s := range std {
		if t.params.Tensors[i].Random && !(s > 0) {
			return nil, errors.New("its priors are not standard deviations")
		}
	}
	return std, nil
}
