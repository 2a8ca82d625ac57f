package golden

import (
	"os"
	"path/filepath"
	"testing"

	"utvi/fit"
	"utvi/internal/localization"
	"utvi/model"
)

// own brings the functions that the files only name.
func own() []model.Option {
	return []model.Option{
		model.WithFunc(bump), model.WithMap(swirl), model.WithStochastic(slope),
		model.WithMaps(localization.Family, localization.FromNumbers),
	}
}

// A network of every layer, saved half-way through its training.
func TestNetworkFile(t *testing.T) {
	needRecord(t)
	m, err := model.Load("testdata/layers.safetensors", own()...)
	if err != nil {
		t.Fatal(err)
	}
	checkPredictions(t, "predictions", m, 3)
}

func TestEnsembleFile(t *testing.T) {
	needRecord(t)
	e, err := model.LoadEnsemble("testdata/ensemble.safetensors", own()...)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Members) != 2 {
		t.Fatalf("%d networks, want 2", len(e.Members))
	}
	for i, m := range e.Members {
		checkPredictions(t, []string{"first", "second"}[i], m, 1)
	}
}

// A checkpoint of step 6 continues to step 12, with the bits of a training that
// was never interrupted.
func TestCheckpointFile(t *testing.T) {
	needRecord(t)
	b, err := os.ReadFile("testdata/half.checkpoint")
	if err != nil {
		t.Fatal(err)
	}
	c := everyLayerTraining()
	c.Checkpoint = filepath.Join(t.TempDir(), "checkpoint")
	if err := os.WriteFile(c.Checkpoint, b, 0o666); err != nil {
		t.Fatal(err)
	}
	net := everyLayer()
	net.Seed++ // the starting weights do not matter, only those of the checkpoint
	m, err := model.New(net)
	if err != nil {
		t.Fatal(err)
	}
	proceed(t, "steps 7 to 12", m, c)
	checkPredictions(t, "predictions", m, 3)

	const writer = "amd64/avx2" // the platform that wrote the file
	for _, kind := range []string{"/predictions/fixed", "/predictions/uncertain"} {
		if continued, whole := recorded[writer]["TestCheckpointFile"+kind], recorded[writer]["TestLayers/image"+kind]; continued.Hash != whole.Hash {
			t.Errorf("%s: the recorded bits differ from those of a training without interruption", kind)
		}
	}
}

// Models of tables: a calibrated ensemble, classes, and a single network.
func TestTableFile(t *testing.T) {
	needRecord(t)
	for _, name := range []string{"strength", "resin", "single"} {
		m, err := fit.Load("testdata/" + name + ".utvi")
		if err != nil {
			t.Fatal(err)
		}
		checkTable(t, name, m)
	}
}
