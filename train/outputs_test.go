package train_test

import (
	"strings"
	"testing"

	"utvi/data"
	"utvi/fn"
	"utvi/gauss"
	"utvi/likelihood"
	"utvi/model"
	"utvi/nn"
	"utvi/train"
)

// What a likelihood would misread, or cannot score, is told in its words.
func TestImpossibleTargets(t *testing.T) {
	softmax, sigmoid := nn.Joint{Map: fn.Softmax()}, nn.Apply{F: fn.Sigmoid()}
	for _, c := range []struct {
		says       string
		likelihood likelihood.Likelihood
		target     float32
		end        nn.Chain
	}{
		{"", likelihood.Categorical{}, 2, nn.Chain{nn.Dense{Out: 3}, softmax}},
		{"categorical cannot score the targets [3] of a row with 3 outputs", likelihood.Categorical{}, 3, nn.Chain{nn.Dense{Out: 3}, softmax}},
		{"categorical cannot score the targets [-1]", likelihood.Categorical{}, -1, nn.Chain{nn.Dense{Out: 3}, softmax}},
		{"categorical cannot score the targets [0.5]", likelihood.Categorical{}, 0.5, nn.Chain{nn.Dense{Out: 3}, softmax}},
		{"poisson cannot score the targets [-1]", likelihood.Poisson{}, -1, nn.Chain{nn.Dense{Out: 1}}},
		{"bernoulli cannot score the targets [2]", likelihood.Bernoulli{}, 2, nn.Chain{nn.Dense{Out: 1}, sigmoid}},
		{"end the network with nn.Joint{Map: fn.Softmax()}", likelihood.Categorical{}, 1, nn.Chain{nn.Dense{Out: 3}}},
		{"end the network with nn.Apply{F: fn.Sigmoid()}", likelihood.Bernoulli{}, 1, nn.Chain{sigmoid, nn.Chain{nn.Dense{Out: 1}}}},
		{"remove nn.Noise from the network", likelihood.ExpectedNormal{Std: 1}, 1, nn.Chain{nn.Dense{Out: 1}, nn.Noise{}}},
		{"", likelihood.ExpectedNormal{Std: 1}, 1, nn.Chain{nn.Dense{Out: 1}, nn.Noise{Off: true}}},
		{"ends with 2×2 places of 2 channels, which alternate in it", likelihood.Heteroscedastic{}, 0, nn.Chain{nn.ConvTranspose2D{Out: 2, Kernel: [2]int{2, 2}}}},
		{"", likelihood.PerPlace{Of: likelihood.Heteroscedastic{}}, 0, nn.Chain{nn.ConvTranspose2D{Out: 2, Kernel: [2]int{1, 1}}}},
		{"it takes 4 channels of a place, but the network ends with 2", likelihood.PerPlace{Of: likelihood.Heteroscedastic{}, Channels: 4}, 0, nn.Chain{nn.ConvTranspose2D{Out: 2, Kernel: [2]int{2, 2}}}},
		{"end the network with nn.Softmax{}", likelihood.PerPlace{Of: likelihood.Categorical{}}, 0, nn.Chain{nn.ConvTranspose2D{Out: 2, Kernel: [2]int{2, 2}}}},
		{"it has 2 parts, and the network one output", likelihood.Several{Parts: []likelihood.Part{{Of: likelihood.Normal{}}, {Of: likelihood.Normal{}}}}, 0, nn.Chain{nn.Dense{Out: 2}}},
		{"", likelihood.Heteroscedastic{}, 0, nn.Chain{nn.ConvTranspose1D{Out: 2, Kernel: 1}}},
	} {
		m, err := model.New(model.Config{Input: nn.Vec(1), Layers: c.end})
		if err != nil {
			t.Fatal(err)
		}
		y := make([]float32, 40) // more than one block
		y[33] = c.target
		table, err := data.NewTable(gauss.Fixed(1, make([]float32, 40)), 1, y)
		if err != nil {
			t.Fatal(err)
		}
		for _, draws := range []int{0, 2} {
			tr, err := train.New(m, train.Config{Data: table, Likelihood: c.likelihood, Steps: 2, Draws: draws})
			if err == nil {
				err = tr.Run(t.Context())
				tr.Close()
			}
			if (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v of %v, %d draws: error %v, want one with %q", c.likelihood, c.target, draws, err, c.says)
			}
		}
	}
}
