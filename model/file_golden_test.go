package model_test

import (
	"bytes"
	"flag"
	"math"
	"path/filepath"
	"testing"

	"utvi/likelihood"
	"utvi/model"
)

var update = flag.Bool("update", false, "write testdata/likelihood.safetensors anew: only before the format is published")

// Files of format 1 stay readable, and mean what they meant: the first ones, which say
// in a sentence what the likelihood is, and those that hold it. Only kernels may differ
// in the last bits.
func TestFormat1(t *testing.T) {
	if *update {
		if err := varied(t).Save("testdata/likelihood.safetensors"); err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "testdata/format1.safetensors", likelihood.Normal{}, false)
	golden(t, "testdata/likelihood.safetensors", likelihood.Heteroscedastic{Floor: 1e-7}, true)
}

func golden(t *testing.T, path string, l likelihood.Likelihood, latest bool) {
	m, err := model.Load(path, model.WithFunc(sensor))
	if err != nil {
		t.Fatal(err)
	}
	got := m.NewPredictor(2).Predict(batch(2, 40))
	for i, want := range [][2]float32{
		{-0.16800335, 0.0018966037}, {0.1696228, 0.0028781719}, {-0.058016296, 0.005814101}, {0.18592726, 0.001293815},
		{-0.1689486, 0.0015509196}, {0.11298887, 0.00094959576}, {-0.0468554, 0.0043477975}, {0.21833152, 0.0023148668},
	} {
		if off(got.Mean[i], want[0]) > 1e-4 || off(got.Var[i], want[1]) > 1e-4 {
			t.Errorf("output %d: %v ± %v, was %v", i, got.Mean[i], got.Var[i], want)
		}
	}
	again := filepath.Join(t.TempDir(), "m")
	if err := m.Save(again); err != nil {
		t.Fatal(err)
	}
	if m.Likelihood != l {
		t.Errorf("%s: the likelihood is %v, want %v", path, m.Likelihood, l)
	}
	m, err = model.Load(again, model.WithFunc(sensor))
	if err != nil {
		t.Fatal(err)
	}
	twice := filepath.Join(t.TempDir(), "m")
	if err := m.Save(twice); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(read(t, again), read(t, twice)) || latest && !bytes.Equal(read(t, path), read(t, again)) {
		t.Error("it is written differently now: raise the format, or keep what it was")
	}
}

func off(x, want float32) float64 { return math.Abs(float64(x/want) - 1) }
