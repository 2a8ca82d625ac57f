package predict_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"utvi/engine"
	"utvi/nn"
	"utvi/predict"
)

// refusing is an engine that can run nothing.
type refusing struct{ engine.Engine[float32] }

func (refusing) Compile(engine.Network[float32], nn.Form) (engine.Program[float32], error) {
	return nil, errors.New("no")
}

// An engine that cannot run the networks is refused, and the model predicts as before.
func TestUse(t *testing.T) {
	m := opened(t, resin())
	row := map[string]any{"temperature": 140.0, "temperature_std": 1.0, "minutes": 30.0, "strength": 40.0}
	predicted := func() any {
		got, err := predictor(t, m, predict.Options{}).Row(t.Context(), row)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	want := predicted()
	if err := m.Use(refusing{}); err == nil || err.Error() != "member 0: no" {
		t.Errorf("an engine that refuses: %v", err)
	}
	if !reflect.DeepEqual(predicted(), want) {
		t.Error("after an engine that refuses, the predictions differ")
	}
}

// The columns of a row are found by name in any order; one that the model does not know is
// not another one.
func TestColumns(t *testing.T) {
	m := opened(t, resin())
	b := m.NewRowBuilder()
	names := append([]string{}, m.Columns()...)
	for _, order := range [][]string{names, {names[1], names[0]}, {names[len(names)-1], names[0]}} {
		for _, name := range order {
			at := b.Column([]byte(name))
			if at < 0 || m.Schema.Columns[at].Name != name {
				t.Errorf("the column %s is at %d in %s", name, at, strings.Join(names, ", "))
			}
		}
	}
	for _, name := range []string{"", "nothing", names[0] + " ", strings.ToUpper(names[0])} {
		if at := b.Column([]byte(name)); at != -1 {
			t.Errorf("the column %q is at %d", name, at)
		}
	}
}
