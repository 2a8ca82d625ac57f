package golden

import (
	"testing"

	"utvi/data"
	"utvi/fn"
	"utvi/internal/localization"
	"utvi/likelihood"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
	"utvi/train"
	"utvi/vi"
)

// emitter draws an image of 100 photons about a random place, and the place and
// the count: the task of the paper's localisation.
func emitter(key rng.Key, row uint64, image, y []float32) {
	const side, photons = 8, 100
	at := 256 * row
	clear(image)
	y[0], y[1] = float32(1.5*rng.Normal(key, at)), float32(1.5*rng.Normal(key, at+1))
	for k := range uint64(photons) {
		i := y[1] + float32(rng.Normal(key, at+2+2*k)) + side/2
		j := y[0] + float32(rng.Normal(key, at+3+2*k)) + side/2
		if i >= 0 && i < side && j >= 0 && j < side {
			image[int(i)*side+int(j)]++
		}
	}
	y[2] = photons - y[0]*y[0] - y[1]*y[1]
}

// The paper's localisation network, with the photon count taken at the mean
// position and with the position's uncertainty carried into it.
func TestLocalization(t *testing.T) {
	needRecord(t)
	for name, joint := range map[string]bool{"plain": false, "joint": true} {
		t.Run(name, func(t *testing.T) {
			act := nn.Apply{F: fn.LeakyReLU(0.01), Rule: moment.UT(2)}
			o := optim.Paper()
			o.Clip = 100
			m := trained(t, model.Config{
				Input: nn.Shape{H: 8, W: 8, C: 1},
				Layers: nn.Chain{
					nn.Conv2D{Out: 8, Kernel: [2]int{3, 3}}, act, nn.Dense{Out: 128}, act, nn.Dense{Out: 3},
					nn.Scale{}, nn.Apply{F: fn.NormalInverse(), Rule: moment.UT(2)}, nn.Multiply{By: []float64{2, 2, 1}},
					nn.Conditional{Target: 2, Given: []int{0, 1}, Location: localization.PhotonNode(100, 1.05, 8), Joint: joint},
				},
				Seed: 21, Init: vi.Std(0.05),
			}, train.Config{
				Data: &data.Generator{N: 2048, In: 64, Out: 3, Generate: emitter}, Optimizer: o,
				KL: optim.PaperKL(10), Batch: 128, Steps: 15, Seed: 22,
			})
			checkPredictions(t, "predictions", m, 4)
		})
	}
}

// everyLayer has each layer that turns images into numbers, and ends in a photon
// node with learned noise.
func everyLayer() model.Config {
	leaky := nn.Apply{F: fn.LeakyReLU(0.2), Rule: moment.LearnedUT(1)}
	return model.Config{
		Input: nn.Shape{H: 8, W: 8, C: 1},
		Layers: nn.Chain{
			nn.Conv2D{Out: 4, Kernel: [2]int{3, 3}, Padding: nn.Same},
			nn.BatchNorm{Mean: []float64{0.1, 0, -0.1, 0.2}, Var: []float64{1, 0.5, 2, 1}, Gain: []float64{1, 1.5, 1, 0.5}, Offset: []float64{0, 0.1, 0, 0}},
			leaky, nn.MaxPool2D{Size: [2]int{2, 2}},
			nn.Conv2D{Out: 3, Kernel: [2]int{2, 2}, Stride: 2, Fixed: true}, nn.AvgPool2D{Size: [2]int{2, 2}},
			nn.Flatten{}, nn.Dense{Out: 7}, nn.LayerNorm{FixedMean: true}, nn.Dropout{P: 0.1},
			nn.Residual{Branch: nn.Chain{nn.Dense{Out: 7}, nn.Apply{F: bump, Rule: moment.GaussHermite(4)}}},
			slope, nn.Dense{Out: 3, NoBias: true}, nn.Scale{Start: 1.5}, nn.Multiply{By: []float64{2, 2, 1}},
			nn.Conditional{Target: 2, Given: []int{0, 1}, Location: localization.PhotonNode(100, 1.05, 8), Joint: true},
			nn.Noise{},
		},
		Seed: 31,
	}
}

func everyLayerTraining() train.Config {
	return train.Config{
		Data:  &data.Generator{N: 512, In: 64, Out: 3, Generate: emitter},
		Prior: &vi.EmpiricalBayes{Every: 4}, Batch: 48, Steps: 12, Seed: 32,
	}
}

// line has the layers that the other lacks, and ends in a softmax.
func line(seed uint64) model.Config {
	return model.Config{
		Input: nn.Shape{H: 1, W: 12, C: 2},
		Layers: nn.Chain{
			nn.Conv1D{Out: 3, Kernel: 3, Stride: 2}, nn.Apply{F: fn.GELU(), Rule: moment.Exact()},
			nn.Chain{nn.Dense{Out: 6}, nn.Apply{F: fn.SiLU(), Rule: moment.MonteCarlo(4)}},
			nn.Joint{Map: swirl, Rule: moment.JointUT(1)}, nn.Dense{Out: 3}, nn.Joint{Map: fn.Softmax()},
		},
		Seed: seed, Prior: vi.Prior{Std: 0.5},
	}
}

func lineTraining() train.Config {
	generate := func(key rng.Key, row uint64, x, y []float32) {
		for i := range x {
			x[i] = float32(rng.Normal(key, 32*row+uint64(i)))
		}
		clear(y)
		y[int(3*rng.Uniform(key, 32*row+31))] = 1
	}
	return train.Config{
		Data:       &data.Generator{N: 256, In: 24, Out: 3, Generate: generate},
		Likelihood: likelihood.Normal{}, Batch: 32, Steps: 8, Seed: 33,
	}
}

// Functions of a user's own.
var (
	bump  = &moment.Func{Name: "bump", F: func(x float64) float64 { return x / (1 + x*x) }}
	swirl = &moment.Map{Name: "swirl", F: func(x, y []float64) {
		for i := range x {
			y[i] = x[i] + 0.5*x[i]*x[(i+1)%len(x)]
		}
	}}
	slope = nn.Stochastic{Name: "slope", F: func(x, theta float64) float64 { return x * theta }, Mean: 1, Std: 0.1, PerUnit: true}
)

// The number of workers sets how a batch is cut into blocks, and nothing else: all layers
// train to the same bits.
func TestWorkersDoNotMatter(t *testing.T) {
	for name, network := range map[string]struct {
		config   func() model.Config
		training func() train.Config
	}{
		"image": {everyLayer, everyLayerTraining},
		"line":  {func() model.Config { return line(34) }, lineTraining},
		"correlated": {func() model.Config {
			c := line(34)
			c.Layers = nn.Correlate(nn.Chain{nn.Conv1D{Out: 3, Kernel: 3}, nn.Apply{F: fn.ReLU(), Rule: moment.Exact()}, nn.Flatten{},
				nn.Dense{Out: 6}, nn.Apply{F: fn.Tanh(), Rule: moment.UT(2)}, nn.Dense{Out: 3}})
			return c
		}, lineTraining},
	} {
		t.Run(name, func(t *testing.T) {
			var want fingerprint
			for _, workers := range []int{1, 2, 5, 16} {
				c := network.training()
				c.Batch = 150
				c.Steps = 3
				c.Workers = workers
				m, err := model.New(network.config())
				if err != nil {
					t.Fatal(err)
				}
				trainer, err := train.New(m, c)
				if err != nil {
					t.Fatal(err)
				}
				err = trainer.Run(t.Context())
				trainer.Close()
				if err != nil {
					t.Fatal(err)
				}
				var theta []float64
				for _, v := range m.Params.Theta {
					theta = append(theta, float64(v))
				}
				got := fingerprintOf(theta)
				if workers == 1 {
					want = got
				} else if got.Hash != want.Hash {
					t.Errorf("%d workers change the bits: %v…, with one %v…", workers, got.First, want.First)
				}
			}
		})
	}
}

// Networks of all layers train as they did.
func TestLayers(t *testing.T) {
	needRecord(t)
	t.Run("image", func(t *testing.T) {
		checkPredictions(t, "predictions", trained(t, everyLayer(), everyLayerTraining()), 3)
	})
	t.Run("line", func(t *testing.T) {
		checkPredictions(t, "predictions", trained(t, line(34), lineTraining()), 1)
	})
}
