package calibrate

import (
	"errors"
	"fmt"
	"math"

	"utvi/dist"
)

// Sets gives sets of classes that contain the true one with a given probability (split
// conformal prediction; Sadinle et al. 2019). The score of a held-out row is 1 − the
// predicted probability of its class; the set of level p is every class whose score is
// at most the quantile of these at p, and the most probable class. It contains the class
// of a new row that is exchangeable with the held-out ones with probability p or more,
// however good the probabilities are. Temperature does not enter.
type Sets struct{ Ranked }

// FitSets ranks the scores of held-out rows.
func FitSets(rows ClassRows) (*Sets, error) {
	var t tally
	var all []scored
	for r := range rows {
		if !t.add(r.Weight) {
			continue
		}
		if r.Target < 0 || r.Target >= len(r.Prediction) {
			return nil, fmt.Errorf("calibration: held-out row %d has class %d; there are %d classes, counted from 0", t.seen, r.Target, len(r.Prediction))
		}
		p := r.Prediction[r.Target]
		if !(p >= 0 && p <= 1) {
			return nil, fmt.Errorf("calibration: held-out row %d has a probability of %g", t.seen, p)
		}
		all = append(all, scored{1 - p, r.Weight})
	}
	if len(all) == 0 {
		return nil, errors.New("calibration: conformal sets need at least one held-out row")
	}
	return &Sets{rank(all, &t)}, nil
}

// Bound returns the largest score of a class in the set of a level in (0, 1), +∞ if there
// are too few rows. The most probable class is in the set whatever its score.
func (s *Sets) Bound(level float64) float64 {
	if !(level > 0 && level < 1) {
		panic("calibrate: a level must lie between 0 and 1")
	}
	return s.at(level)
}

// Set appends the classes of the set of a level in (0, 1) to dst, in their order: all
// classes if there are too few rows.
func (s *Sets) Set(dst []int, p dist.Categorical, level float64) []int {
	most, top := s.Bound(level), p.Argmax()
	for k, v := range p {
		if k == top || 1-v <= most {
			dst = append(dst, k)
		}
	}
	return dst
}

// enough reports whether there are too few rows for a level in (0, 1), and how many
// would be enough.
func (s *Sets) enough(level float64) error {
	if !math.IsInf(s.at(level), 1) {
		return nil
	}
	need := math.Ceil(level / (1 - level) * (1 - 1e-12))
	return fmt.Errorf("conformal sets of %g %% need at least %.0f held-out rows; with %d they hold every class", 100*level, need, s.Rows)
}

// String names the correction and the rows it is from.
func (s *Sets) String() string { return fmt.Sprintf("conformal sets of classes from %d rows", s.Rows) }

func (s *Sets) check() error {
	if err := s.Ranked.check(0); err != nil {
		return err
	}
	if last := s.Scores[len(s.Scores)-1]; last > 1 {
		return fmt.Errorf("calibration: a score of a conformal set is %g; it must lie between 0 and 1", last)
	}
	return nil
}
