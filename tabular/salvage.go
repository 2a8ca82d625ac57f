package tabular

import "utvi/model"

// salvage makes a model of the best network that a broken-off fit has: one that was
// scored, else any that took a step; nil if no network did. Members, if some are
// trained already, come from the picked candidates.
func (r *run) salvage(folds []fold, rep Report, members []*result, picks []int) *Fitted {
	var best *result
	var c Candidate
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
				best, c = x, r.candidate[i]
			}
		}
	}
	for i, x := range members {
		if x.net != nil && x.step > 0 && best == nil {
			best, c = x, r.candidate[picks[i]]
		}
	}
	if best == nil {
		return nil
	}
	rep.Partial, rep.Score, rep.SE = true, 0, 0
	rep.Members = []Member{{c, best.log.Curve, best.step}}
	var shapes []ResidualMixture
	for t := 0; r.classes == 0 && t < r.data.Outputs(); t++ {
		shapes = append(shapes, plainResiduals())
	}
	f, err := r.finish([]*model.Model{best.net}, rep, shapes)
	if err != nil {
		return nil
	}
	return f
}
