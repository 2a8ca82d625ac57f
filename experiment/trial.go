package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"utvi/compute"
	"utvi/internal/atomicfile"
	"utvi/likelihood"
	"utvi/model"
	"utvi/train"
)

// A trial is one training whose network is scored every so many steps, and at
// the last. With a file name it continues what an earlier run left.
type trial struct {
	name  string
	file  string // without extension; "" keeps nothing
	net   model.Config
	train train.Config
	every int                                 // steps between scores
	score func(m *model.Model) func() float64 // makes room once, then scores
}

// run trains to the end and returns the network and its scores.
func (t trial) run(ctx context.Context, tell func(step int, score float64)) (*model.Model, []float64, error) {
	m, err := model.New(t.net)
	if err != nil {
		return nil, nil, err
	}
	if t.file != "" {
		if err := os.MkdirAll(filepath.Dir(t.file), 0o777); err != nil {
			return nil, nil, err
		}
		t.train.Checkpoint = t.file + ".safetensors"
	}
	trainer, err := train.New(m, t.train)
	if err != nil {
		return nil, nil, err
	}
	defer trainer.Close()
	score := t.score(m)
	scores, err := t.earlier(trainer.Step(), score)
	if err != nil {
		return nil, nil, err
	}
	last := func() float64 {
		if len(scores) == 0 {
			return math.NaN()
		}
		return scores[len(scores)-1]
	}
	tell(trainer.Step(), last())
	const often = 8 // steps between events
	for s, err := range trainer.Steps(context.WithoutCancel(ctx)) {
		if err != nil {
			return nil, nil, err
		}
		if t.due(s.Step) {
			x := score()
			if !compute.Finite(x) {
				return nil, nil, fmt.Errorf("the validation score after %d steps is %v", s.Step, x)
			}
			scores = append(scores, x)
			if err := t.keep(scores); err != nil {
				return nil, nil, err
			}
		}
		if s.Step%often == 0 || s.Step == t.train.Steps {
			tell(s.Step, last())
		}
		// Stopping here, scores are kept before the checkpoint that needs them.
		if ctx.Err() != nil && s.Step < t.train.Steps {
			if err := trainer.Save(); err != nil {
				return nil, nil, err
			}
			return nil, nil, ctx.Err()
		}
	}
	return m, scores, t.save(m, last())
}

// save writes the trained network beside its checkpoint.
func (t trial) save(m *model.Model, score float64) error {
	if t.file == "" {
		return nil
	}
	c := t.train
	if c.Likelihood == nil {
		c.Likelihood = likelihood.Normal{} // as the trainer takes it
	}
	m.Facts = model.Facts{Rows: c.Data.Rows(), Steps: c.Steps, Likelihood: c.Likelihood.String(), NLL: score, Data: t.name}
	return m.Save(t.file + ".utvi")
}

func (t trial) due(step int) bool { return step%t.every == 0 || step == t.train.Steps }

// scoreSteps are the steps after which the network is scored.
func (t trial) scoreSteps() (steps []int) {
	for s := 1; s <= t.train.Steps; s++ {
		if t.due(s) {
			steps = append(steps, s)
		}
	}
	return steps
}

// scored is the number of scores that a training has after step steps.
func (t trial) scored(step int) int {
	n := step / t.every
	if step == t.train.Steps && step%t.every != 0 {
		n++
	}
	return n
}

// scoreFile is what stands beside a checkpoint.
type scoreFile struct {
	Every  int       `json:"steps_between_scores"`
	Scores []float64 `json:"scores"`
}

// earlier returns the scores up to the step a checkpoint was taken at. They are
// written after every score, and the checkpoint seldom, so the file may be
// ahead; it is one behind if the program died between the two.
func (t trial) earlier(step int, score func() float64) ([]float64, error) {
	want := t.scored(step)
	if want == 0 {
		return nil, nil
	}
	path := t.file + ".json"
	var f scoreFile
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err == nil {
		if err := json.Unmarshal(b, &f); err != nil || f.Every != t.every {
			return nil, fmt.Errorf("%s does not hold this training's scores; remove it and %s.safetensors to train anew", path, t.file)
		}
	}
	scores := f.Scores[:min(want, len(f.Scores))]
	if len(scores) == want-1 && t.due(step) {
		scores = append(scores, score())
	}
	if len(scores) < want {
		return nil, fmt.Errorf("%s holds %d scores where the checkpoint beside it needs %d; remove both to train anew", path, len(scores), want)
	}
	return scores, t.keep(scores)
}

func (t trial) keep(scores []float64) error {
	if t.file == "" {
		return nil
	}
	return atomicfile.Write(t.file+".json", func(w io.Writer) error {
		return json.NewEncoder(w).Encode(scoreFile{t.every, scores})
	})
}
