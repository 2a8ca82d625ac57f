package learn

import (
	"context"
	"fmt"
	"strings"

	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/locate/net"
	"utvi/likelihood"
	"utvi/model"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
	"utvi/train"
	"utvi/vi"
)

// Settings say how a network is trained.
type Settings struct {
	Hidden  []int // units of the layers
	Steps   int
	Batch   int
	Rate    float64
	Seed    uint64
	Plain   bool // weights are numbers
	Workers int
}

// Defaults are the settings of the network that is part of the program.
func Defaults() Settings {
	return Settings{Hidden: []int{128, 96, 64}, Steps: 16000, Batch: 256, Rate: 2e-3, Seed: 1}
}

// network starts at shift 0 and ratio 1, whatever the inputs.
func (s Settings) network() (*model.Model, error) {
	var body nn.Chain
	for _, width := range s.Hidden {
		body = append(body, nn.Dense{Out: width, Fixed: s.Plain}, nn.Apply{F: fn.ReLU()})
	}
	graph := nn.Graph{
		Steps: []nn.Step{
			{Name: "body", Layer: body},
			{Name: "place", Layer: nn.Dense{Out: net.Pair, Fixed: s.Plain}, From: []string{"body"}},
			{Name: "light", Layer: nn.Dense{Out: net.Pair, Fixed: s.Plain}, From: []string{"body"}},
			{Name: "real", Layer: nn.Chain{nn.Dense{Out: 1, Fixed: s.Plain}, nn.Apply{F: fn.Sigmoid()}}, From: []string{"body"}},
		},
		Outputs: []string{"place", "light", "real"},
	}
	m, err := model.New(model.Config{Input: nn.Vec(net.Inputs), Layers: nn.Chain{graph}, Seed: s.Seed, Init: vi.Std(0.01), Prior: vi.Prior{Std: 0.3}})
	if err != nil {
		return nil, err
	}
	for _, t := range m.Params.Tensors {
		if strings.Contains(t.Name, "place") || strings.Contains(t.Name, "light") {
			clear(t.Mean)
		}
	}
	m.Changed()
	return m, nil
}

func scores() likelihood.Likelihood {
	known := likelihood.Weighted{Of: likelihood.Heteroscedastic{}}
	return likelihood.Several{Parts: []likelihood.Part{
		{Name: "place", Outputs: net.Pair, Of: known},
		{Name: "light", Outputs: net.Pair, Of: known, Weight: 0.2},
		{Name: "real", Outputs: 1, Of: likelihood.Bernoulli{}},
	}}
}

// Train trains a network. tell is told of each step.
func Train(ctx context.Context, s Settings, w *Windows, tell func(train.Step)) (*model.Model, error) {
	m, err := s.network()
	if err != nil {
		return nil, err
	}
	rate := optim.WarmUp(200, optim.Cosine(s.Rate, s.Steps))
	t, err := train.New(m, train.Config{
		Data: &source{windows: w}, Likelihood: scores(), Batch: s.Batch, Steps: s.Steps, Seed: s.Seed, Workers: s.Workers,
		Optimizer: optim.AdamW{Rate: rate, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, DecayOn: optim.DecayNone, Clip: 5},
		KL:        optim.WarmUpKL(s.Steps / 2),
	})
	if err != nil {
		return nil, err
	}
	defer t.Close()
	for step, err := range t.Steps(ctx) {
		if err != nil {
			return nil, fmt.Errorf("training: %w", err)
		}
		tell(step)
	}
	return m, nil
}

// A source shows windows in an order drawn anew for each epoch, each time as one of the symmetries.
type source struct {
	windows *Windows
	order   []int32
	epoch   uint64
	key     rng.Key
	first   uint64
}

func (s *source) Rows() int       { return s.windows.Rows }
func (s *source) Inputs() int     { return net.Inputs }
func (s *source) Targets() int    { return targets }
func (s *source) Uncertain() bool { return false }

// Begin takes the next rows of the epoch; the last rows of an epoch that fill no batch are left out.
func (s *source) Begin(key rng.Key, step uint64, batch int) {
	steps := uint64(max(1, s.windows.Rows/batch))
	epoch := (step-1)/steps + 1
	if epoch != s.epoch {
		s.order = make([]int32, s.windows.Rows)
		rng.Perm(key.Sub(epoch, 1), s.order)
		s.epoch = epoch
	}
	s.key = key.Sub(step, 2)
	s.first = (step - 1) % steps * uint64(batch)
}

func (s *source) Fill(lo, hi int, x gauss.Batch[float32], y []float32) {
	for i := lo; i < hi; i++ {
		row := int(s.order[(int(s.first)+i)%len(s.order)])
		symmetry := int(rng.Uint64(s.key, uint64(i)) % net.Symmetries)
		net.Turn(s.windows.X[row*net.Inputs:][:net.Inputs], x.Mean[(i-lo)*net.Inputs:][:net.Inputs], symmetry)
		to := y[(i-lo)*targets:][:targets]
		copy(to, s.windows.Y[row*targets:])
		net.TurnPair(&to[net.OfX], &to[net.OfY], symmetry)
	}
}
