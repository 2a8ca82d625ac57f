package vision

import (
	"context"
	"math"
	"slices"
	"testing"

	"utvi/gauss"
	"utvi/internal/tabular"
	"utvi/nn"
	"utvi/rng"
)

// shades are images of 8 × 10 pixels: a bright half, left or right, on noise that grows downwards.
type shades struct {
	n     int
	clean bool
	class bool
}

func (s shades) Len() int                     { return s.n }
func (shades) Shape() nn.Shape                { return nn.Shape{H: 8, W: 10, C: 1} }
func (shades) Err() error                     { return nil }
func (shades) Spans() (least, most []float32) { return nil, nil }

func (s shades) Read(i int, dst []float32) {
	key := rng.New(5).Sub(uint64(i), 0)
	edge := 2 + int(6*rng.Uniform(key, 99))
	for k := range dst {
		dst[k] = 0
		if k%10 >= edge {
			dst[k] = 1
		}
		if !s.class {
			dst[k] = 2*dst[k] - 1
		}
		if !s.clean {
			dst[k] += float32(rng.Normal(key, uint64(k)) * 0.1 * float64(1+k/10))
		}
	}
}

// Numbers and classes of pixels are learned; the curve makes nine of ten intervals hold, where σ is small
// and where it is large; same seed, same bits.
func TestPixels(t *testing.T) {
	c := Config{Seed: 3, Augment: "mirror", Network: tabular.Config{Steps: 80, Ensemble: 1, Width: 4, Batch: 16}}
	numbers := Data{Images: shades{n: 160}, Maps: shades{n: 160, clean: true}}
	r, err := Fit(context.Background(), c, numbers, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Network.Parallel = 1
	again, err := Fit(context.Background(), c, numbers, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(weights(r), weights(again)) || r.Curve == nil || !slices.Equal(r.Curve.Log, again.Curve.Log) {
		t.Error("the same seed gives other bits")
	}
	if r.Report.Score < -0.7 { // 1.4 is lost by who knows nothing
		t.Errorf("the score is %v nats per pixel", r.Report.Score)
	}
	classes := Data{Images: shades{n: 160}, Maps: shades{n: 160, clean: true, class: true}, Classes: 2}
	c.Augment = "shift"
	r, err = Fit(context.Background(), c, classes, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Temperature == nil || r.Report.Score < -0.4 {
		t.Errorf("temperature %v, score %v", r.Temperature, r.Report.Score)
	}
}

// What moves an image moves the targets of its pixels; what lights it leaves them.
func TestTargetsMove(t *testing.T) {
	d := Data{Images: shades{n: 20}, Maps: shades{n: 20}, Targets: 80}
	x := gauss.Batch[float32]{Rows: 8, Width: 80, Mean: make([]float32, 8*80)}
	y := make([]float32, 8*80)
	fill := func(a Augment, d Data) {
		s, err := newSource(d, a, 8)
		if err != nil {
			t.Fatal(err)
		}
		s.Begin(rng.New(1), 3, 8)
		s.Fill(0, 5, x, y)
		s.Fill(5, 8, x.Slice(5, 8), y[5*80:])
	}
	still := slices.Clone(y)
	fill(Augment{}, d)
	copy(still, x.Mean)
	fill(Augment{Flip: true, Shift: 0.2, Rotate: 10, Zoom: 0.1}, d)
	if !slices.Equal(x.Mean, y) || slices.Equal(x.Mean, still) {
		t.Error("targets do not move as their images")
	}
	fill(Augment{Light: 0.5, Wear: 1}, d)
	if !slices.Equal(y, still) || slices.Equal(x.Mean, still) {
		t.Error("targets change with the light of their images")
	}
	d.Classes = 2
	d.Maps = shades{n: 20, clean: true, class: true}
	fill(Augment{Rotate: 20, Zoom: 0.2}, d)
	for _, v := range y {
		if v != 0 && v != 1 {
			t.Fatalf("a class became %v", v)
		}
	}
}

// The curve makes nine of ten errors lie within 1.645 standard deviations in each part of them.
func TestFitCurve(t *testing.T) {
	key := rng.New(7)
	var all []Pixel
	for i := range 40_000 {
		v := 4*rng.Uniform(key.Sub(1, 0), uint64(i)) - 2
		wrong := math.Exp(0.5*v*v/2) * 0.3 // too wide by a factor that depends on the variance
		all = append(all, Pixel{v, wrong * math.Exp(v/2) * float64(rng.Normal(key.Sub(2, 0), uint64(i)))})
	}
	c := FitCurve(all)
	var in, n [4]float64
	for _, p := range all {
		part := min(int(p.LogVar+2), 3)
		n[part]++
		if math.Abs(p.Err) <= normal90*math.Exp((p.LogVar+c.LogFactor(0, p.LogVar))/2) {
			in[part]++
		}
	}
	for i := range n {
		if share := in[i] / n[i]; math.Abs(share-0.9) > 0.02 {
			t.Errorf("part %d: %v of the errors lie within", i, share)
		}
	}
	if FitCurve(all[:100]) != nil {
		t.Error("a hundred pixels make a curve")
	}
}
