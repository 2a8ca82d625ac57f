package nn_test

import (
	"testing"

	"utvi/nn"
	"utvi/nn/nntest"
)

func TestDense(t *testing.T) {
	nntest.Layer(t, nn.Dense{Out: 19}, nn.Vec(13), nntest.Options{Draws: 20_000})
}
func TestDenseOneOutput(t *testing.T) {
	nntest.Layer(t, nn.Dense{Out: 1}, nn.Vec(33), nntest.Options{})
}
func TestDenseOneInput(t *testing.T) {
	nntest.Layer(t, nn.Dense{Out: 21}, nn.Vec(1), nntest.Options{})
}
func TestDenseFixed(t *testing.T) {
	nntest.Layer(t, nn.Dense{Out: 5, Fixed: true}, nn.Vec(9), nntest.Options{Draws: 20_000})
}
func TestDenseNoBias(t *testing.T) {
	nntest.Layer(t, nn.Dense{Out: 18, NoBias: true}, nn.Vec(70), nntest.Options{})
}
func TestDenseRefuses(t *testing.T) {
	nntest.Refuses(t, nn.Dense{}, nn.Vec(3), "0 outputs; a dense layer needs at least 1")
	nntest.Refuses(t, nn.Dense{Out: 1 << 50}, nn.Vec(3), "3 × 1125899906842624 weights; a layer may have at most 2147483648")
}
