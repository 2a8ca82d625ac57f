package learn

import (
	"context"
	"errors"

	"utvi/internal/compute"
	"utvi/internal/locate/net"
	"utvi/model"
	"utvi/train"
)

// A Plan is how a network is made.
type Plan struct {
	Optic
	Settings
	Scenes  int // to train on; one for eight of them is held out
	Windows int // of a scene
}

// Usually is the plan of the network that is part of the program.
func Usually() Plan {
	return Plan{Optic: Usual(), Settings: Defaults(), Scenes: 600, Windows: 400}
}

const (
	heldPart  = 8       // of the scenes
	heldFirst = 1 << 20 // their numbers begin here
)

// Held is how many scenes are held out.
func (p *Plan) Held() int { return max(p.Scenes/heldPart, 4) }

// Make draws scenes, trains a network on them and settles its scale. draw is told of scenes, step of
// steps.
func Make(ctx context.Context, p Plan, draw func(scenes int), step func(train.Step)) (*net.Net, error) {
	pool := compute.NewPool(compute.Workers(p.Workers))
	defer pool.Close()
	trained, err := Draw(ctx, p.Optic, p.Seed, 0, p.Scenes, p.Windows, pool, draw)
	if err != nil {
		return nil, err
	}
	held, err := Draw(ctx, p.Optic, p.Seed, heldFirst, p.Held(), p.Windows, pool, draw)
	if err != nil {
		return nil, err
	}
	const least = 2000
	if trained.Rows < least || held.Rows < least/heldPart {
		return nil, errors.New("hardly any molecule was found in the scenes; take more scenes, more photons or less background")
	}
	m, err := Train(ctx, p.Settings, trained, step)
	if err != nil {
		return nil, err
	}
	e, err := model.NewEnsemble(m)
	if err != nil {
		return nil, err
	}
	n := &net.Net{Ensemble: e}
	Settle(n, trained, held)
	return n, nil
}
