package model_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"utvi/internal/safetensors"
	"utvi/likelihood"
	"utvi/model"
	"utvi/nn"
)

type ownLikelihood struct {
	likelihood.Normal `json:"-"`
	Width             float64 `json:"width"`
}

func (ownLikelihood) Kind() string { return "own" }

// A saved network keeps its likelihood, one from outside the module too.
func TestLikelihoodInFile(t *testing.T) {
	m := build(t, 2, nn.Dense{Out: 2})
	m.Likelihood = likelihood.Weighted{Of: ownLikelihood{Width: 3}}
	path := filepath.Join(t.TempDir(), "m")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	_, err := model.Load(path)
	wantError(t, err, `the model needs the likelihood "own": load it with model.WithLikelihood`)
	again, err := model.Load(path, model.WithLikelihood(ownLikelihood{}))
	if err != nil || again.Likelihood != m.Likelihood {
		t.Errorf("%#v (%v), want %#v", again.Likelihood, err, m.Likelihood)
	}
	e, err := model.LoadEnsemble(path, model.WithStandIns())
	if err != nil || e.Members[0].Likelihood != nil {
		t.Errorf("%v, %v", e, err)
	}
	m.Likelihood = likelihood.Heteroscedastic{}
	e = &model.Ensemble{Members: []*model.Model{m, m}}
	if err := e.Save(path); err != nil {
		t.Fatal(err)
	}
	e, err = model.LoadEnsemble(path)
	if err != nil || e.Members[1].Likelihood != m.Likelihood {
		t.Errorf("%v, %v", e, err)
	}
	m.Likelihood = likelihood.Heteroscedastic{}
	odd := build(t, 2, nn.Dense{Out: 3})
	odd.Likelihood = m.Likelihood
	if err := odd.Save(path); err != nil {
		t.Fatal(err)
	}
	_, err = model.Load(path)
	wantError(t, err, "the network has 3 outputs; it needs an even number")
}

// Old files name the likelihood in a sentence, and may hold a normalisation, which
// nothing ever applied.
func TestLoadOldFile(t *testing.T) {
	for says, want := range map[string]likelihood.Likelihood{
		"heteroscedastic, floor 1e-08": likelihood.Heteroscedastic{Floor: 1e-8},
		"weighted normal":              likelihood.Weighted{Of: likelihood.Normal{}},
		"my own":                       nil,
		"categorical, floor 7":         nil, // which cannot be
	} {
		m := build(t, 2, nn.Dense{Out: 2})
		m.Facts.Likelihood = says
		path := filepath.Join(t.TempDir(), "m")
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		f, err := safetensors.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		doc := map[string]any{}
		if err := json.Unmarshal([]byte(f.Metadata["utvi.model"]), &doc); err != nil {
			t.Fatal(err)
		}
		doc["normalization"] = map[string]any{"input_mean": []float64{1, 2}, "input_scale": []float64{3, 4}}
		text, err := json.Marshal(doc)
		if err != nil || strings.Contains(string(text), `"likelihood":{`) {
			t.Fatalf("%s %v", text, err)
		}
		f.Metadata["utvi.model"] = string(text)
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		again, err := model.Load(path)
		if err != nil || again.Likelihood != want {
			t.Errorf("%q: %#v (%v), want %#v", says, again.Likelihood, err, want)
		}
	}
}
