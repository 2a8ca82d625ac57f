package tabular

import (
	"math"

	"utvi/model"
)

// salvage makes a model of the best network that a broken-off fit has: one that was
// scored, else any that took a step; nil if no network did. Members, if some are
// trained already, come from the picked candidates.
func (r *run) salvage(folds []fold, rep Report, members []*result, picks []int) *Fitted {
	var best *result
	var c int
	var top float64
	for _, f := range folds {
		for i, all := range f.by {
			if len(all) == 0 || all[0].net == nil || all[0].step == 0 {
				continue
			}
			if s := standing(folds, i, all[0]); best == nil || s > top {
				best = all[0]
				c = i
				top = s
			}
		}
	}
	for i, x := range members {
		if x.net != nil && x.step > 0 && best == nil {
			best, c = x, picks[i]
		}
	}
	if best == nil {
		return nil
	}
	rep.Partial = true
	rep.Score = 0
	rep.SE = 0
	rep.Members = []Member{{r.candidate[c], best.log.Curve, best.step}}
	var shapes []ResidualMixture
	seen, at := sameStop(folds, c, best)
	if n := len(best.log.Held); r.apart && len(seen) == 0 && n > 0 { // a member, which the rows apart have scored
		seen, at = folds[:1], func(fold) heldOutPredictions { return best.log.Held[n-1] }
	}
	by := func(f fold) []heldOutPredictions { return []heldOutPredictions{at(f)} }
	for t := 0; r.classes == 0 && t < r.data.Outputs(); t++ {
		if len(seen) == 0 {
			shapes = append(shapes, plainResiduals())
			continue
		}
		shapes = append(shapes, fitShape(seen, by, t, warpOf(r.warps, t)))
	}
	f, err := r.finish([]*model.Model{best.net}, rep, shapes)
	if err != nil {
		return nil
	}
	return f
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
