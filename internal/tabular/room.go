package tabular

import (
	"fmt"

	"utvi/engine"
	"utvi/internal/memory"
)

// bytesPerWeight is what a training on the CPU takes at least for each weight: mean and deviation as
// they are learned, with their gradients and the two moments of AdamW, and as the kernels read them.
const bytesPerWeight = 4 * (2 + 2 + 4 + 2)

// beside is how many of the jobs to run at a time.
func (r *run) beside(jobs []*job) (int, error) {
	n := min(engine.Beside(r.Engine, r.Parallel), len(jobs))
	if r.Engine != nil && r.Engine.Abilities().Concurrent > 0 {
		return n, nil // it trains in memory of its own
	}
	return room(jobs, n, memory.Available())
}

// room returns how many of the jobs, n or fewer, fit side by side into free bytes.
func room(jobs []*job, n int, free float64) (int, error) {
	var most Candidate
	need := 0.0
	for _, j := range jobs {
		if b := bytesPerWeight * j.weights(j.train.X.Width); b > need {
			need, most = b, j.Candidate
		}
	}
	if need > free {
		return 0, fmt.Errorf("to train a network of width %d and depth %d takes more than %.0f MiB of memory, and %.0f MiB are free; make it smaller, or allow more memory", most.Width, most.Depth, need/(1<<20), free/(1<<20))
	}
	if float64(n)*need <= free {
		return n, nil
	}
	return max(1, int(free/need)), nil
}
