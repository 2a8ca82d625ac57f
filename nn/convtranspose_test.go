package nn_test

import (
	"fmt"
	"testing"

	"utvi/fn"
	"utvi/gauss"
	"utvi/moment"
	"utvi/nn"
	"utvi/nn/nntest"
)

// variants are convolutions of every kind on a small image, beside the plain ones.
var variants = []struct {
	l  nn.Layer
	in nn.Shape
}{
	{nn.Conv2D{Out: 3, Kernel: [2]int{3, 2}, Strides: [2]int{1, 2}}, nn.Shape{H: 4, W: 5, C: 2}},
	{nn.Conv2D{Out: 3, Kernel: [2]int{2, 3}, Strides: [2]int{3, 1}, Pad: [4]int{1, 2, 0, 1}}, nn.Shape{H: 5, W: 4, C: 2}},
	{nn.Conv2D{Out: 2, Kernel: [2]int{3, 2}, Dilation: [2]int{2, 3}, Pad: [4]int{3, 2, 1, 0}}, nn.Shape{H: 4, W: 5, C: 2}},
	{nn.Conv2D{Out: 2, Kernel: [2]int{2, 2}, Dilation: [2]int{1, 2}, Stride: 2, Padding: nn.Same}, nn.Shape{H: 4, W: 5, C: 1}},
	{nn.Conv2D{Out: 6, Kernel: [2]int{2, 3}, Groups: 2, Padding: nn.Same}, nn.Shape{H: 4, W: 3, C: 4}},
	{nn.Conv2D{Out: 4, Kernel: [2]int{3, 3}, Groups: 4, Padding: nn.Same, NoBias: true}, nn.Shape{H: 3, W: 4, C: 4}}, // depthwise
	{nn.Conv2D{Out: 34, Kernel: [2]int{2, 6}, Groups: 2}, nn.Shape{H: 3, W: 15, C: 10}},                              // too large for patches
	{nn.Conv2D{Out: 4, Kernel: [2]int{1, 1}, Groups: 2}, nn.Shape{H: 2, W: 3, C: 4}},
	{nn.Conv1D{Out: 4, Kernel: 3, Dilation: 2, Groups: 2, Pad: [2]int{4, 0}}, nn.Shape{H: 1, W: 6, C: 2}}, // causal
	{nn.ConvTranspose2D{Out: 3, Kernel: [2]int{2, 2}, Stride: 2}, nn.Shape{H: 2, W: 3, C: 2}},
	{nn.ConvTranspose2D{Out: 2, Kernel: [2]int{4, 3}, Strides: [2]int{2, 1}, Pad: [4]int{1, 0, 2, 1}, OutputPad: [2]int{1, 0}}, nn.Shape{H: 3, W: 2, C: 3}},
	{nn.ConvTranspose2D{Out: 2, Kernel: [2]int{3, 3}, Pad: [4]int{1, 1, 1, 1}}, nn.Shape{H: 3, W: 4, C: 2}},
	{nn.ConvTranspose2D{Out: 2, Kernel: [2]int{1, 1}, Stride: 2, OutputPad: [2]int{1, 1}}, nn.Shape{H: 2, W: 2, C: 3}}, // cells that are the bias alone
	{nn.ConvTranspose2D{Out: 4, Kernel: [2]int{2, 3}, Stride: 3, Groups: 2, Dilation: [2]int{2, 1}}, nn.Shape{H: 2, W: 2, C: 6}},
	{nn.ConvTranspose2D{Out: 12, Kernel: [2]int{3, 5}, Stride: 2}, nn.Shape{H: 2, W: 9, C: 17}}, // too large for patches
	{nn.ConvTranspose2D{Out: 20, Kernel: [2]int{2, 5}}, nn.Shape{H: 2, W: 11, C: 17}},           // and its windows a convolution
	{nn.ConvTranspose2D{Out: 2, Kernel: [2]int{2, 2}, Stride: 2, Fixed: true}, nn.Shape{H: 2, W: 2, C: 2}},
	{nn.ConvTranspose1D{Out: 3, Kernel: 4, Stride: 2, Pad: [2]int{1, 1}, NoBias: true}, nn.Shape{H: 1, W: 4, C: 2}},
}

func TestConvVariants(t *testing.T) {
	for _, c := range variants {
		t.Run(fmt.Sprintf("%v to %T%+v", c.in, c.l, c.l), func(t *testing.T) {
			nntest.Layer(t, c.l, c.in, nntest.Options{Entries: 4})
		})
	}
}

// Weights that all places share are drawn once, whatever the kind of the convolution.
func TestConvVariantsCorrelated(t *testing.T) {
	act := nn.Apply{F: fn.Tanh(), Rule: moment.GaussHermite(5)}
	for i, c := range variants {
		if i%2 == 0 && testing.Short() {
			continue
		}
		t.Run(fmt.Sprintf("%v to %T%+v", c.in, c.l, c.l), func(t *testing.T) {
			nntest.Layer(t, correlated(act, c.l, act, nn.Dense{Out: 2}), c.in, nntest.Options{Entries: 2, Tolerance: 3e-6})
		})
	}
}

func TestConvVariantsDrawn(t *testing.T) {
	o := nntest.Options{Draws: 20_000}
	nntest.Layer(t, nn.Conv2D{Out: 4, Kernel: [2]int{2, 2}, Groups: 2, Dilation: [2]int{2, 1}}, nn.Shape{H: 4, W: 3, C: 4}, o)
	nntest.Layer(t, nn.ConvTranspose2D{Out: 2, Kernel: [2]int{3, 2}, Stride: 2, Pad: [4]int{1, 0, 0, 0}}, nn.Shape{H: 3, W: 2, C: 2}, o)
	mean, variance := waves(12, 0.01)
	for i := range mean {
		mean[i]++ // so that places see much the same, and share what the weights add
	}
	in, average := nn.Shape{H: 2, W: 3, C: 2}, nn.AvgPool2D{Size: [2]int{2, 2}}
	beatsIndependence(t, nn.Chain{nn.ConvTranspose2D{Out: 2, Kernel: [2]int{2, 2}, Stride: 2}, average}, in, 0.1, 0.05, mean, variance)
	beatsIndependence(t, nn.Chain{nn.Conv2D{Out: 4, Kernel: [2]int{1, 1}, Groups: 2}, average}, in, 0.1, 0.05, mean, variance)
}

// The kernel is not mirrored, and windows that overlap add up.
func TestConvTransposeByHand(t *testing.T) {
	u, r, params := bound(t, nn.ConvTranspose1D{Out: 1, Kernel: 3, Stride: 2, OutputPad: 1, Fixed: true}, nn.Shape{H: 1, W: 2, C: 1}, false)
	copy(params.Tensors[0].Mean, []float64{1, 10, 100})
	params.Tensors[1].Mean[0] = 0.5
	prepare(u, r)
	out := gauss.Fixed(6, make([]float64, 6))
	r.Forward(&nn.Pass[float64]{In: gauss.Fixed(2, []float64{1, 2}), Out: out})
	if got, want := fmt.Sprint(out.Mean), "[1.5 10.5 102.5 20.5 200.5 0.5]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestConvVariantsRefuse(t *testing.T) {
	image := nn.Shape{H: 4, W: 5, C: 3}
	one := [2]int{1, 1}
	nntest.Refuses(t, nn.Conv2D{Out: 2, Kernel: one, Stride: 1, Strides: one}, image, "Stride is 1, and Strides are [1 1]; set one of them")
	nntest.Refuses(t, nn.Conv2D{Out: 2, Kernel: one, Strides: [2]int{1, 0}}, image, "the strides are [1 0]; they must be at least 1")
	nntest.Refuses(t, nn.Conv2D{Out: 2, Kernel: one, Dilation: [2]int{1, 0}}, image, "the dilation is [1 0]; its numbers must be at least 1 and at most 4096")
	nntest.Refuses(t, nn.Conv2D{Out: 2, Kernel: [2]int{3, 3}, Dilation: [2]int{2, 1}}, image, "the window of 5×3 is larger than the image of 4×5")
	nntest.Refuses(t, nn.Conv2D{Out: 2, Kernel: one, Groups: 2}, image, "2 groups of 3 input and 2 output channels; both must be multiples of the number of groups")
	nntest.Refuses(t, nn.Conv2D{Out: 2, Kernel: one, Groups: -1}, image, "there are -1 groups; there must be at least 1")
	nntest.Refuses(t, nn.ConvTranspose2D{Kernel: one}, image, "0 output channels; a convolution needs at least 1")
	nntest.Refuses(t, nn.ConvTranspose2D{Out: 1, Kernel: one, Pad: [4]int{1}}, image, "[1 0 0 0] cells of the output are cut off (above, left, below, right); each number must be at least 0 and less than the window, which is 1×1")
	nntest.Refuses(t, nn.ConvTranspose2D{Out: 1, Kernel: one, Stride: 2, OutputPad: [2]int{2, 0}}, image, "OutputPad is [2 0]; its numbers must be at least 0 and less than the stride, 2")
	nntest.Refuses(t, nn.ConvTranspose2D{Out: 1, Kernel: [2]int{2, 2}, Pad: [4]int{1, 0, 1}}, nn.Shape{H: 1, W: 1, C: 1}, "a side of the output would be 0 cells")
	nntest.Refuses(t, nn.ConvTranspose2D{Out: 1, Kernel: one, Stride: 1 << 20}, nn.Shape{H: 3, W: 16, C: 1}, "the output would have 2097153×15728641 places; at most 16777216 are allowed")
	nntest.Refuses(t, nn.ConvTranspose1D{Out: 1, Kernel: 2}, image, "the input 4×5×3 has height 4; a ConvTranspose1D needs height 1, use ConvTranspose2D for images")
}
