package nn_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"utvi/gauss"
	"utvi/nn"
	"utvi/nn/nntest"
	"utvi/vi"
)

// bound binds a layer in float64 with room for one row.
func bound(t *testing.T, l nn.Layer, in nn.Shape, fixed bool) (nn.Unit[float64], nn.Runner[float64], *vi.Params[float64]) {
	t.Helper()
	b := &nn.Binder[float64]{Params: &vi.Params[float64]{}, In: in, Name: "layer", Fixed: fixed}
	if !fixed {
		b.Form = nn.Independent
	}
	u, err := nn.Bind(l, b)
	if err != nil {
		t.Fatal(err)
	}
	b.Params.Alloc()
	return u, u.NewRunner(1, false), b.Params
}

func prepare(u nn.Unit[float64], r nn.Runner[float64]) {
	for i := range u.PrepareTiles() {
		r.Prepare(i)
	}
}

func TestConv2D(t *testing.T) {
	for _, c := range []struct {
		l  nn.Conv2D
		in nn.Shape
	}{
		{nn.Conv2D{Out: 8, Kernel: [2]int{3, 3}}, nn.Shape{H: 8, W: 8, C: 1}},
		{nn.Conv2D{Out: 5, Kernel: [2]int{2, 3}}, nn.Shape{H: 5, W: 7, C: 3}},
		{nn.Conv2D{Out: 5, Kernel: [2]int{2, 3}, Padding: nn.Same}, nn.Shape{H: 5, W: 4, C: 3}},
		{nn.Conv2D{Out: 3, Kernel: [2]int{3, 2}, Stride: 2}, nn.Shape{H: 6, W: 7, C: 2}},
		{nn.Conv2D{Out: 3, Kernel: [2]int{3, 3}, Stride: 2, Padding: nn.Same}, nn.Shape{H: 5, W: 6, C: 1}},
		{nn.Conv2D{Out: 2, Kernel: [2]int{2, 1}, Stride: 3}, nn.Shape{H: 6, W: 7, C: 2}}, // cells that no window sees
		{nn.Conv2D{Out: 4, Kernel: [2]int{1, 1}}, nn.Shape{H: 3, W: 5, C: 1}},
		{nn.Conv2D{Out: 3, Kernel: [2]int{3, 3}, Stride: 2, Pad: [4]int{1, 1, 1, 1}}, nn.Shape{H: 4, W: 6, C: 2}},
		{nn.Conv2D{Out: 2, Kernel: [2]int{2, 4}, Pad: [4]int{0, 3, 1, 0}}, nn.Shape{H: 1, W: 2, C: 1}},
		{nn.Conv2D{Out: 17, Kernel: [2]int{3, 8}, Pad: [4]int{2, 5, 0, 1}}, nn.Shape{H: 3, W: 15, C: 8}},
		{nn.Conv2D{Out: 7, Kernel: [2]int{1, 1}, Stride: 2}, nn.Shape{H: 3, W: 4, C: 3}},
		{nn.Conv2D{Out: 6, Kernel: [2]int{4, 3}}, nn.Shape{H: 4, W: 3, C: 3}}, // as large as the image
		{nn.Conv2D{Out: 2, Kernel: [2]int{5, 7}, Padding: nn.Same}, nn.Shape{H: 3, W: 2, C: 1}},
		{nn.Conv2D{Out: 4, Kernel: [2]int{2, 2}, Fixed: true}, nn.Shape{H: 3, W: 4, C: 3}},
		{nn.Conv2D{Out: 4, Kernel: [2]int{2, 2}, NoBias: true}, nn.Shape{H: 3, W: 4, C: 1}},
		{nn.Conv2D{Out: 17, Kernel: [2]int{2, 8}}, nn.Shape{H: 3, W: 15, C: 8}}, // from here on too large for patches
		{nn.Conv2D{Out: 18, Kernel: [2]int{2, 6}, Stride: 2, Padding: nn.Same, Fixed: true}, nn.Shape{H: 3, W: 15, C: 11}},
	} {
		t.Run(fmt.Sprintf("%v to %+v", c.in, c.l), func(t *testing.T) { nntest.Layer(t, c.l, c.in, nntest.Options{}) })
	}
}

func TestConvDrawn(t *testing.T) {
	o := nntest.Options{Draws: 20_000}
	nntest.Layer(t, nn.Conv2D{Out: 3, Kernel: [2]int{3, 2}, Padding: nn.Same}, nn.Shape{H: 4, W: 3, C: 2}, o)
	nntest.Layer(t, nn.Conv2D{Out: 2, Kernel: [2]int{2, 2}, Stride: 2}, nn.Shape{H: 5, W: 4, C: 1}, o)
}

func TestConv1D(t *testing.T) {
	nntest.Layer(t, nn.Conv1D{Out: 5, Kernel: 3}, nn.Shape{H: 1, W: 9, C: 2}, nntest.Options{Draws: 20_000})
	nntest.Layer(t, nn.Conv1D{Out: 3, Kernel: 4, Stride: 2, Padding: nn.Same}, nn.Shape{H: 1, W: 11, C: 1}, nntest.Options{})
}

func TestConvRefuses(t *testing.T) {
	image := nn.Shape{H: 4, W: 5, C: 3}
	nntest.Refuses(t, nn.Conv2D{Kernel: [2]int{1, 1}}, image, "0 output channels; a convolution needs at least 1")
	nntest.Refuses(t, nn.Conv2D{Out: 1}, image, "the window is 0×0; both sides must be at least 1")
	nntest.Refuses(t, nn.Conv2D{Out: 1, Kernel: [2]int{5, 5}}, image, "the window of 5×5 is larger than the image of 4×5")
	nntest.Refuses(t, nn.Conv1D{Out: 1, Kernel: 3}, nn.Vec(8), "the window of 1×3 is larger than the image of 1×1: for images, set the Input of the network to nn.Shape{H, W, C}")
	nntest.Refuses(t, nn.Conv2D{Out: 1, Kernel: [2]int{1, 1}, Stride: -2}, image, "the stride is -2; it must be at least 1")
	nntest.Refuses(t, nn.Conv2D{Out: 1, Kernel: [2]int{1, 1}, Padding: "full"}, image, `the padding is "full"; it must be "valid" or "same"`)
	nntest.Refuses(t, nn.Conv2D{Out: 1, Kernel: [2]int{2, 2}, Padding: nn.Same, Pad: [4]int{1}}, image, `the padding is "same", and Pad is [1 0 0 0]; set one of them`)
	nntest.Refuses(t, nn.Conv2D{Out: 1 << 40, Kernel: [2]int{1 << 30, 1 << 30}, Padding: nn.Same}, image, "1073741824 × 1073741824 × 3 × 1099511627776 weights; a layer may have at most 2147483648")
	nntest.Refuses(t, nn.Conv1D{Out: 1, Kernel: 2}, image, "the input 4×5×3 has height 4; a Conv1D needs height 1, use Conv2D for images")
}

// A stride beyond the image has one place, however far it goes.
func TestConvStrideBeyondImage(t *testing.T) {
	at := func(stride int) gauss.Batch[float64] {
		u, r, _ := bound(t, nn.Conv2D{Out: 2, Kernel: [2]int{2, 3}, Stride: stride}, nn.Shape{H: 3, W: 4, C: 1}, false)
		prepare(u, r)
		p := nn.Pass[float64]{In: gauss.Fixed(12, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}), Out: gauss.New[float64](1, 2)}
		r.Forward(&p)
		return p.Out
	}
	if far, near := at(math.MaxInt), at(4); !slices.Equal(far.Mean, near.Mean) || !slices.Equal(far.Var, near.Var) {
		t.Errorf("%v, want %v", far, near)
	}
}

// Zeros surround the image, one more after it than before where their number is
// odd; the kernel is not mirrored.
func TestConvSame(t *testing.T) {
	u, r, params := bound(t, nn.Conv1D{Out: 1, Kernel: 4, Padding: nn.Same, Fixed: true, NoBias: true}, nn.Shape{H: 1, W: 3, C: 1}, false)
	copy(params.Tensors[0].Mean, []float64{1, 10, 100, 1000})
	prepare(u, r)
	out := gauss.Fixed(3, make([]float64, 3))
	r.Forward(&nn.Pass[float64]{In: gauss.Fixed(3, []float64{1, 2, 3}), Out: out})
	if got, want := fmt.Sprint(out.Mean), "[3210 321 32]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
