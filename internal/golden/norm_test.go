package golden

import (
	"os"
	"path/filepath"
	"testing"

	"utvi/fn"
	"utvi/model"
	"utvi/nn"
)

// normalised is a network of series whose normalisations learn.
func normalised(correlated bool) model.Config {
	relu := nn.Apply{F: fn.ReLU()}
	layers := nn.Chain{nn.BatchNorm{}, nn.Conv1D{Out: 5, Kernel: 2}, nn.BatchNorm{Eps: 1e-3}, relu, nn.Dense{Out: 4}, nn.BatchNorm{}, relu, nn.Dense{Out: 1}}
	if correlated {
		layers = nn.Correlate(layers)
	}
	return model.Config{Input: nn.Shape{H: 1, W: 4, C: 3}, Layers: layers, Seed: 23}
}

func TestNormalised(t *testing.T) {
	needRecord(t)
	for name, correlated := range map[string]bool{"independent": false, "correlated": true} {
		t.Run(name, func(t *testing.T) {
			m := trained(t, normalised(correlated), seriesTraining())
			checkPredictions(t, "predictions", m, 1)
		})
	}
}

// A checkpoint of step 4 and a saved network keep the statistics.
func TestNormalisedFiles(t *testing.T) {
	needRecord(t)
	saved, err := model.Load("testdata/normalised.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	checkPredictions(t, "saved", saved, 1)
	b, err := os.ReadFile("testdata/normalised.checkpoint")
	if err != nil {
		t.Fatal(err)
	}
	c := seriesTraining()
	c.Checkpoint = filepath.Join(t.TempDir(), "checkpoint")
	if err := os.WriteFile(c.Checkpoint, b, 0o666); err != nil {
		t.Fatal(err)
	}
	m, err := model.New(normalised(true))
	if err != nil {
		t.Fatal(err)
	}
	proceed(t, "steps 5 to 8", m, c)
	checkPredictions(t, "predictions", m, 1)
	for _, kind := range []string{"/predictions/fixed", "/predictions/uncertain"} {
		const writer = "amd64/avx512" // the platform that wrote the file
		if continued, whole := recorded[writer]["TestNormalisedFiles"+kind], recorded[writer]["TestNormalised/correlated"+kind]; continued.Hash != whole.Hash {
			t.Errorf("%s: the recorded bits differ from those of a training without interruption", kind)
		}
	}
}
