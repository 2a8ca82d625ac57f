package vision

import (
	"context"
	"math"
	"slices"
	"testing"

	"utvi/internal/tabular"
	"utvi/nn"
	"utvi/rng"
)

// blobs are images of a bright square whose brightness and place are the targets.
type blobs struct{ n int }

func (b blobs) Len() int                     { return b.n }
func (blobs) Shape() nn.Shape                { return nn.Shape{H: 8, W: 8, C: 1} }
func (blobs) Err() error                     { return nil }
func (blobs) Spans() (least, most []float32) { return []float32{-3}, []float32{3} }
func (blobs) at(i int) (right int, mean float64) {
	key := rng.New(3).Sub(uint64(i), 0)
	return int(6 * rng.Uniform(key, 0)), 2*rng.Uniform(key, 1) - 1
}

func (b blobs) Read(i int, dst []float32) {
	right, _ := b.at(i)
	key := rng.New(3).Sub(uint64(i), 1)
	for k := range dst {
		dst[k] = float32(0.3*rng.Normal(key, uint64(k))) - 1
		if x := k % 8; k/8 > 2 && k/8 < 6 && x >= right && x < right+3 {
			dst[k] += 2
		}
	}
}

func blobData(n int) Data {
	d := Data{Images: blobs{n}, Targets: 2}
	for i := range n {
		right, other := blobs{}.at(i)
		d.Y = append(d.Y, float32(right)/1.7-1.5, float32(other))
	}
	return d
}

// Two numbers of an image are learned, each with its own error bar: one that can be seen, one that
// cannot. Every image in two is worn by default.
func TestNumbers(t *testing.T) {
	d := blobData(500)
	c := Config{Seed: 3, Network: tabular.Config{Steps: 150, Ensemble: 1, Width: 6, Batch: 32}}
	r, err := Fit(context.Background(), c, d, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Temperature != nil || r.Classes != 0 || len(r.Residuals) != 2 || len(r.Report.Trials) != len(forNumbers) {
		t.Fatalf("%+v", r.Report)
	}
	if a := r.Report.Members[0].Augment; a != "wear" { // the others move what the target is
		t.Errorf("augmentation %s is chosen", a)
	}
	x := (&run{data: d}).sample([]int32{0, 1, 2, 3, 4, 5, 6, 7}).x
	p := r.NewPredictor(nil, 8).Predict(x)
	for i := range 8 {
		place, hidden := math.Sqrt(float64(p.Var[2*i])), math.Sqrt(float64(p.Var[2*i+1]))
		if place > 0.5 || hidden < 0.4 || hidden > 0.9 {
			t.Errorf("image %d: the errors are %v and %v; a place can be seen, noise of 0.58 cannot", i, place, hidden)
		}
		if e := math.Abs(float64(p.Mean[2*i] - d.Y[2*i])); e > 5*place {
			t.Errorf("image %d: the place is off by %v, with an error bar of %v", i, e, place)
		}
	}
}

// Wear blurs, adds noise and changes the contrast, of the share of images that it should; numbers stay
// between black and white; and a blur keeps the mean of what lies in the middle.
func TestWear(t *testing.T) {
	const side = 15
	e := easel{Augment: Augment{Wear: 0.5}, height: side, width: side, channels: 1, spans: []span{{-1, 1}}}
	src := make([]float32, side*side)
	src[7*side+7] = 1
	was := slices.Clone(src)
	dst := make([]float32, len(src))
	changed := 0
	for i := range 200 {
		copy(src, was)
		e.paint(dst, src, rng.New(8), uint64(i))
		if !slices.Equal(dst, was) {
			changed++
		}
		if slices.Min(dst) < -1 || slices.Max(dst) > 1 {
			t.Fatal("a number lies beyond black or white")
		}
	}
	if changed < 70 || changed > 130 {
		t.Errorf("%d of 200 images are worn; half of them should be", changed)
	}
	copy(dst, was)
	e.blur(dst, src, 1.5)
	var sum, square float64
	for i, v := range dst {
		sum += float64(v)
		square += float64(v) * math.Pow(float64(i%side-7), 2)
	}
	if math.Abs(sum-1) > 1e-5 || math.Abs(square-1.5*1.5) > 0.05 || dst[7*side+6] != dst[8*side+7] {
		t.Errorf("a dot becomes %v in all, of variance %v across, %v beside and %v below", sum, square, dst[7*side+6], dst[8*side+7])
	}
}
