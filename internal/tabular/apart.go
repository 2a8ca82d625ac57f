package tabular

import "slices"

// Between the training rows, and outside of them, the networks of an ensemble disagree more than elsewhere,
// and still less than the functions that the rows allow: where test rows lay in gaps of an input, 90 %
// intervals covered half of the rows of a table with hardly any noise. So the variance of the networks'
// means is added to the variance of each, several times, before held-out rows fit the level and the shape:
// these say what it is worth where rows are. Beyond what they show, a level stays as it is.

const (
	apartTimes = 2
	apartLeast = 4   // networks: fewer say too little about what they disagree about
	mostApart  = 100 // that a file may say
)

// widened are the predictions of held-out rows with what the members disagree about, and how many times it
// counts: 0 where it does not, of counts, classes, and a few networks.
func (r *run) widened(folds []fold, by func(fold) []heldOutPredictions) (wide func(fold) []heldOutPredictions, times float64) {
	if r.classes > 0 || r.data.counted || len(folds) == 0 || len(by(folds[0])) < apartLeast {
		return by, 0
	}
	known := map[*float32][]heldOutPredictions{} // by fold
	for _, f := range folds {
		known[&f.held.Y[0]] = widen(by(f), apartTimes)
	}
	return func(f fold) []heldOutPredictions { return known[&f.held.Y[0]] }, apartTimes
}

// widen adds the variance of the members' means to the variance of each, so many times.
func widen(members []heldOutPredictions, times float64) (wide []heldOutPredictions) {
	for _, h := range members {
		wide = append(wide, heldOutPredictions{h.Mean, slices.Clone(h.Var)})
	}
	for i := range members[0].Mean {
		more := float32(times * disagreement(members, i))
		for _, h := range wide {
			h.Var[i] += more
		}
	}
	return wide
}

// disagreement is the variance of the means of as many networks as there are members. A network that
// stands for several of them, because few were trained on the fold, is one.
func disagreement(members []heldOutPredictions, at int) float64 {
	var mean, squares, n float64
	other := func(k int) bool {
		return !slices.ContainsFunc(members[:k], func(x heldOutPredictions) bool { return &x.Mean[0] == &members[k].Mean[0] })
	}
	for k, h := range members {
		if other(k) {
			mean += float64(h.Mean[at])
			n++
		}
	}
	if n < 2 {
		return 0
	}
	mean /= n
	for k, h := range members {
		if other(k) {
			d := float64(h.Mean[at]) - mean
			squares += float64(d * d)
		}
	}
	all := float64(len(members))
	return squares / (n - 1) * (all - 1) / all
}
