package nn_test

import (
	"testing"

	"utvi/fn"
	"utvi/nn"
	"utvi/nn/nntest"
)

func TestAvgPool2D(t *testing.T) {
	nntest.Layer(t, nn.AvgPool2D{Size: [2]int{2, 2}}, nn.Shape{H: 4, W: 6, C: 3}, nntest.Options{Draws: 20_000})
	nntest.Layer(t, nn.AvgPool2D{Size: [2]int{2, 3}}, nn.Shape{H: 5, W: 7, C: 1}, nntest.Options{})
	nntest.Layer(t, nn.AvgPool2D{Size: [2]int{3, 2}, Stride: 1}, nn.Shape{H: 4, W: 5, C: 2}, nntest.Options{})
	nntest.Layer(t, nn.AvgPool2D{Size: [2]int{1, 2}, Stride: 3}, nn.Shape{H: 4, W: 5, C: 2}, nntest.Options{})
	nntest.Layer(t, nn.AvgPool2D{Size: [2]int{3, 4}}, nn.Shape{H: 3, W: 4, C: 5}, nntest.Options{}) // the whole image
}

func TestMaxPool2D(t *testing.T) {
	nntest.Layer(t, nn.MaxPool2D{Size: [2]int{1, 2}}, nn.Shape{H: 4, W: 6, C: 2}, nntest.Options{Draws: 20_000}) // two cells are exact
	nntest.Layer(t, nn.MaxPool2D{Size: [2]int{2, 2}}, nn.Shape{H: 4, W: 6, C: 2}, nntest.Options{Draws: 20_000, MeanBias: 0.03, VarBias: 0.1})
	nntest.Layer(t, nn.MaxPool2D{Size: [2]int{2, 3}}, nn.Shape{H: 5, W: 7, C: 1}, nntest.Options{})
	nntest.Layer(t, nn.MaxPool2D{Size: [2]int{3, 2}, Stride: 1}, nn.Shape{H: 4, W: 5, C: 2}, nntest.Options{})
	nntest.Layer(t, nn.MaxPool2D{Size: [2]int{1, 1}}, nn.Shape{H: 2, W: 3, C: 2}, nntest.Options{})
	nntest.Layer(t, nn.MaxPool2D{Size: [2]int{3, 4}}, nn.Shape{H: 3, W: 4, C: 5}, nntest.Options{})
}

func TestImageChain(t *testing.T) {
	l := nn.Chain{
		nn.Conv2D{Out: 3, Kernel: [2]int{3, 3}, Padding: nn.Same}, nn.Apply{F: fn.Softplus()}, nn.MaxPool2D{Size: [2]int{2, 2}},
		nn.Conv2D{Out: 4, Kernel: [2]int{2, 2}}, nn.AvgPool2D{Size: [2]int{1, 2}}, nn.Flatten{}, nn.Dense{Out: 2},
	}
	nntest.Layer(t, l, nn.Shape{H: 6, W: 6, C: 1}, nntest.Options{})
}

func TestFlatten(t *testing.T) {
	nntest.Layer(t, nn.Flatten{}, nn.Shape{H: 2, W: 3, C: 5}, nntest.Options{})
}

func TestPoolRefuses(t *testing.T) {
	image := nn.Shape{H: 4, W: 5, C: 3}
	for _, l := range []func(size [2]int, stride int) nn.Layer{
		func(size [2]int, stride int) nn.Layer { return nn.AvgPool2D{Size: size, Stride: stride} },
		func(size [2]int, stride int) nn.Layer { return nn.MaxPool2D{Size: size, Stride: stride} },
	} {
		nntest.Refuses(t, l([2]int{}, 0), image, "the window is 0×0; both sides must be at least 1")
		nntest.Refuses(t, l([2]int{2, 6}, 0), image, "the window of 2×6 is larger than the image of 4×5")
		nntest.Refuses(t, l([2]int{2, 2}, -1), image, "the stride is -1; it must be at least 1")
	}
}
