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

// Cells outside of the image do not take part in a maximum; averages count them or not.
func TestPaddedPools(t *testing.T) {
	in := nn.Shape{H: 3, W: 4, C: 2}
	for name, pad := range map[string][4]int{"all": {1, 1, 1, 1}, "before": {1, 0, 0, 0}, "after": {0, 1, 2, 2}} {
		size, stride := [2]int{3, 3}, 2
		t.Run(name, func(t *testing.T) {
			for _, count := range []bool{false, true} {
				l := nn.AvgPool2D{Size: size, Stride: stride, Pad: pad, CountPad: count}
				nntest.Layer(t, l, in, nntest.Options{Draws: 20_000})
				nntest.Layer(t, correlated(nn.Apply{F: fn.Tanh()}, l, nn.Dense{Out: 2}), in, nntest.Options{Entries: 10})
			}
			l := nn.MaxPool2D{Size: size, Stride: stride, Pad: pad}
			nntest.Layer(t, l, in, nntest.Options{Draws: 20_000, MeanBias: 0.05, VarBias: 0.2})
			nntest.Layer(t, correlated(nn.Apply{F: fn.Tanh()}, l, nn.Dense{Out: 2}), in, nntest.Options{Entries: 10})
		})
	}
	pair := nn.MaxPool2D{Size: [2]int{1, 3}, Stride: 2, Pad: [4]int{0, 1, 0, 0}} // two cells are exact
	nntest.Layer(t, pair, nn.Shape{H: 2, W: 2, C: 3}, nntest.Options{Draws: 20_000})
}

// Padded windows see the numbers that they would see in a smaller image.
func TestPaddedPoolsByHand(t *testing.T) {
	x, v := []float64{-3, -5, -2, -7}, []float64{1, 2, 4, 8}
	one := func(l nn.Layer) (mean, variance float64) {
		out := pushShape(l, nn.Shape{H: 2, W: 2, C: 1}, x, v)
		return out.Mean[0], out.Var[0]
	}
	corner := [4]int{1, 1, 0, 0} // the window at the first place has one cell of the image
	if m, s := one(nn.MaxPool2D{Size: [2]int{2, 2}, Stride: 2, Pad: corner}); m != -3 || s != 1 {
		t.Errorf("the largest of one cell is %v ± %v", m, s)
	}
	if m, s := one(nn.AvgPool2D{Size: [2]int{2, 2}, Stride: 2, Pad: corner}); m != -3 || s != 1 {
		t.Errorf("the average of one cell is %v ± %v", m, s)
	}
	if m, s := one(nn.AvgPool2D{Size: [2]int{2, 2}, Stride: 2, Pad: corner, CountPad: true}); m != -0.75 || s != 1.0/16 {
		t.Errorf("the average of one cell and three zeros is %v ± %v", m, s)
	}
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
	const wrong = "the image is padded by [0 2 0 0] cells (above, left, below, right); each number must be at least 0, at most 4096 and less than the window, which is 2×2"
	nntest.Refuses(t, nn.MaxPool2D{Size: [2]int{2, 2}, Pad: [4]int{0, 2}}, image, wrong)
	nntest.Refuses(t, nn.AvgPool2D{Size: [2]int{2, 2}, Pad: [4]int{0, 2}}, image, wrong)
	nntest.Refuses(t, nn.AvgPool2D{Size: [2]int{7, 2}, Pad: [4]int{1, 0, 1}}, image, "the window of 7×2 is larger than the padded image of 6×5")
}
