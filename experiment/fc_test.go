package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"utvi/rng"
)

// The smallest run with more than one score, the last of them off the epoch.
func tinyFC(dir string) FCSpec {
	return FCSpec{Seed: 5, Replicates: 1, Steps: fcEpochSteps + 20, Dir: dir}
}

func bytesOf(t *testing.T, r *FCResult) string {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestFCContinuesBitForBit(t *testing.T) {
	whole, err := FC(t.Context(), tinyFC(""), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(whole.Methods[0].Trials[0].NLL); n != 2 || len(whole.ScoreSteps) != 2 || whole.ScoreSteps[1] != fcEpochSteps+20 {
		t.Fatalf("%d scores at steps %v, want 2, at %d and %d", n, whole.ScoreSteps, fcEpochSteps, fcEpochSteps+20)
	}
	// At the very start, before the first score, at an epoch's end, and between the scores.
	for _, stop := range []int{0, 40, fcEpochSteps, fcEpochSteps + 8} {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		spec := tinyFC(dir)
		spec.Parallel = 1
		_, err := FC(ctx, spec, func(e Event) {
			if e.Step >= stop {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped at %d: %v, want the context's error", stop, err)
		}
		first := map[int]int{}
		again, err := FC(t.Context(), tinyFC(dir), func(e Event) {
			if _, ok := first[e.Index]; !ok {
				first[e.Index] = e.Step
			}
		})
		if err != nil {
			t.Fatalf("continued after %d: %v", stop, err)
		}
		if first[0] < stop || first[0] > stop+8 {
			t.Errorf("continued at step %d, was stopped at %d", first[0], stop)
		}
		again.Spec.Dir = ""
		if bytesOf(t, again) != bytesOf(t, whole) {
			t.Errorf("stopped at %d and continued, the results differ from an unbroken run's", stop)
		}
	}
}

// A killed program leaves scores that are one behind the checkpoint, or ahead.
func TestFCLostScores(t *testing.T) {
	dir := t.TempDir()
	whole, err := FC(t.Context(), tinyFC(dir), nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "seed5-steps100", "UT-1.json")
	first, second := jsonNumber(whole.Methods[2].Trials[0].NLL[0]), jsonNumber(whole.Methods[2].Trials[0].NLL[1])
	for scores, fails := range map[string]bool{
		// The checkpoint is the older where it was not its turn.
		`{"steps_between_scores":80,"scores":[` + first + `,` + second + `,9]}`: false,
		`{"steps_between_scores":80,"scores":[]}`:                               true,
		`{"steps_between_scores":80,"scores":[` + first + `]}`:                  false,
		`{"steps_between_scores":7,"scores":[1,2]}`:                             true,
		`{"steps`: true,
	} {
		if err := os.WriteFile(path, []byte(scores), 0o666); err != nil {
			t.Fatal(err)
		}
		again, err := FC(t.Context(), tinyFC(dir), nil)
		switch {
		case fails && (err == nil || !strings.Contains(err.Error(), "remove")):
			t.Errorf("with %s: %v, want an error that tells what to remove", scores, err)
		case !fails && err != nil:
			t.Errorf("with %s: %v", scores, err)
		case !fails && bytesOf(t, again) != bytesOf(t, whole):
			t.Errorf("with %s: another result", scores)
		}
	}
}

func jsonNumber(x float64) string {
	b, _ := json.Marshal(x)
	return string(b)
}

func TestFCSettings(t *testing.T) {
	for _, c := range []struct{ x, sd float64 }{{0, 0.3}, {0.25, 0.1}, {0.5, 0.3}, {-0.125, 0.2}} {
		if got := fcNoise(c.x); math.Abs(got-c.sd) > 1e-15 {
			t.Errorf("the noise at %g is %g, want %g", c.x, got, c.sd)
		}
	}
	// The best possible score is −0.25984 nats; 65,536 rows carry ±0.003.
	s := newFCSample(rng.New(9), 1<<16)
	if got := s.truth(); math.Abs(got+0.25984) > 0.01 {
		t.Errorf("the true model scores %g, want −0.2598 ± 0.01", got)
	}
	// The noise knows its place, and no more of x.
	var square [2]float64
	for i, x := range s.x.Mean {
		z := float64(s.y[i]-x) / fcNoise(float64(x))
		if x > 0 {
			square[0] += z * z / (1 << 15)
		} else {
			square[1] += z * z / (1 << 15)
		}
	}
	if math.Abs(square[0]-1) > 0.04 || math.Abs(square[1]-1) > 0.04 {
		t.Errorf("the standardised noise has variances %g and %g right and left of 0, want 1", square[0], square[1])
	}
	lo, hi := s.x.Mean[0], s.x.Mean[0]
	for _, x := range s.x.Mean {
		lo, hi = min(lo, x), max(hi, x)
	}
	if lo < -0.5 || lo > -0.499 || hi > 0.5 || hi < 0.499 {
		t.Errorf("the inputs span [%g, %g], want [−0.5, 0.5]", lo, hi)
	}
}

func TestFCCheck(t *testing.T) {
	for _, s := range []FCSpec{{Replicates: 0, Steps: 1}, {Replicates: 1, Steps: 0}, {Replicates: -1, Steps: 5}} {
		if _, err := FC(t.Context(), s, nil); err == nil {
			t.Errorf("%+v was run", s)
		}
	}
}
