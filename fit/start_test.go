package fit

import (
	"slices"
	"strings"
	"testing"

	"utvi/model"
	"utvi/nn"
)

func TestNormalisation(t *testing.T) {
	for _, x := range []struct {
		text     string
		channels int
		mean, sd []float64
		says     string
	}{
		{"", 1, []float64{0}, []float64{1}, ""},
		{"0.5:0.25", 3, []float64{0.5, 0.5, 0.5}, []float64{0.25, 0.25, 0.25}, ""},
		{"imagenet", 3, []float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}, ""},
		{"imagenet", 1, nil, nil, "normalise has 3 numbers for 1 channels"},
		{"0.5", 1, nil, nil, `normalise is "0.5"; it is imagenet, or a mean`},
		{"a:b", 1, nil, nil, `normalise is "a:b"`},
	} {
		mean, sd, err := normalisation(x.text, x.channels)
		if x.says != "" {
			if err == nil || !strings.Contains(err.Error(), x.says) {
				t.Errorf("%q: %v, want %s", x.text, err, x.says)
			}
			continue
		}
		if err != nil || !slices.Equal(mean, x.mean) || !slices.Equal(sd, x.sd) {
			t.Errorf("%q: %v %v %v", x.text, mean, sd, err)
		}
	}
}

// The images are as large as the network to start from takes them.
func TestFormatFor(t *testing.T) {
	take := func(in nn.Shape) *model.Model { return &model.Model{Config: model.Config{Input: in}} }
	for _, x := range []struct {
		in   nn.Shape
		c    ImageConfig
		want [3]int
		says string
	}{
		{nn.Shape{H: 20, W: 30, C: 3}, ImageConfig{}, [3]int{20, 30, 3}, ""},
		{nn.Vec(784), ImageConfig{}, [3]int{28, 28, 1}, ""},
		{nn.Vec(600), ImageConfig{Size: []int{20, 30}}, [3]int{20, 30, 1}, ""},
		{nn.Vec(600), ImageConfig{From: "net.onnx"}, [3]int{}, "net.onnx takes 600 numbers in a row, which are no square image"},
		{nn.Shape{H: 20, W: 30, C: 3}, ImageConfig{From: "net.onnx", Size: []int{20}}, [3]int{}, "takes images of 20 × 30 pixels; the size is [20]"},
		{nn.Shape{H: 20, W: 30, C: 2}, ImageConfig{}, [3]int{}, "images of 2 channels"},
		{nn.Vec(784), ImageConfig{Normalise: "0:0"}, [3]int{}, "the scale of a channel"},
	} {
		f, err := x.c.formatFor(take(x.in))
		if x.says != "" {
			if err == nil || !strings.Contains(err.Error(), x.says) {
				t.Errorf("%v: %v, want %s", x.in, err, x.says)
			}
		} else if got := [3]int{f.Height, f.Width, f.Channels}; err != nil || got != x.want {
			t.Errorf("%v: %v %v", x.in, got, err)
		}
	}
}
