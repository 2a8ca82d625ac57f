package sweep

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"utvi/internal/filelock"
)

// A State is the state of a trial.
type State string

const (
	Done    State = "done"    // it has a result
	Running State = "running" // a process holds its lock
	Failed  State = "failed"  // it left a note, but no result
	Missing State = "missing" // anything else: never begun, interrupted, or its result is damaged
)

// A TrialStatus is the state of one trial, seen from its files.
type TrialStatus struct {
	Trial  Trial
	State  State
	Begun  bool    // it has a checkpoint
	Result *Result // of a trial that is done
	Why    string  // the error, the process that runs it, or what is wrong with its result
}

// Status returns the state of every trial of a plan, seen from its files. It changes
// nothing.
func Status(dir string, p *Plan) []TrialStatus {
	begun := begun(dir)
	all := make([]TrialStatus, len(p.Trials))
	for i, t := range p.Trials {
		s := TrialStatus{Trial: t, State: Missing, Begun: begun[t.ID()]}
		res, err := LoadResult(dir, t)
		if err != nil && !errors.Is(err, ErrMissing) {
			s.Why = err.Error()
		}
		note, noteErr := loadFailure(dir, t)
		who := filelock.Holder(lockPath(stem(dir, t)))
		switch {
		case res != nil:
			s.State, s.Result = Done, res
		case who != "":
			s.State, s.Why = Running, who
		case note != nil:
			s.State, s.Why = Failed, note.Error
		case noteErr != nil:
			s.State, s.Why = Failed, noteErr.Error()
		}
		all[i] = s
	}
	return all
}

// begun are the IDs of trials with a checkpoint.
func begun(dir string) map[string]bool {
	ids := map[string]bool{}
	files, _ := os.ReadDir(filepath.Clean(dir))
	for _, f := range files {
		if id, ok := strings.CutSuffix(f.Name(), ".checkpoint"); ok {
			ids[id] = true
		}
	}
	return ids
}

// Indices returns the indices of the trials in any of the states.
func Indices(all []TrialStatus, states ...State) []int {
	var is []int
	for _, s := range all {
		for _, want := range states {
			if s.State == want {
				is = append(is, s.Trial.Index)
			}
		}
	}
	return is
}
