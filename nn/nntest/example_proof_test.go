package nntest_test

import (
	"bytes"
	"reflect"
	"testing"

	"utvi/fn"
	"utvi/model"
	"utvi/nn"
	"utvi/nn/nntest"
)

// The layers of the examples are sound.
func TestExamples(t *testing.T) {
	t.Run("gate", func(t *testing.T) {
		nntest.Layer(t, Gate{Start: 0.3}, nn.Vec(5), nntest.Options{Draws: 20_000})
	})
	for name, l := range map[string]Sum{
		"sum":              {nn.Dense{Out: 3}, nn.Dense{Out: 3}},
		"sum with fixed":   {nn.Chain{nn.Dense{Out: 3}, nn.Noise{Start: 0.5}}, nn.Dense{Out: 3, Fixed: true}},
		"sum without tape": {nn.Apply{F: fn.Tanh()}, Gate{}},
	} {
		t.Run(name, func(t *testing.T) { nntest.Layer(t, l, nn.Vec(3), nntest.Options{}) })
	}
	nntest.Refuses(t, Sum{nn.Dense{Out: 3}, nn.Dense{Out: 2}}, nn.Vec(4), "its branches give 3 and 2 units")
}

func TestExamplesAreSaved(t *testing.T) {
	layers := nn.Chain{nn.Dense{Out: 2}, Sum{Gate{Start: 0.5}, nn.Dense{Out: 2}}}
	net, err := model.New(model.Config{Input: nn.Vec(1), Layers: layers})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := net.Write(&file); err != nil {
		t.Fatal(err)
	}
	again, err := model.ReadEnsemble(bytes.NewReader(file.Bytes()), int64(file.Len()), model.WithLayer(Gate{}), model.WithLayer(Sum{}))
	if err != nil || !reflect.DeepEqual(again.Members[0].Config.Layers, layers) {
		t.Errorf("%+v, %v", again, err)
	}
}
