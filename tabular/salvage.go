package tabular

import "utvi/model"

// salvage makes a model of the best network that a broken-off fit has: one that was
// scored, else any that took a step; nil if no network did. Members, if some are
// trained already, come from the picked candidates.
func (r *run) salvage(folds []fold, rep Report, members []*result, picks []int) *Fitted {
	var best *result
	var c int
	better := func(x, y *result) bool { // x than y
		if y == nil || len(x.log.Curve) == 0 || len(y.log.Curve) == 0 {
			return y == nil || len(x.log.Curve) > len(y.log.Curve)
		}
		return x.log.Curve[len(x.log.Curve)-1].Held < y.log.Curve[len(y.log.Curve)-1].Held
	}
	for _, f := range folds {
		for i, all := range f.by {
			if len(all) == 0 {
				continue
			}
			if x := all[0]; x.net != nil && x.step > 0 && better(x, best) {
				best, c = x, i
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
	rep.Partial, rep.Score, rep.SE = true, 0, 0
	rep.Members = []Member{{r.candidate[c], best.log.Curve, best.step}}
	var shapes []ResidualMixture
	seen, by := sameStop(folds, c, best)
	if n := len(best.log.Held); r.apart && len(seen) == 0 && n > 0 { // a member, which the rows apart have scored
		seen, by = folds[:1], func(fold) []heldOutPredictions { return best.log.Held[n-1:] }
	}
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

// sameStop returns the folds whose rows a candidate predicted where a training of it ended,
// and what it predicted there: networks are compared with their residuals' shape, so a model
// needs it.
func sameStop(folds []fold, c int, ended *result) (seen []fold, by func(f fold) []heldOutPredictions) {
	last := len(ended.log.Held) - 1
	for _, f := range folds {
		if last < 0 || c >= len(f.by) || len(f.by[c]) == 0 {
			continue
		}
		if x := f.by[c][0].log; len(x.Held) > last && x.Curve[last].Step == ended.log.Curve[last].Step {
			seen = append(seen, f)
		}
	}
	return seen, func(f fold) []heldOutPredictions { return f.by[c][0].log.Held[last : last+1] }
}
