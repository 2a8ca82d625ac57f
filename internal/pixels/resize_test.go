package pixels

import (
	"math"
	"runtime"
	"testing"
)

// A constant stays constant, a ramp stays a ramp, and halving averages with weights ¼ ½ ¼ at most.
func TestResize(t *testing.T) {
	ramp := &Image{Height: 2, Width: 8, Channels: 1}
	for range 2 {
		for x := range 8 {
			ramp.Pix = append(ramp.Pix, float32(x))
		}
	}
	half := ramp.resized(2, 4)
	for x := 1; x < 3; x++ { // away from the border
		if want := float32(2*x) + 0.5; math.Abs(float64(half.Pix[x]-want)) > 1e-6 {
			t.Errorf("pixel %d of the ramp is %v, want %v", x, half.Pix[x], want)
		}
	}
	flat := &Image{Height: 5, Width: 7, Channels: 3, Bytes: true, Pix: make([]float32, 105)}
	for i := range flat.Pix {
		flat.Pix[i] = OfByte(byte(40 * (i % 3)))
	}
	for _, size := range [][2]int{{3, 3}, {11, 2}, {5, 7}} {
		for i, v := range flat.resized(size[0], size[1]).Pix {
			if v != OfByte(byte(40*(i%3))) {
				t.Fatalf("%v: number %d is %v", size, i, v)
			}
		}
	}
}

// A low, wide image takes no more on its way to a high one than it has itself.
func TestResizeMemory(t *testing.T) {
	im := &Image{Height: 1, Width: 100_000, Channels: 1, Pix: make([]float32, 100_000)}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	im.resized(100, 1)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 10*4*100_000 {
		t.Errorf("an image of 400 kB takes %d bytes", took)
	}
}

// The middle is cut out, without stretching it.
func TestCrop(t *testing.T) {
	wide := &Image{Height: 2, Width: 6, Channels: 1, Pix: []float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}
	f := Format{Height: 2, Width: 2, Channels: 1}
	if got := f.Fit(wide).Pix; got[0] != 2 || got[1] != 3 || got[2] != 8 || got[3] != 9 {
		t.Errorf("the middle is %v", got)
	}
	f.Stretch = true
	if got := f.Fit(wide); got.Width != 2 || got.Pix[0] >= 2 {
		t.Errorf("stretched, it is %+v", got)
	}
}
