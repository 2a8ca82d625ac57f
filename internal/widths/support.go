package widths

import "errors"

// A Support is what training rows say about a target wherever a row lies: targets are 0 on average and
// vary with Var. A prediction whose variance due to the weights is above Usual knows less than that, and
// is put together with it, as two Normals are:
//
//	share = 1/(1 + (weights − Usual)/Var)     mean → share·mean     variance → share·variance
//
// So a row far from the training rows gets neither a mean nor an interval that no row supports.
type Support struct {
	Usual float64 `json:"usual"`
	Var   float64 `json:"var"`
}

// Share is 1 for a nil Support.
func (s *Support) Share(weights float64) float64 {
	if s == nil || !(weights > s.Usual) {
		return 1
	}
	return 1 / (1 + (weights-s.Usual)/s.Var)
}

// Check reports a Support that is not one.
func (s *Support) Check() error {
	if s != nil && !(s.Usual > 0 && s.Var > 0 && s.Usual-s.Usual == 0 && s.Var-s.Var == 0) {
		return errors.New("the support of the predictions needs two variances above 0")
	}
	return nil
}
