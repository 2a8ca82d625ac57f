package tabular

import (
	"math"

	"utvi/model"
)

// A find is a network that a broken-off fit has, made by a candidate.
type find struct {
	*result
	candidate int
}

// salvage makes a model of the best network that a broken-off fit has; nil if no network took a
// step. Members, if some are trained already, come from the picked candidates.
func (r *run) salvage(folds []fold, rep Report, members []*result, picks []int) *Fitted {
	best := bestTrial(folds)
	if best.result == nil {
		best = firstMember(members, picks)
	}
	if best.result == nil {
		return nil
	}
	rep.Partial = true
	rep.Score = 0
	rep.SE = 0
	rep.Members = []Member{{r.candidate[best.candidate], best.log.Curve, best.step}}
	f, err := r.finish([]*model.Model{best.net}, rep, r.shapesOf(folds, best))
	if err != nil {
		return nil
	}
	return f
}

// bestTrial is the trial with the best standing, one that was not scored if there is no other.
func bestTrial(folds []fold) (best find) {
	var top float64
	for _, f := range folds {
		for i, all := range f.by {
			if len(all) == 0 || all[0].net == nil || all[0].step == 0 {
				continue
			}
			if s := standing(folds, i, all[0]); best.result == nil || s > top {
				best = find{all[0], i}
				top = s
			}
		}
	}
	return best
}

// firstMember is the first member that took a step.
func firstMember(members []*result, picks []int) find {
	for i, x := range members {
		if x.net != nil && x.step > 0 {
			return find{x, picks[i]}
		}
	}
	return find{}
}

// shapesOf are the shapes of the residuals of one network, where held-out rows show them.
func (r *run) shapesOf(folds []fold, x find) (shapes []ResidualMixture) {
	seen, at := sameStop(folds, x.candidate, x.result)
	if n := len(x.log.Held); r.apart && len(seen) == 0 && n > 0 { // a member, which the rows apart have scored
		seen = folds[:1]
		at = func(fold) heldOutPredictions { return x.log.Held[n-1] }
	}
	if len(seen) > 0 {
		return r.shapes(seen, func(f fold) []heldOutPredictions { return []heldOutPredictions{at(f)} })
	}
	for t := 0; r.classes == 0 && t < r.data.Outputs(); t++ {
		shapes = append(shapes, plainResiduals())
	}
	return shapes
}

// shapes fits the shape of each target that is a number.
func (r *run) shapes(folds []fold, by func(fold) []heldOutPredictions) (all []ResidualMixture) {
	for t := 0; r.classes == 0 && t < r.data.Outputs(); t++ {
		all = append(all, fitShape(folds, by, t, warpOf(r.warps, t)))
	}
	return all
}

// standing is the score of a network, by all folds that show it, less its standard error:
// among many networks that few rows have judged, the highest score is luck.
func standing(folds []fold, c int, x *result) float64 {
	seen, at := sameStop(folds, c, x)
	if len(seen) == 0 {
		return math.Inf(-1)
	}
	s := score(seen, at)
	return s.mean - s.se
}

// sameStop returns the folds whose rows a candidate predicted where a training of it ended,
// and what it predicted there: networks are compared with their residuals' shape, so a model
// needs it.
func sameStop(folds []fold, c int, ended *result) (seen []fold, at func(f fold) heldOutPredictions) {
	last := len(ended.log.Held) - 1
	for _, f := range folds {
		if last < 0 || c >= len(f.by) || len(f.by[c]) == 0 {
			continue
		}
		if x := f.by[c][0].log; len(x.Held) > last && x.Curve[last].Step == ended.log.Curve[last].Step {
			seen = append(seen, f)
		}
	}
	return seen, func(f fold) heldOutPredictions { return f.by[c][0].log.Held[last] }
}
