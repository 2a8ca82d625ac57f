package golden

import (
	"os"
	"path/filepath"
	"testing"

	"utvi/data"
	"utvi/fn"
	"utvi/model"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
	"utvi/train"
)

// series is a network of signals that part and meet, recurrent layers and attention, over 4 times of
// 3 features.
func series(correlated bool) model.Config {
	relu := nn.Apply{F: fn.ReLU()}
	layers := nn.Chain{
		nn.PerPlace{Layer: nn.Dense{Out: 4}}, nn.Positions{}, nn.Residual{Branch: nn.MultiHeadAttention{Heads: 2}},
		nn.Graph{Steps: []nn.Step{
			{Name: "both", Layer: nn.LSTM{Units: 3, Direction: nn.Bidirectional}},
			{Name: "ahead", Layer: nn.Chain{nn.GRU{Units: 6}, relu}, From: []string{"in"}},
			{Name: "sum", Layer: nn.Product{}, From: []string{"both", "ahead"}},
			{Name: "end", Layer: nn.Chain{nn.Concat{}, nn.RNN{Units: 4, Last: true}}, From: []string{"sum", "in"}},
		}},
		nn.Dense{Out: 1},
	}
	if correlated {
		layers = nn.Correlate(layers)
	}
	return model.Config{Input: nn.Shape{H: 1, W: 4, C: 3}, Layers: layers, Seed: 21}
}

func seriesTraining() train.Config {
	return train.Config{
		Data: &data.Generator{N: 120, In: 12, Out: 1, Generate: func(key rng.Key, row uint64, x, y []float32) {
			for i := range x {
				x[i] = float32(rng.Normal(key, 16*row+uint64(i)))
			}
			y[0] = x[0]*x[4] - x[11]
		}},
		Optimizer: optim.Paper(), Batch: 40, Steps: 8, Seed: 22,
	}
}

func TestSeries(t *testing.T) {
	needRecord(t)
	for name, correlated := range map[string]bool{"independent": false, "correlated": true} {
		t.Run(name, func(t *testing.T) {
			m := trained(t, series(correlated), seriesTraining())
			checkPredictions(t, "predictions", m, 1)
		})
	}
}

// A checkpoint of step 4 and a saved network of graphs and recurrent layers are read as they were
// written.
func TestSeriesFiles(t *testing.T) {
	needRecord(t)
	saved, err := model.Load("testdata/series.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	checkPredictions(t, "saved", saved, 1)
	b, err := os.ReadFile("testdata/series.checkpoint")
	if err != nil {
		t.Fatal(err)
	}
	c := seriesTraining()
	c.Checkpoint = filepath.Join(t.TempDir(), "checkpoint")
	if err := os.WriteFile(c.Checkpoint, b, 0o666); err != nil {
		t.Fatal(err)
	}
	net := series(true)
	net.Seed++ // the starting weights do not matter, only those of the checkpoint
	m, err := model.New(net)
	if err != nil {
		t.Fatal(err)
	}
	proceed(t, "steps 5 to 8", m, c)
	checkPredictions(t, "predictions", m, 1)

	for _, kind := range []string{"/predictions/fixed", "/predictions/uncertain"} {
		const writer = "amd64/avx512" // the platform that wrote the file
		if continued, whole := recorded[writer]["TestSeriesFiles"+kind], recorded[writer]["TestSeries/correlated"+kind]; continued.Hash != whole.Hash {
			t.Errorf("%s: the recorded bits differ from those of a training without interruption", kind)
		}
	}
}
