package locate

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"utvi/internal/compute"
	"utvi/internal/locate/camera"
	"utvi/internal/locate/frames"
	"utvi/internal/locate/net"
	"utvi/internal/locate/scene"
	"utvi/internal/locate/score"
	"utvi/rng"
)

// writeMap writes an image as .npy.
func writeMap(t *testing.T, path string, width, height int, at func(i int) float64) string {
	t.Helper()
	header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }\n", height, width)
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), 0)
	b = append(b, header...)
	for i := range width * height {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(at(i)))
	}
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// A chip whose pixels differ, one in twenty of them noisy, is located in as one whose pixels are alike, if
// maps say so: all molecules, hardly anything else, error bars that hold and are those of the noise under
// each. Without the maps the same frames show what the maps are for.
func TestPixelsThatDiffer(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	s := scene.Standard()
	s.Pattern = scene.Isolated
	s.Photons = 1000
	s.Background = 20
	s.Camera = camera.Camera{Offset: 100, Gain: 0.5, QE: 1, Read: 1.5}
	s.Seed = 8
	const wide, left, top = 50, 11, 7 // the chip, and where the frames lie on it
	key := rng.New(3)
	noisy := func(i int) bool { return rng.Uniform(key, uint64(3*i)) < 0.05 }
	maps := camera.Maps{Cut: true, X: left, Y: top,
		Offset: writeMap(t, at("offset.npy"), wide, wide, func(i int) float64 { return 100 + 6*rng.Normal(key, uint64(3*i+1)) }),
		Gain:   writeMap(t, at("gain.npy"), wide, wide, func(i int) float64 { return 0.5 * (1 + 0.05*rng.Normal(key, uint64(3*i+2))) }),
		Variance: writeMap(t, at("variance.npy"), wide, wide, func(i int) float64 {
			if noisy(i) {
				return 33 * 33
			}
			return 9
		})}
	var err error
	s.Sensor, err = maps.Sensor(s.Camera, s.Width, s.Height)
	if err != nil {
		t.Fatal(err)
	}
	const n = 150
	file, err := os.Create(at("f.tif"))
	if err != nil {
		t.Fatal(err)
	}
	pool := compute.NewPool(2)
	defer pool.Close()
	if err := s.Write(t.Context(), n, file, io.Discard, pool, func(int) {}); err != nil {
		t.Fatal(err)
	}
	file.Close()
	stack, err := frames.Open(at("f.tif"))
	if err != nil {
		t.Fatal(err)
	}
	judge := func(maps camera.Maps) (r score.Summary, bound float64, f Facts) {
		t.Helper()
		found := []Localisation{}
		var bounds []float64
		network, err := net.Default()
		if err != nil {
			t.Fatal(err)
		}
		l, err := Prepare(t.Context(), stack, Config{Camera: s.Camera, Maps: maps, Threshold: 4, Net: network, Least: 0.5})
		if err != nil {
			t.Fatal(err)
		}
		var errors []score.Error
		var all, truth int
		counts := make([]float32, s.Width*s.Height)
		err = l.Run(t.Context(), 0, n, func(p *Part) error {
			found = append(found[:0], p.All...)
			emitters := s.Frame(p.Frame, counts, nil)
			var a, b []score.Point
			for _, x := range found {
				a = append(a, score.Point{X: x.X, Y: x.Y})
				bounds = append(bounds, x.JointX)
			}
			for _, e := range emitters {
				b = append(b, score.Point{X: e.X, Y: e.Y})
			}
			all += len(a)
			truth += len(b)
			for k, j := range score.Match(a, b, 2.5) {
				if j >= 0 {
					errors = append(errors, score.Error{DX: a[k].X - b[j].X, DY: a[k].Y - b[j].Y, SX: found[k].SX, SY: found[k].SY})
				}
			}
			return nil
		}, func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		return score.Summarise(errors, all, truth), score.Median(bounds), l.Facts
	}
	with, bound, facts := judge(maps)
	without, _, _ := judge(camera.Maps{})
	// 600 molecules: the standard error of an RMSE is 2 %, that of the share of 1200 intervals 0.9 %.
	if with.Jaccard < 0.98 || math.Abs(with.RMSE/bound-1) > 0.1 || math.Abs(with.Holds-0.9) > 0.05 || math.Abs(facts.Noise-1) > 0.05 {
		t.Errorf("with maps: %+v, bound %.4f, noise %.2f", with, bound, facts.Noise)
	}
	if without.RMSE < 1.12*with.RMSE || without.Jaccard >= with.Jaccard {
		t.Errorf("without maps all is as well, so that maps were not needed: %+v", without)
	}
}

// Maps that cannot be are refused, and say where.
func TestMapsRefused(t *testing.T) {
	dir := t.TempDir()
	flat := writeMap(t, filepath.Join(dir, "flat.npy"), 8, 6, func(int) float64 { return 2 })
	bad := writeMap(t, filepath.Join(dir, "bad.npy"), 8, 6, func(i int) float64 { return 5 - float64(i) })
	c := camera.Camera{Gain: 1, QE: 1}
	for says, m := range map[string]camera.Maps{
		"has 8×6 pixels, the frames have 4×4; cut it to the region that was recorded, or say where that begins with --map-at": {Offset: flat},
		"frames of 4×4 pixels that begin at column 5, row 0 (--map-at) reach beyond it":                                       {Offset: flat, Cut: true, X: 5},
		"the gain of pixel 5, 0 is 0; it must be above 0":                                                                     {Gain: bad, Cut: true, X: 4},
		"the variance of pixel 6, 0 is -1; it must be 0 or more":                                                              {Variance: bad, Cut: true, X: 4},
		"the variance map: " + filepath.Join(dir, "no.npy"):                                                                   {Variance: filepath.Join(dir, "no.npy")},
	} {
		_, err := m.Sensor(c, 4, 4)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v; want %q", err, says)
		}
	}
	if _, err := (&camera.Maps{Offset: flat, Gain: flat, Variance: flat}).Sensor(c, 8, 6); err != nil {
		t.Error(err)
	}
	if _, err := Prepare(context.Background(), &frames.Stack{Width: 4, Height: 4, Frames: 1}, Config{Camera: c, Maps: camera.Maps{Gain: bad}}); err == nil {
		t.Error("a run with maps of another size begins")
	}
}
