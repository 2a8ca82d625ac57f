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

	scored
}

// slack is how much of a score, in nats, a later stop may lose: it is worth more to
// a mixture than it seems.
const slack = 0.01

// judgeTrial finds where a candidate's training should stop, and its score there.
// Scores are of predictions widened to the shape of their own residuals, as the
// model's will be: a few surprises must not speak against a network.
func judgeTrial(folds []fold, c int, of Candidate) Trial {
	t := Trial{Candidate: of}
	common := stops
	for _, f := range folds {
		r := f.by[c]
		if r == nil {
			t.Failed = "it was far behind on the rows first held out"
			common = 0
			continue
		}
		if r.err != nil {
			t.Failed = r.err.Error()
		}
		common = min(common, len(r.log.Held))
	}
	t.Curve = folds[0].by[c].log.Curve
	if t.Failed != "" || common == 0 {
		return t
	}
	best := math.Inf(-1)
	tried := make([]scored, common)
	for i := range tried {
		tried[i] = score(folds, func(f fold) held { return f.by[c].log.Held[i] })
		best = max(best, tried[i].mean)
	}
	for i, s := range tried {
		if s.mean >= best-slack {
			t.Stop, t.scored = i+1, s
		}
	}
	t.Score, t.SE = t.mean, t.se
	return t
}

// scored are ln p of every target of the rows of all folds, one after another, and
// the mean of the rows.
type scored struct {
	logp     []float64
	mean, se float64
}

func score(folds []fold, of func(f fold) held) scored {
	var s scored
	var shapes []Shape
	for _, f := range folds {
		h := of(f)
		for t := 0; h.Var != nil && len(shapes) < f.held.targets(); t++ {
			shapes = append(shapes, fitShape(folds, func(f fold) []held { return []held{of(f)} }, t))
		}
		for i := range h.Mean {
			s.logp = append(s.logp, h.logp(i, f.held, shapes))
		}
	}
	s.mean, s.se = summary(folds, func(i int) float64 { return s.logp[i] })
	return s
}

// summary is the weighted mean over rows of what f gives for each of their targets,
// counted through all folds, and its standard error.
func summary(folds []fold, f func(i int) float64) (mean, se float64) {
	var sum, square, total float64
	at, rows := 0, 0
	for _, x := range folds {
		k := x.held.targets()
		for i := range x.held.X.Rows {
			var s float64
			for range k {
				s += f(at)
				at++
			}
			if w := x.held.weight(i); w > 0 {
				sum += w * s
				square += w * s * s
				total += w
			}
		}
		rows += x.held.X.Rows
	}
	mean = sum / total
	return mean, math.Sqrt(max(0, square/total-mean*mean) / float64(max(1, rows)))
}

// mixed is ln of the picked candidates' mean density at target i.
func mixed(trials []Trial, picks []int, i int) float64 {
	top := math.Inf(-1)
	for _, p := range picks {
		top = max(top, trials[p].logp[i])
	}
	var sum float64
	for _, p := range picks {
		sum += math.Exp(trials[p].logp[i] - top)
	}
	return top + math.Log(sum/float64(len(picks)))
}

// compose picks n members: the best candidate, then whichever raises the mixture's
// score most, of those with the same model of the noise. It returns their places in
// trials; nil if every candidate failed.
func compose(folds []fold, trials []Trial, n int) (picks []int) {
	best := -1
	for i, t := range trials {
		if t.Failed == "" && t.Stop > 0 && (best < 0 || t.Score > trials[best].Score) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	picks = []int{best}
	for len(picks) < n {
		next, top := best, math.Inf(-1)
		for i, t := range trials {
			if t.Failed != "" || t.Stop == 0 || t.Noise != trials[best].Noise {
				continue
			}
			more := append(slices.Clone(picks), i)
			if s, _ := summary(folds, func(i int) float64 { return mixed(trials, more, i) }); s > top {
				next, top = i, s
			}
		}
		picks = append(picks, next)
	}
	return picks
}

// mixtureScore is the held-out score of members with the shapes of their mixture.
func mixtureScore(folds []fold, members func(f fold) []held, shapes []Shape) (mean, se float64) {
	var logp []float64
	for _, f := range folds {
		m := members(f)
		for i := range m[0].Mean {
			top, sum := math.Inf(-1), 0.0
			for _, h := range m { // a running sum, relative to its largest term
				l := h.logp(i, f.held, shapes)
				if l > top {
					sum, top = sum*math.Exp(top-l)+1, l
				} else {
					sum += math.Exp(l - top)
				}
			}
			logp = append(logp, top+math.Log(sum/float64(len(m))))
		}
	}
	return summary(folds, func(i int) float64 { return logp[i] })
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
