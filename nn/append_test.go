package nn_test

import (
	"testing"

	"utvi/nn"
	"utvi/nn/nntest"
)

func TestAppend(t *testing.T) {
	nntest.Layer(t, nn.Append{Count: 2, Start: -1.5}, nn.Vec(3), nntest.Options{})
	nntest.Layer(t, nn.Chain{nn.Correlated{Layers: nn.Chain{nn.Dense{Out: 2}}}, nn.Append{Count: 1}}, nn.Vec(3), nntest.Options{})
	nntest.Refuses(t, nn.Append{}, nn.Vec(3), "0 numbers to append")
}
