package vision

import (
	"slices"
	"testing"

	"utvi/gauss"
	"utvi/model"
	"utvi/nn"
)

// A graph with its channels behind is read as one of width × channels × height, and gets images as they are.
func TestUpright(t *testing.T) {
	const h, w, c = 5, 7, 3
	n, err := model.New(model.Config{Input: nn.Shape{H: w, W: c, C: h}, Layers: nn.Chain{nn.Dense{Out: 4}}, Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	up, err := Upright(n)
	if err != nil || up.Config.Input != (nn.Shape{H: h, W: w, C: c}) {
		t.Fatal(up, err)
	}
	image := make([]float32, h*w*c)
	turned := make([]float32, h*w*c)
	for y := range h {
		for x := range w {
			for k := range c {
				v := float32(y*100 + x*10 + k)
				image[(y*w+x)*c+k] = v
				turned[(x*c+k)*h+y] = v
			}
		}
	}
	want := n.NewPredictor(1).Predict(gauss.Fixed(len(image), turned)).Mean
	got := up.NewPredictor(1).Predict(gauss.Fixed(len(image), image)).Mean
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if same, err := Upright(up); err != nil || same != up {
		t.Error("a network that takes images is changed", err)
	}
}
