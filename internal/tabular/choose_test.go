package tabular

import (
	"errors"
	"math"
	"slices"
	"testing"

	"utvi/data"
	"utvi/gauss"
)

// fromSeed is a candidate's training that predicted class probabilities p at two
// stops, worse at the first.
func fromSeed(err error, p ...float32) *result {
	worse := slices.Clone(p)
	for i := range worse {
		worse[i] /= 2
	}
	return &result{err: err, log: record{Held: []heldOutPredictions{{Mean: worse}, {Mean: p}}}}
}

// rowsHeld are n held-out rows of a class.
func rowsHeld(n int) Data {
	return Data{Set: data.Set{X: gauss.Fixed(1, make([]float32, n)), Y: make([]float32, n)}, Classes: 2}
}

// A further seed whose training failed on one fold is left out of all, and the others
// are scored.
func TestFailedSeedsAreLeftOut(t *testing.T) {
	boom := errors.New("diverged")
	folds := []fold{
		{held: rowsHeld(2), by: [][]*result{{fromSeed(nil, 0.5, 0.5), fromSeed(nil, 0.9, 0.9), fromSeed(nil, 0.6, 0.7)}}},
		{held: rowsHeld(1), by: [][]*result{{fromSeed(nil, 0.5), fromSeed(boom, 0.9), fromSeed(nil, 0.8)}}},
	}
	trial := judgeTrial(folds, 0, Candidate{})
	if trial.Failed != "" || trial.Stop != 2 || math.Abs(trial.Score-math.Log(0.5)) > 1e-7 {
		t.Fatalf("the first seed: %+v", trial)
	}
	trial.again(folds, 0)
	if len(trial.seeds) != 2 {
		t.Fatalf("%d seeds were scored, want 2", len(trial.seeds))
	}
	for i, want := range []float64{0.6, 0.7, 0.8} {
		if got := trial.seeds[1].logp[i]; math.Abs(got-math.Log(want)) > 1e-7 {
			t.Errorf("row %d scores ln %v, want ln %v", i, math.Exp(got), want)
		}
	}
	for i, f := range folds {
		if len(f.by[0]) != 2 || f.by[0][1].err != nil {
			t.Errorf("fold %d keeps %d seeds", i, len(f.by[0]))
		}
	}
}

// A training that ended before the stop counts as failed.
func TestShortSeedsAreLeftOut(t *testing.T) {
	short := fromSeed(nil, 0.9)
	short.log.Held = short.log.Held[:1]
	folds := []fold{{held: rowsHeld(1), by: [][]*result{{fromSeed(nil, 0.5), short}}}}
	trial := judgeTrial(folds, 0, Candidate{})
	trial.again(folds, 0)
	if len(trial.seeds) != 1 || len(folds[0].by[0]) != 1 {
		t.Errorf("%d seeds were scored, %d kept; want 1", len(trial.seeds), len(folds[0].by[0]))
	}
}

// A candidate that failed on any fold is out of the question, and says why.
func TestFailedCandidates(t *testing.T) {
	boom := errors.New("diverged")
	folds := []fold{
		{held: rowsHeld(1), by: [][]*result{{fromSeed(nil, 0.5)}, {fromSeed(nil, 0.9)}}},
		{held: rowsHeld(1), by: [][]*result{{fromSeed(boom, 0.5)}, nil}},
	}
	for c, want := range []string{"diverged", "it was far behind on the first folds"} {
		if trial := judgeTrial(folds, c, Candidate{}); trial.Failed != want || trial.Stop != 0 {
			t.Errorf("candidate %d: %q, stop %d", c, trial.Failed, trial.Stop)
		}
	}
}

// The mean over rows is weighted, a row's targets add up, and the error shrinks with
// the rows.
func TestSummary(t *testing.T) {
	two := Data{Set: data.Set{X: gauss.Fixed(1, make([]float32, 2)), Y: make([]float32, 4), Targets: 2}}
	weighted := two
	weighted.Weights = []float32{3, 0}
	x := []float64{1, 2, 3, 4, 5, 6, 100, 100} // rows 3, 7, 11 and one that does not count
	mean, se := summary([]fold{{held: two}, {held: weighted}}, func(i int) float64 { return x[i] })
	want := (3 + 7 + 3*11) / 5.0
	square := (9 + 49 + 3*121) / 5.0
	if math.Abs(mean-want) > 1e-12 || math.Abs(se-math.Sqrt((square-want*want)/4)) > 1e-12 {
		t.Errorf("%v ± %v", mean, se)
	}
}

// The stop is the latest whose score is within slack of the best.
func TestStopIsLate(t *testing.T) {
	at := func(p ...float32) *result {
		r := &result{}
		for _, p := range p {
			r.log.Held = append(r.log.Held, heldOutPredictions{Mean: []float32{p}})
		}
		return r
	}
	for want, r := range map[int]*result{
		3: at(0.5, 0.6, 0.598, 0.5),
		2: at(0.5, 0.6, 0.59, 0.5),
		1: at(0.6, 0.5),
	} {
		trial := judgeTrial([]fold{{held: rowsHeld(1), by: [][]*result{{r}}}}, 0, Candidate{})
		if trial.Stop != want || math.Abs(trial.Score-math.Log(float64(r.log.Held[want-1].Mean[0]))) > 1e-7 {
			t.Errorf("stop %d with %v, want %d", trial.Stop, trial.Score, want)
		}
	}
}

// Members are the best candidate and those that raise the mixture's score, none that failed,
// with the model of the noise whose mixture is the best.
func TestCompose(t *testing.T) {
	logs := func(p ...float64) []scored {
		s := scored{}
		for _, p := range p {
			s.logp = append(s.logp, math.Log(p))
		}
		return []scored{s}
	}
	trials := []Trial{
		{Score: 5, Stop: 0, seeds: logs(1, 1)},                                                // never stopped
		{Score: -1, Stop: 1, seeds: logs(0.6, 0.3)},                                           // the best of its noise
		{Score: -1.1, Stop: 1, seeds: logs(0.55, 0.3)},                                        // like it
		{Score: -1.2, Stop: 1, seeds: logs(0.2, 0.8)},                                         // another
		{Score: 3, Stop: 1, Failed: "diverged", seeds: logs(1, 1)},                            // failed
		{Score: -0.9, Stop: 1, Candidate: Candidate{Noise: Learned}, seeds: logs(0.41, 0.41)}, // the best alone, with other noise
	}
	folds := []fold{{held: rowsHeld(2)}}
	if picks := compose(folds, trials, 2, 2); !slices.Equal(picks, []int{1, 3}) {
		t.Errorf("the members are %v, want 1 and 3", picks)
	}
	if picks := compose(folds, trials, 1, 1); !slices.Equal(picks, []int{5}) {
		t.Errorf("the member is %v, want 5", picks)
	}
	if picks := compose(folds, trials[:5], 1, 1); !slices.Equal(picks, []int{1}) {
		t.Errorf("the member is %v, want 1", picks)
	}
	// Members that stop early are more, as long as they take no longer than two that do not.
	for _, x := range []struct{ stop, most, want int }{{1, 9, 9}, {1, 99, 16}, {3, 99, 5}, {8, 99, 2}} {
		early := slices.Clone(trials)
		early[1].Stop = x.stop
		early[2].Stop = x.stop
		early[3].Stop = x.stop
		if picks := compose(folds, early, 2, x.most); len(picks) != x.want {
			t.Errorf("%d members stop at %d, want %d", len(picks), x.stop, x.want)
		}
	}
	short := slices.Clone(trials) // and those whose schedules are shorter count for less
	for i := range short[1:4] {
		short[1+i].Stop, short[1+i].shorter = 8, 4
	}
	if picks := compose(folds, short, 2, 99); len(picks) != 8 {
		t.Errorf("%d members take a quarter of the steps, want 8", len(picks))
	}
	if picks := compose(folds, trials[4:5], 2, 2); picks != nil {
		t.Errorf("of failed candidates %v were picked", picks)
	}
	if got := mixed(trials, []int{1, 3}, 1); math.Abs(got-math.Log(0.55)) > 1e-12 {
		t.Errorf("the mixture has ln p %v, want ln 0.55", got)
	}
	// A candidate picked again is a network from another seed, as far as there are.
	trials[1].seeds = append(trials[1].seeds, logs(0.1, 0.1)...)
	picks := []int{1, 3, 1, 1}
	for n, want := range []int{0, 0, 1, 0} {
		if got := seed(trials, picks, n); got != want {
			t.Errorf("pick %d is seed %d, want %d", n, got, want)
		}
	}
	if got := mixed(trials, []int{1, 1}, 0); math.Abs(got-math.Log(0.35)) > 1e-12 {
		t.Errorf("two seeds have ln p %v, want ln 0.35", got)
	}
}

// After two folds, candidates are trained no further than can matter, and not at all if they
// failed or are far behind.
func TestUntil(t *testing.T) {
	classes := rowsHeld(40)
	one := func(p ...float32) []*result { // a candidate that gives the right class of every row these probabilities
		r := &result{}
		for _, p := range p {
			r.log.Held = append(r.log.Held, heldOutPredictions{Mean: slices.Repeat([]float32{p}, 40)})
			r.log.Curve = append(r.log.Curve, Point{})
		}
		return []*result{r}
	}
	failed := one(0.9)
	failed[0].err = errors.New("diverged")
	f := fold{held: classes, by: [][]*result{
		one(0.5, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6), // the best, at stop 3
		one(0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.6, 0.6), // the last stop
		one(0.6, 0.5, 0.4, 0.3, 0.3, 0.3, 0.3, 0.3), // the first stop
		one(0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4), // ln 2 behind
		failed,
	}}
	r := &run{data: classes, plan: plan{candidate: make([]Candidate, len(f.by))}}
	for n, want := range [][]int{{8, 8, 8, 8, 8}, {8, 8, 8, 8, 8}, {5, 8, 3, 0, 0}, {5, 8, 3, 0, 0}} {
		if got := r.until(slices.Repeat([]fold{f}, n)); !slices.Equal(got, want) {
			t.Errorf("after %d folds the next one is trained up to %v, want %v", n, got, want)
		}
	}
	// A row or two prove nothing.
	few := one(0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4)
	for i := range few[0].log.Held {
		few[0].log.Held[i].Mean[0] = 1e-12
		for k := 1; k < 40; k++ {
			few[0].log.Held[i].Mean[k] = 0.8
		}
	}
	f.by = [][]*result{f.by[0], few}
	r.candidate = r.candidate[:2]
	if got := r.until([]fold{f, f}); got[1] != stops {
		t.Errorf("a candidate that is behind by one row of 40 is trained up to %v", got)
	}
}
