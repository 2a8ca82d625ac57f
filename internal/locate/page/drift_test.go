package page

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"utvi/internal/locate"
	"utvi/internal/locate/list"
	"utvi/rng"
)

// pageOf is the page of localisations at sites, or anywhere, that drift by so many nm a frame in x and in y.
func pageOf(t *testing.T, sites int, drift float64) string {
	t.Helper()
	const frames, perFrame, pixel = 1600, 60, 100.
	s := New(list.Header{Pixel: pixel, Sigma: 1.1, Width: 64, Height: 64, Frames: frames}, 0, frames)
	var f locate.Facts
	for i := range frames {
		p := locate.Part{Frame: i}
		for k := range perFrame {
			key := rng.New(4).Sub(uint64(i), uint32(k))
			site := rng.New(5).Sub(uint64(rng.Uniform(key, 0)*float64(sites)), 1)
			if sites == 0 {
				site = key
			}
			x, y := 64*rng.Uniform(site, 3), 64*rng.Uniform(site, 4)
			p.All = append(p.All, locate.Localisation{Frame: i, X: x + (6*rng.Normal(key, 1)+drift*float64(i))/pixel, Y: y + (6*rng.Normal(key, 2)+drift*float64(i))/pixel,
				SX: 0.06, SY: 0.06, Bound: 0.06, Photons: 3000, Probability: 1})
		}
		f.Count(&p)
		s.Add(p.All)
	}
	if n := len(s.places); n > mostPlaces || n < mostPlaces/4 {
		t.Errorf("%d places are kept of %d", n, f.Found)
	}
	path := filepath.Join(t.TempDir(), "p.html")
	if err := s.Page(f).Save(path); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A page shows the drift that there was, to 5 nm, and none where none can be seen.
func TestDrift(t *testing.T) {
	const drift, frames, parts = 0.05, 1600., 20
	found := regexp.MustCompile(`Up to (\d+) nm from where it began`).FindStringSubmatch(pageOf(t, 40, drift))
	if found == nil {
		t.Fatal("the page shows no drift")
	}
	far, _ := strconv.ParseFloat(found[1], 64)
	if want := math.Sqrt2 * drift * frames * (parts - 1) / parts; math.Abs(far-want) > 5 {
		t.Errorf("%v nm, want %.0f", far, want)
	}
	if text := pageOf(t, 0, 0); !strings.Contains(text, "Whether the sample moved cannot be seen") || strings.Contains(text, "By how much the sample moved") {
		t.Error("molecules anywhere show a drift")
	}
}
