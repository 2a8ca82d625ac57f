package experiment

import (
	"context"
	"encoding/json"

	"utvi/internal/strictjson"
	"utvi/internal/sweep"
)

// A spec is the settings of a kind of trial.
type spec interface {
	check() error
	run(ctx context.Context, j sweep.Job) (sweep.Outcome, error)
}

// kindOf is the kind of trials whose settings are an S.
func kindOf[S spec](name string) sweep.Kind {
	return sweep.Kind{
		Name: name,
		Check: func(b json.RawMessage) error {
			_, err := readSpec[S](b)
			return err
		},
		Run: func(ctx context.Context, j sweep.Job) (sweep.Outcome, error) {
			s, err := readSpec[S](j.Spec)
			if err != nil {
				return sweep.Outcome{}, err
			}
			return s.run(ctx, j)
		},
	}
}

// readSpec reads settings and checks them.
func readSpec[S spec](b json.RawMessage) (s S, err error) {
	if err := strictjson.Unmarshal(b, &s); err != nil {
		return s, err
	}
	return s, s.check()
}
