package tabular

import (
	"cmp"
	"math"
	"slices"
)

// A fold is rows held out together, with what every candidate predicted of them.
type fold struct {
	train Data
	held  Data
	by    [][]*result // per candidate, from one seed or several
}

// rows is how many rows the table has.
func (f fold) rows() int { return f.train.X.Rows + f.held.X.Rows }

// A Trial is the result of a candidate.
type Trial struct {
	Candidate
	Score  float64 `json:"score"`            // mean ln p of held-out rows, nats
	SE     float64 `json:"se"`               // its standard error
	Stop   int     `json:"stop"`             // of 8 parts of the schedule: where the score stopped rising
	Curve  []Point `json:"curve"`            // of the first fold
	Failed string  `json:"failed,omitempty"` // why it was rejected

	seeds []scored
}

// slack is how much of a score, in nats, a later stop may lose: it is worth more to
// a mixture than it seems.
const slack = 0.01

// length is how long a member's training is, relative to one that goes through a schedule that
// is not shorter.
func (t Trial) length() float64 {
	if t.Kernel != "" {
		return 1.0 / stops
	}
	return float64(t.Stop) / float64(stops*max(1, t.shorter))
}

// judgeTrial finds where a candidate's training should stop, and its score there.
// The predictions are first widened to the shape of their residuals, as the model's
// will be: a few surprises must not count against a network.
func judgeTrial(folds []fold, c int, of Candidate) Trial {
	t := Trial{Candidate: of}
	common := stops
	for _, f := range folds {
		if f.by[c] == nil {
			t.Failed = cmp.Or(t.Failed, "it was far behind on the first folds")
			common = 0
			continue
		}
		r := f.by[c][0]
		if r.err != nil {
			t.Failed = r.err.Error()
		}
		common = min(common, len(r.log.Held))
	}
	t.Curve = folds[0].by[c][0].log.Curve
	if t.Failed != "" || common == 0 {
		return t
	}
	best := math.Inf(-1)
	tried := make([]scored, common)
	for i := range tried {
		tried[i] = score(folds, func(f fold) heldOutPredictions { return f.by[c][0].log.Held[i] })
		best = max(best, tried[i].mean)
	}
	for i, s := range tried {
		if s.mean >= best-slack {
			t.Stop, t.seeds = i+1, []scored{s}
		}
	}
	t.Score, t.SE = t.seeds[0].mean, t.seeds[0].se
	return t
}

// again scores what a candidate predicted when trained from further seeds. One that
// failed on some fold is left out of all.
func (t *Trial) again(folds []fold, c int) {
	for s := 1; s < len(folds[0].by[c]); {
		failed := false
		for _, f := range folds {
			failed = failed || f.by[c][s].err != nil || len(f.by[c][s].log.Held) < t.Stop
		}
		if failed {
			for i := range folds {
				folds[i].by[c] = slices.Delete(folds[i].by[c], s, s+1)
			}
			continue
		}
		t.seeds = append(t.seeds, score(folds, func(f fold) heldOutPredictions { return f.by[c][s].log.Held[t.Stop-1] }))
		s++
	}
}

// scored are ln p of every target of the rows of all folds, one after another, and
// the mean of the rows.
type scored struct {
	logp     []float64
	mean, se float64
}

func score(folds []fold, of func(f fold) heldOutPredictions) scored {
	var s scored
	var shapes []ResidualMixture
	for _, f := range folds {
		h := of(f)
		for t := 0; h.Var != nil && len(shapes) < f.held.Outputs(); t++ {
			shapes = append(shapes, fitResiduals(folds, func(f fold) []heldOutPredictions { return []heldOutPredictions{of(f)} }, t))
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
		k := x.held.Outputs()
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

// seed is the seed that stands for picks[n]: a candidate that is picked repeatedly
// is a network from another seed each time, as far as there are.
func seed(trials []Trial, picks []int, n int) (s int) {
	for _, p := range picks[:n] {
		if p == picks[n] {
			s++
		}
	}
	return s % len(trials[picks[n]].seeds)
}

// mixed is ln of the picked candidates' mean density at target i.
func mixed(trials []Trial, picks []int, i int) float64 {
	top, sum := math.Inf(-1), 0.0
	for n, p := range picks { // a running sum, relative to its largest term
		top, sum = addLog(top, sum, trials[p].seeds[seed(trials, picks, n)].logp[i])
	}
	return top + math.Log(sum/float64(len(picks)))
}

// addLog adds e^l to sum·e^top, top being the largest exponent so far.
func addLog(top, sum, l float64) (float64, float64) {
	if l > top {
		return l, sum*math.Exp(top-l) + 1
	}
	return top, sum + math.Exp(l-top)
}

// best is the place of the highest score, −1 if every candidate failed.
func best(trials []Trial) int {
	return bestOf(trials, func(Trial) bool { return true })
}

func bestOf(trials []Trial, some func(t Trial) bool) int {
	at := -1
	for i, t := range trials {
		if t.Failed == "" && t.Stop > 0 && some(t) && (at < 0 || t.Score > trials[at].Score) {
			at = i
		}
	}
	return at
}

// compose picks members that share their model of the noise: of the mixtures with each
// model the best. It returns their places in trials; nil if every candidate failed.
func compose(folds []fold, trials []Trial, n, most int) (picks []int) {
	top := math.Inf(-1)
	for i, t := range trials {
		if slices.ContainsFunc(trials[:i], func(x Trial) bool { return x.Noise == t.Noise }) {
			continue
		}
		p, s := composeOf(folds, trials, t.Noise, n, most)
		if folds[0].rows() < tinyRows {
			p, s = surely(folds, trials, p, s, t.Noise, n, most)
		}
		if p != nil && (picks == nil || s > top) {
			picks, top = p, s
		}
	}
	return picks
}

// sure is by how many standard errors a mixture with trained networks must be better than one of linear
// regressions and Gaussian processes alone, on held-out rows of a tiny table. They picked the networks, of
// many, and their stops: the best few of these are best by luck.
const sure = 3

// surely returns picks, with their score, or if they are not surely better, those without trained networks.
func surely(folds []fold, trials []Trial, picks []int, score float64, noise string, n, most int) ([]int, float64) {
	solved := slices.Clone(trials)
	for i := range solved {
		if solved[i].Kernel == "" {
			solved[i].Failed = "it is trained"
		}
	}
	others, s := composeOf(folds, solved, noise, n, most)
	if others == nil || picks == nil {
		return picks, score
	}
	by, se := summary(folds, func(i int) float64 { return mixed(trials, picks, i) - mixed(trials, others, i) })
	if by > sure*se {
		return picks, score
	}
	return others, s
}

// composeOf picks members with a model of the noise: the best candidate, then whichever
// raises the mixture's score most. There are n of them, and up to most while all together
// are trained no longer than n that never stop early. It also returns the mixture's score.
func composeOf(folds []fold, trials []Trial, noise string, n, most int) (picks []int, score float64) {
	best := bestOf(trials, func(t Trial) bool { return t.Noise == noise })
	if best < 0 {
		return nil, 0
	}
	picks, score = []int{best}, trials[best].Score
	for length := trials[best].length(); len(picks) < most; {
		next, top := best, math.Inf(-1)
		for i, t := range trials {
			if t.Failed != "" || t.Stop == 0 || t.Noise != noise {
				continue
			}
			more := append(slices.Clone(picks), i)
			if s, _ := summary(folds, func(i int) float64 { return mixed(trials, more, i) }); s > top {
				next, top = i, s
			}
		}
		length += trials[next].length()
		if len(picks) >= n && length > float64(n) {
			break
		}
		picks, score = append(picks, next), top
	}
	return picks, score
}

// mixtureScore is the held-out score of members with the shapes of their mixture.
func mixtureScore(folds []fold, members func(f fold) []heldOutPredictions, shapes []ResidualMixture) (mean, se float64) {
	var logp []float64
	for _, f := range folds {
		m := members(f)
		for i := range m[0].Mean {
			top, sum := math.Inf(-1), 0.0
			for _, h := range m {
				top, sum = addLog(top, sum, h.logp(i, f.held, shapes))
			}
			logp = append(logp, top+math.Log(sum/float64(len(m))))
		}
	}
	return summary(folds, func(i int) float64 { return logp[i] })
}

// predictions gives what picked candidates predicted of a fold, each at its stop.
func predictions(trials []Trial, picks []int) func(f fold) []heldOutPredictions {
	return func(f fold) (m []heldOutPredictions) {
		for n, p := range picks {
			m = append(m, f.by[p][seed(trials, picks, n)].log.Held[trials[p].Stop-1])
		}
		return m
	}
}
