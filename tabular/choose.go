package tabular

import (
	"math"
	"slices"
)

// A fold is rows held out together, with what every candidate predicted of them.
type fold struct {
	train Data
	held  Data
	by    []*result // per candidate
}

// A Trial is what was found of a candidate.
type Trial struct {
	Candidate
	Score  float64 `json:"score"`            // mean ln p of held-out rows, nats
	SE     float64 `json:"se"`               // its standard error
	Stop   int     `json:"stop"`             // of 8 parts of the schedule: where the score stopped rising
	Curve  []Point `json:"curve"`            // of the first fold
	Failed string  `json:"failed,omitempty"` // why it is out of the question
}

// slack is how much of a score, in nats, a later stop may lose: it is worth more to
// a mixture than it seems.
const slack = 0.01

// judgeTrial finds where a candidate's training should stop, and its score there.
func judgeTrial(folds []fold, c int, of Candidate) Trial {
	t := Trial{Candidate: of}
	common := stops
	for _, f := range folds {
		r := f.by[c]
		if r.err != nil {
			t.Failed = r.err.Error()
		}
		common = min(common, len(r.log.Held))
	}
	t.Curve = folds[0].by[c].log.Curve
	if t.Failed != "" || common == 0 {
		return t
	}
	scores := make([]float64, common)
	for i := range scores {
		scores[i], _ = pooled(folds, func(f fold) []held { return []held{f.by[c].log.Held[i]} })
	}
	best := slices.Max(scores)
	for i, s := range scores {
		if s >= best-slack {
			t.Stop = i + 1
		}
	}
	t.Score, t.SE = pooled(folds, func(f fold) []held { return []held{f.by[c].log.Held[t.Stop-1]} })
	return t
}

// pooled is the mean score of a mixture over the rows of all folds, and its standard
// error.
func pooled(folds []fold, members func(f fold) []held) (mean, se float64) {
	var sum, square, total float64
	for _, f := range folds {
		m := members(f)
		k := f.held.targets()
		for i := range f.held.X.Rows {
			w := f.held.weight(i)
			if w == 0 {
				continue
			}
			var s float64
			for t := range k {
				s += mixed(m, i*k+t, f.held)
			}
			sum += w * s
			square += w * s * s
			total += w
		}
	}
	mean = sum / total
	rows := 0
	for _, f := range folds {
		rows += f.held.X.Rows
	}
	return mean, math.Sqrt(max(0, square/total-mean*mean) / float64(max(1, rows)))
}

// mixed is ln of the members' mean density.
func mixed(members []held, i int, d Data) float64 {
	top := math.Inf(-1)
	var sum float64
	for _, h := range members { // a running sum relative to its largest term
		l := h.logp(i, d)
		if l > top {
			sum = sum*math.Exp(top-l) + 1
			top = l
			continue
		}
		sum += math.Exp(l - top)
	}
	return top + math.Log(sum/float64(len(members)))
}

// compose picks n members: the best candidate, then whichever raises the mixture's
// score most, of those with the same model of the noise. It returns their places in
// trials and the mixture's score; nil if every candidate failed.
func compose(folds []fold, trials []Trial, n int) (picks []int, score, se float64) {
	best := -1
	for i, t := range trials {
		if t.Failed == "" && t.Stop > 0 && (best < 0 || t.Score > trials[best].Score) {
			best = i
		}
	}
	if best < 0 {
		return nil, 0, 0
	}
	picks = []int{best}
	for len(picks) < n {
		next, top := best, math.Inf(-1)
		for i, t := range trials {
			if t.Failed != "" || t.Stop == 0 || t.Noise != trials[best].Noise {
				continue
			}
			if s, _ := pooled(folds, predictions(trials, append(slices.Clone(picks), i))); s > top {
				next, top = i, s
			}
		}
		picks = append(picks, next)
	}
	score, se = pooled(folds, predictions(trials, picks))
	return picks, score, se
}

// predictions gives what picked candidates predicted of a fold, each at its stop.
func predictions(trials []Trial, picks []int) func(f fold) []held {
	return func(f fold) (m []held) {
		for _, p := range picks {
			m = append(m, f.by[p].log.Held[trials[p].Stop-1])
		}
		return m
	}
}
