package report

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"utvi/fn"
	"utvi/moment"
	"utvi/rng"
)

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{-1, 1, "−1.0 −0.5 0 0.5 1.0"},
		{-3.3, 3.7, "−2 0 2"},
		{0, 40, "0 10 20 30 40"},
		{0.101, 0.119, "0.105 0.110 0.115"},
	} {
		got := ""
		for i, k := range (ticks{}).Ticks(c.lo, c.hi) {
			if i > 0 {
				got += " "
			}
			got += k.Label
		}
		if got != c.want {
			t.Errorf("ticks of [%g, %g] are %q, want %q", c.lo, c.hi, got, c.want)
		}
	}
}

func TestSave(t *testing.T) {
	dir := t.TempDir()
	fig := Moments{F: fn.ReLU(), Rule: moment.MonteCarlo(4), Mean: 0.2, Var: 1, Key: rng.New(1), OutMean: 0.5, OutVar: 0.4, ExactMean: 0.51, ExactVar: 0.42}
	for ext, start := range map[string]string{"svg": "<?xml", "png": "\x89PNG", "pdf": "%PDF"} {
		path := filepath.Join(dir, "f."+ext)
		if err := Save(path, fig); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) < 10_000 || !bytes.HasPrefix(b, []byte(start)) {
			t.Errorf("%s: %d bytes that begin with %q", ext, len(b), b[:5])
		}
		if ext == "png" && !manyColours(t, b) {
			t.Error("the picture is empty")
		}
	}
	if err := Save(filepath.Join(dir, "f.gif"), fig); err == nil {
		t.Error("a .gif was written")
	}
}

func manyColours(t *testing.T, b []byte) bool {
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[any]bool{}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			seen[img.At(x, y)] = true
		}
	}
	return len(seen) > 50
}

// Degenerate inputs draw too.
func TestMomentsDegenerate(t *testing.T) {
	for _, m := range []Moments{
		{F: fn.ReLU(), Rule: moment.UT(0), Mean: -5, Var: 0.1},
		{F: fn.Identity(), Rule: moment.Exact(), Mean: 3, OutMean: 3, ExactMean: 3},
		{F: fn.Exp(), Rule: moment.Linear(), Mean: 700, Var: 100, OutMean: 1e304, OutVar: 1e300, ExactMean: 1e304},
		{F: fn.Square(), Rule: moment.UT(2), Mean: 1e-200, Var: 1e-300, OutMean: 1e-300, ExactMean: 1e-300},
	} {
		var b bytes.Buffer
		if err := encode(&b, m, ".svg"); err != nil {
			t.Errorf("%s: %v", m.F.Name, err)
		}
		if bytes.Contains(b.Bytes(), []byte("NaN")) {
			t.Errorf("%s at N(%g, %g): the figure has NaN in it", m.F.Name, m.Mean, m.Var)
		}
	}
}

// Small numbers keep their sign on a logarithmic axis.
func TestPowers(t *testing.T) {
	for want, got := range map[string]string{
		"1e−4": power(10, -4), "10⁵": power(10, 5), "0.01": power(10, -2), "256": power(2, 8), "2²⁰": power(2, 20), "2.4e-04": power(2, -12),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
