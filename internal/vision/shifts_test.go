package vision

import (
	"math"
	"slices"
	"testing"
)

// Each shift changes images in its own way, the first not at all, and keeps them between black and white.
func TestShifts(t *testing.T) {
	of := &Data{Images: blobs{4}}
	size := of.Images.Shape().Size()
	x := make([]float32, 4*size)
	for i := range 4 {
		of.Images.Read(i, x[i*size:(i+1)*size])
	}
	was := slices.Clone(x)
	spread := func(v []float32) (sd float64) {
		var mean float64
		for _, e := range v {
			mean += float64(e) / float64(len(v))
		}
		for _, e := range v {
			sd += (float64(e) - mean) * (float64(e) - mean) / float64(len(v))
		}
		return math.Sqrt(sd)
	}
	sds := map[string]float64{}
	for i, s := range Shifts {
		got := s.Apply(of, x)
		if slices.Equal(got, x) != (i == 0) || !slices.Equal(x, was) {
			t.Errorf("%s: changed: %v; the images themselves: %v", s.Name, !slices.Equal(got, x), !slices.Equal(x, was))
		}
		if slices.Min(got) < -3 || slices.Max(got) > 3 {
			t.Errorf("%s: a number lies beyond black or white", s.Name)
		}
		sds[s.Name] = spread(got)
	}
	as := sds["as they are"]
	if r := sds["half the contrast"] / as; math.Abs(r-0.5) > 1e-3 {
		t.Errorf("half the contrast is %v of it", r)
	}
	if sds["noise of 30 %"] < 1.2*as || sds["darker by 25 %"] > 1.01*as {
		t.Errorf("spreads %v", sds)
	}
}
