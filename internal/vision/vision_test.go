package vision

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"utvi/gauss"
	"utvi/internal/tabular"
	"utvi/nn"
	"utvi/rng"
)

// bars are images of horizontal and of vertical bars, with noise: two classes.
type bars struct{ n int }

func (b bars) Len() int                     { return b.n }
func (bars) Shape() nn.Shape                { return nn.Shape{H: 12, W: 12, C: 1} }
func (bars) Err() error                     { return nil }
func (bars) Spans() (least, most []float32) { return nil, nil }

func (bars) Read(i int, dst []float32) {
	key := rng.New(9).Sub(uint64(i), 0)
	at := int(rng.Uniform(key, 0) * 11)
	for k := range dst {
		dst[k] = float32(rng.Normal(key, uint64(k)+1))
		if along := []int{k / 12, k % 12}[i%2]; along == at || along == at+1 {
			dst[k] += 2
		}
	}
}

func barData(n int) Data {
	d := Data{Images: bars{n}, Classes: 2, Targets: 1}
	for i := range n {
		d.Y = append(d.Y, float32(i%2))
	}
	return d
}

func short() Config {
	return Config{Seed: 3, Network: tabular.Config{Steps: 60, Ensemble: 2, Width: 4, Batch: 32}}
}

// weights are all numbers of a result's networks.
func weights(r *Result) (all []float32) {
	for _, n := range r.Members.Members {
		for _, t := range n.Params.Tensors {
			all = append(append(all, t.Mean...), t.Rho...)
		}
	}
	return all
}

// Same seed, same bits: with other workers, and where a fit that was stopped goes on.
func TestFit(t *testing.T) {
	d := barData(300)
	c := short()
	want, err := Fit(context.Background(), c, d, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(want.Members.Members) != 2 || want.Temperature == nil || len(want.Report.Trials) != len(forClasses) || want.Report.Score < -0.6 {
		t.Errorf("%d members, temperature %v, report %+v", len(want.Members.Members), want.Temperature, want.Report)
	}
	dir := filepath.Join(t.TempDir(), "fit")
	ctx, cancel := context.WithCancel(context.Background())
	c.Network.Parallel = 1
	_, err = Fit(ctx, c, d, dir, func(p tabular.Progress) {
		if p.Stage == "training" && p.Training.Name == "member-1" && p.Training.Step >= 30 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("a fit that was stopped ends with %v", err)
	}
	got, err := Fit(context.Background(), c, d, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(weights(got), weights(want)) || got.Temperature.T != want.Temperature.T || got.Report.Score != want.Report.Score {
		t.Error("a fit that was stopped and continued gives other bits")
	}
	other := c
	other.Seed = 4
	if _, err := Fit(context.Background(), other, d, dir, nil); !errors.Is(err, tabular.ErrOtherFit) {
		t.Errorf("the folder of another fit is taken: %v", err)
	}
}

// A fit that is stopped in its first member has no model, but for one that has come some way.
func TestStopped(t *testing.T) {
	for at, ready := range map[int]bool{10: false, 30: true} {
		c := short()
		c.Augment = "none"
		ctx, cancel := context.WithCancel(context.Background())
		r, err := Fit(ctx, c, barData(300), "", func(p tabular.Progress) {
			if p.Training.Step >= at {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) || (r != nil) != ready {
			t.Errorf("stopped at step %d: %v, %v", at, r, err)
		}
		if r != nil && !r.Report.Partial {
			t.Error("the model does not say that its training was stopped")
		}
	}
}

// Less time: fewer members first, then shorter trainings.
func TestAllotment(t *testing.T) {
	all := allotment{3, 1000}
	for left, want := range map[time.Duration]allotment{
		4000 * time.Second: {3, 1000},
		2500 * time.Second: {2, 1000},
		1000 * time.Second: {1, 900},
		10 * time.Second:   {1, fewestSteps},
	} {
		if got := all.within(left, time.Second); got != want {
			t.Errorf("in %v: %v, want %v", left, got, want)
		}
	}
}

// A way to augment that mirrors must not win where left and right are the classes; nor is one
// that does nothing different from the images.
func TestEasel(t *testing.T) {
	const side = 9
	src := make([]float32, side*side*2)
	for i := range src {
		src[i] = float32(i%2*100 + i/2)
	}
	dst := make([]float32, len(src))
	e := easel{height: side, width: side, channels: 2}
	e.paint(dst, src, rng.New(1), 0)
	if !slices.Equal(dst, src) {
		t.Error("without changes, the image changes")
	}
	e.Augment = Augment{Flip: true}
	flipped := 0
	for i := range 100 {
		e.paint(dst, src, rng.New(1), uint64(i))
		if slices.Equal(dst, src) {
			continue
		}
		flipped++
		for y := range side {
			for x := range side {
				for c := range 2 {
					if dst[(y*side+x)*2+c] != src[(y*side+side-1-x)*2+c] {
						t.Fatal("the image is not mirrored")
					}
				}
			}
		}
	}
	if flipped < 30 || flipped > 70 {
		t.Errorf("%d of 100 images are mirrored", flipped)
	}
	e.Augment = Augment{Shift: 0.25} // two pixels
	seen := map[[2]int]bool{}
	for i := range 300 {
		e.paint(dst, src, rng.New(2), uint64(i))
		middle := int(dst[(4*side+4)*2]) - 4*side - 4
		down := int(math.Round(float64(middle) / side))
		seen[[2]int{down, middle - down*side}] = true
	}
	if len(seen) != 25 {
		t.Errorf("images move by %d different steps, want 25: %v", len(seen), seen)
	}
}

// A turned image is the linear map that it should be: a ramp stays a ramp, of the turned slope.
func TestTurn(t *testing.T) {
	const side = 21
	src := make([]float32, side*side)
	for i := range src {
		src[i] = float32(i % side)
	}
	dst := make([]float32, len(src))
	e := easel{Augment: Augment{Rotate: 20}, height: side, width: side, channels: 1}
	e.paint(dst, src, rng.New(5), 7)
	angle := 20 * math.Pi / 180 * (2*rng.Uniform(rng.New(5), 7*drawn+drawTurn) - 1)
	right := float64(dst[10*side+12] - dst[10*side+10])
	down := float64(dst[12*side+10] - dst[10*side+10])
	if math.Abs(right-2*math.Cos(angle)) > 1e-4 || math.Abs(down+2*math.Sin(angle)) > 1e-4 && math.Abs(down-2*math.Sin(angle)) > 1e-4 {
		t.Errorf("the slopes are %v and %v, the angle %v", right/2, down/2, angle)
	}
	if math.Abs(right*right+down*down-4) > 1e-3 {
		t.Errorf("the slope's length is %v, want 2", math.Hypot(right, down))
	}
}

// A batch has the bits of its step and rows, however it is filled, and no allocation.
func TestSource(t *testing.T) {
	d := barData(50)
	a, err := Augmentation("photo")
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSource(d, a, 8)
	if err != nil {
		t.Fatal(err)
	}
	whole := gauss.Batch[float32]{Rows: 8, Width: 144, Mean: make([]float32, 8*144)}
	part := gauss.Batch[float32]{Rows: 8, Width: 144, Mean: make([]float32, 8*144)}
	y := make([]float32, 8)
	s.Begin(rng.New(1), 6, 8)
	s.Fill(0, 8, whole, y)
	for lo := range 8 {
		s.Fill(lo, lo+1, part.Slice(lo, lo+1), y[lo:])
	}
	if !slices.Equal(whole.Mean, part.Mean) {
		t.Error("a batch depends on how it is filled")
	}
	s.Begin(rng.New(1), 7, 8)
	s.Fill(0, 8, part, y)
	if slices.Equal(whole.Mean, part.Mean) {
		t.Error("two steps have the same batch")
	}
	if n := testing.AllocsPerRun(20, func() { s.Fill(0, 8, part, y) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestRefused(t *testing.T) {
	for want, c := range map[string]Config{
		"choose from none, shift, photo": {Augment: "mixup"},
		"settings of tables":             {Network: tabular.Config{Bins: 5}},
	} {
		if _, err := Fit(context.Background(), c, barData(100), "", nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := Fit(context.Background(), Config{}, barData(5), "", nil); err == nil || !strings.Contains(err.Error(), "5 images") {
		t.Errorf("five images: %v", err)
	}
}
