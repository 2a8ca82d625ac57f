package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"

	"utvi/internal/atomicfile"
	"utvi/internal/compute"
	"utvi/train"
)

// marks are made while a network trains. Their file is written before the
// checkpoint beside it, and so is never older.
type marks struct {
	path        string
	every, last int
	score       func() []float64

	done  []Mark
	open  Mark   // since the last of done
	saved []Mark // what was open at the last two checkpoints
}

// marksFile is the file beside a checkpoint.
type marksFile struct {
	Every int    `json:"steps_between_scores"`
	Marks []Mark `json:"marks"`
	Saved []Mark `json:"saved"`
}

func (l *marks) due(step int) bool { return step%l.every == 0 || step == l.last }

func (l *marks) headline() float64 {
	if len(l.done) == 0 {
		return math.NaN()
	}
	return l.done[len(l.done)-1].Scores[0]
}

// add takes in a step.
func (l *marks) add(s train.Step, clip float64) {
	l.open.Step = s.Step
	l.open.MaxGrad = max(l.open.MaxGrad, s.GradNorm)
	if clip > 0 && s.GradNorm > clip {
		l.open.Clipped++
	}
}

// close scores the network and begins the next mark. Scores that are not finite
// make no mark.
func (l *marks) close() []float64 {
	scores := slices.Clone(l.score())
	if compute.Finite(scores...) {
		l.open.Scores = scores
		l.done = append(l.done, l.open)
		l.open = Mark{Step: l.open.Step}
	}
	return scores
}

// resume reads the marks up to the step a checkpoint was taken at.
func (l *marks) resume(step int) error {
	if step == 0 {
		return nil
	}
	var f marksFile
	b, err := os.ReadFile(l.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil {
		if err := json.Unmarshal(b, &f); err != nil || f.Every != l.every {
			return fmt.Errorf("%s has no scores of this training; remove it and the checkpoint beside it to start again", l.path)
		}
	}
	want := step / l.every
	if step == l.last && step%l.every != 0 {
		want++
	}
	i := slices.IndexFunc(f.Saved, func(m Mark) bool { return m.Step == step })
	if i < 0 || len(f.Marks) < want {
		return fmt.Errorf("%s lacks the scores of the checkpoint beside it, at step %d; remove both to start again", l.path, step)
	}
	l.done = f.Marks[:want]
	l.open = f.Saved[i]
	l.saved = f.Saved[i : i+1]
	return nil
}

// checkpoint writes the marks, then the trainer's state.
func (l *marks) checkpoint(t *train.Trainer) error {
	l.open.Step = t.Step()
	l.saved = append(l.saved, l.open)
	l.saved = l.saved[max(0, len(l.saved)-2):]
	if err := l.keep(); err != nil {
		return err
	}
	return t.Save()
}

func (l *marks) keep() error {
	return atomicfile.Write(l.path, func(w io.Writer) error {
		return json.NewEncoder(w).Encode(marksFile{l.every, l.done, l.saved})
	})
}
