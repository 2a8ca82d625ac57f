package vision

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"utvi/internal/atomicfile"
)

// An allotment is what the members take of the time that there is.
type allotment struct {
	Members int `json:"members"`
	Steps   int `json:"steps"` // of each
}

// fewestSteps is the shortest training that is worth its time.
const fewestSteps = 200

// allot makes members fewer, and then their trainings shorter, if ctx ends before all could be
// trained at the pace so far: a schedule that comes to its end gives a better network than one that
// is broken off. A fit that is continued keeps what was allotted.
func (r *run) allot(ctx context.Context) error {
	end, limited := ctx.Deadline()
	if !limited || r.pace == 0 {
		return nil
	}
	all := allotment{r.Network.Ensemble, r.Network.Steps}
	file := filepath.Join(r.dir, "allotment.json")
	if r.dir != "" {
		text, err := os.ReadFile(file)
		if err == nil {
			if err := json.Unmarshal(text, &all); err != nil || all.Members < 1 || all.Steps < 1 {
				return fmt.Errorf("%s is damaged; remove the folder %s to start again", file, r.dir)
			}
			r.take(all)
			return nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	all = all.within(time.Until(end), r.pace)
	r.take(all)
	if r.dir == "" {
		return nil
	}
	return atomicfile.Write(file, func(w io.Writer) error { return json.NewEncoder(w).Encode(all) })
}

// within is what fits into a time at a pace, with some room.
func (a allotment) within(left, pace time.Duration) allotment {
	const room = 0.9
	steps := int(room * float64(left) / float64(pace))
	if a.Members*a.Steps <= steps {
		return a
	}
	a.Members = min(a.Members, max(1, steps/a.Steps))
	a.Steps = min(a.Steps, max(fewestSteps, steps/a.Members))
	return a
}

func (r *run) take(a allotment) {
	saved := r.Network.Ensemble*r.Network.Steps - a.Members*a.Steps
	r.state.Total -= float64(saved)
	r.Network.Ensemble = a.Members
	r.Network.Steps = a.Steps
}

// probe finds the pace where there is nothing to choose.
func (r *run) probe(ctx context.Context) error {
	if _, limited := ctx.Deadline(); !limited || len(r.ways) > 1 {
		return nil
	}
	const steps = 10
	quiet := *r
	quiet.dir = ""
	quiet.progress = progress{}
	j := job{run: &quiet, candidate: r.candidate, name: "pace", images: r.train, steps: steps, seed: 1}
	_, err := j.train(ctx)
	r.pace = quiet.pace
	return err
}
