package model_test

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/safetensors"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
)

func ensemble(t testing.TB) *model.Ensemble {
	t.Helper()
	var members []*model.Model
	for seed := range uint64(3) {
		m, err := model.New(model.Config{Input: nn.Vec(3), Seed: seed, Layers: nn.Chain{nn.Dense{Out: 5 + int(seed)}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 2}}})
		if err != nil {
			t.Fatal(err)
		}
		members = append(members, m)
	}
	e, err := model.NewEnsemble(members...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func sameTargets(a, b *model.Predictions) bool {
	return slices.Equal(a.Mean, b.Mean) && slices.Equal(a.Var, b.Var)
}

// An ensemble has the moments of the mixture of its members.
func TestEnsemble(t *testing.T) {
	e := ensemble(t)
	x := batch(4, 3)
	got := head(t, 6, e.Members...).Predict(x)
	var each []gauss.Batch[float32]
	for _, m := range e.Members {
		each = append(each, m.NewPredictor(4).Predict(x))
	}
	for i := range got.Mean {
		var first, second float64
		for _, y := range each {
			m, v := float64(y.Mean[i]), float64(y.Var[i])
			first += m / 3
			second += (v + m*m) / 3
		}
		if math.Abs(float64(got.Mean[i])-first) > 1e-6 || math.Abs(float64(got.Var[i])-(second-first*first)) > 1e-6 {
			t.Errorf("%v ± %v, want %v ± %v", got.Mean[i], got.Var[i], first, second-first*first)
		}
	}
	p := head(t, 4, e.Members...)
	p.Predict(x)
	if n := testing.AllocsPerRun(10, func() { p.Predict(x) }); n != 0 {
		t.Errorf("Predict allocates %v times", n)
	}
}

func TestSaveAndLoadEnsemble(t *testing.T) {
	e := ensemble(t)
	e.Documents = map[string]json.RawMessage{"schema": json.RawMessage(`{"a":[1,2]}`)}
	for i := range 20 { // they come in any order
		e.Documents[fmt.Sprint("x", i)] = json.RawMessage(fmt.Sprint(i))
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "e")
	if err := e.Save(path); err != nil {
		t.Fatal(err)
	}
	again, err := model.LoadEnsemble(path)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(e.Documents, again.Documents) {
		t.Errorf("documents %s came back as %s", e.Documents, again.Documents)
	}
	x := batch(4, 3)
	if !sameTargets(head(t, 4, e.Members...).Predict(x), head(t, 4, again.Members...).Predict(x)) {
		t.Error("the loaded ensemble predicts something else")
	}
	_, err = model.Load(path)
	wantError(t, err, "the file holds an ensemble; load it with model.LoadEnsemble")

	single := filepath.Join(dir, "m")
	if err := e.Members[1].Save(single); err != nil {
		t.Fatal(err)
	}
	one, err := model.LoadEnsemble(single)
	if err != nil {
		t.Fatal(err)
	}
	if !same(one.Members[0].NewPredictor(4).Predict(x), e.Members[1].NewPredictor(4).Predict(x)) {
		t.Error("an ensemble of one predicts something else than its network")
	}
}

func TestEnsembleRefuses(t *testing.T) {
	_, err := model.NewEnsemble()
	wantError(t, err, "no networks")
	_, err = model.NewEnsemble(ensemble(t).Members[0], build(t, 3, nn.Dense{Out: 1}))
	wantError(t, err, "network 0 turns 3 inputs into 2 outputs, network 1 3 into 1")

	path := filepath.Join(t.TempDir(), "e")
	wantError(t, (&model.Ensemble{}).Save(path), "cannot save the ensemble: ensemble: no networks")
	odd := ensemble(t)
	odd.Documents = map[string]json.RawMessage{"schema": json.RawMessage(`{`)}
	wantError(t, odd.Save(path), `the document "schema" is not JSON`)
	bad := ensemble(t)
	bad.Members[2].Params.Theta[0] = float32(math.NaN())
	wantError(t, bad.Save(path), "member 2: 0.dense.weight holds a number that is not finite")
	named := &model.Ensemble{Members: []*model.Model{build(t, 1, nn.Apply{F: sensor, Rule: moment.UT(2)})}}
	if err := named.Save(path); err != nil {
		t.Fatal(err)
	}
	_, err = model.LoadEnsemble(path)
	wantError(t, err, "member 0: layer 0: apply: the model needs the function \"sensor\"")
	_, err = model.LoadEnsemble(path, model.WithFunc(sensor))
	if err != nil {
		t.Error(err)
	}
	_, err = model.LoadEnsemble(damaged(t, func(f *safetensors.File) {
		f.Metadata = map[string]string{"utvi.ensemble": `{"format":1,"members":[]}`}
		f.Tensors = nil
	}))
	wantError(t, err, "no networks")
}
