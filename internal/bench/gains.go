package bench

import "time"

// A Gain is how many times faster a network is with several threads than with one.
type Gain struct {
	Net, Rule      string
	Batch, Threads int
	Forward, Step  float64
}

// Gains lists those of the networks that were measured with several threads.
func (r *Report) Gains() []Gain {
	var gains []Gain
	for _, n := range r.Networks {
		if n.Threads > 1 {
			gains = append(gains, Gain{n.Net, n.Rule, n.Batch, n.Threads, n.ForwardGain, n.StepGain})
		}
	}
	return gains
}

// gainRounds is how many cores one thread is measured on at most.
const gainRounds = 16

// measureGain returns how many times faster many is than one, the median over rounds in which they
// take turns. Cores are not equally fast, and some are slow for seconds because of other
// programs, so one runs on another core in each round. The workers of many have gone to sleep
// meanwhile, and learn anew how fast each of them is: they have more time.
func measureGain(rounds int, window time.Duration, one, many func()) float64 {
	var ratios []float64
	for i := range rounds {
		var alone float64
		onCore(i, func() { alone = fastest(window, one) })
		ratios = append(ratios, alone/fastest(4*window, many))
	}
	return median(ratios)
}
