package nn_test

import (
	"fmt"
	"testing"

	"utvi/fn"
	"utvi/moment"
	"utvi/nn"
	"utvi/nn/nntest"
)

func TestResize(t *testing.T) {
	in := nn.Shape{H: 3, W: 4, C: 2}
	act := nn.Apply{F: fn.Tanh(), Rule: moment.GaussHermite(5)}
	for _, l := range []nn.Layer{
		nn.Resize{Scale: 2}, nn.Resize{Size: [2]int{5, 3}}, nn.Resize{Size: [2]int{6, 2}, Bilinear: true},
		nn.Resize{Size: [2]int{1, 7}, Bilinear: true, AlignCorners: true},
		nn.Pad2D{Pad: [4]int{1, 0, 0, 2}}, nn.Pad2D{Pad: [4]int{2, 1, 0, 3}, Border: nn.Reflect}, nn.Pad2D{Pad: [4]int{0, 5, 1, 0}, Border: nn.Edge},
		nn.GlobalAvgPool{}, nn.GlobalMaxPool{},
	} {
		t.Run(fmt.Sprintf("%T%+v", l, l), func(t *testing.T) {
			nntest.Layer(t, l, in, nntest.Options{Entries: 8})
			nntest.Layer(t, correlated(act, l, nn.Dense{Out: 2}), in, nntest.Options{Entries: 4})
		})
	}
	nntest.Layer(t, nn.Resize{Scale: 2, Bilinear: true}, in, nntest.Options{Draws: 20_000, Entries: 8})
	nntest.Refuses(t, nn.Resize{}, in, "Size is [0 0] and Scale is 0; set one of them")
	nntest.Refuses(t, nn.Resize{Scale: -2}, in, "the image would be -6×-8; both sides must be at least 1, and at most 16777216 places are allowed")
	nntest.Refuses(t, nn.Resize{Size: [2]int{1 << 40, 1 << 40}}, in, "at most 16777216 places are allowed")
	nntest.Refuses(t, nn.Resize{Scale: 2, AlignCorners: true}, in, "AlignCorners belongs to Bilinear, which is not set")
	nntest.Refuses(t, nn.Pad2D{Pad: [4]int{0, -1}}, in, "the image is padded by [0 -1 0 0] cells (above, left, below, right); each number must be at least 0 and, for an image of 3×4, at most 4096")
	nntest.Refuses(t, nn.Pad2D{Pad: [4]int{3}, Border: nn.Reflect}, in, "at most 2")
	nntest.Refuses(t, nn.Pad2D{Border: "wrap"}, in, `the border is "wrap"; it must be "zeros", "edge" or "reflect"`)
}

// What PyTorch's interpolate and pad give for the line 1, 2, 4.
func TestResizeByHand(t *testing.T) {
	for _, c := range []struct {
		l    nn.Layer
		want string
	}{
		{nn.Resize{Size: [2]int{1, 5}}, "[1 1 2 2 4]"},
		{nn.Resize{Size: [2]int{1, 6}, Bilinear: true}, "[1 1.25 1.75 2.5 3.5 4]"},
		{nn.Resize{Size: [2]int{1, 5}, Bilinear: true, AlignCorners: true}, "[1 1.5 2 3 4]"},
		{nn.Pad2D{Pad: [4]int{0, 2, 0, 1}}, "[0 0 1 2 4 0]"},
		{nn.Pad2D{Pad: [4]int{0, 2, 0, 1}, Border: nn.Reflect}, "[4 2 1 2 4 2]"},
		{nn.Pad2D{Pad: [4]int{0, 2, 0, 1}, Border: nn.Edge}, "[1 1 1 2 4 4]"},
	} {
		out := pushShape(c.l, nn.Shape{H: 1, W: 3, C: 1}, []float64{1, 2, 4}, []float64{1, 1, 1})
		if got := fmt.Sprint(out.Mean); got != c.want {
			t.Errorf("%T%+v gives %s, want %s", c.l, c.l, got, c.want)
		}
	}
	// The average over copies of a cell has its variance, if their correlation is carried.
	mean, variance := waves(6, 0.3)
	beatsIndependence(t, nn.Chain{nn.Resize{Scale: 2, Bilinear: true}, nn.AvgPool2D{Size: [2]int{2, 2}}, nn.Dense{Out: 2}}, nn.Shape{H: 2, W: 3, C: 1}, 0.01, 0.03, mean, variance)
}
