package net

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"utvi/internal/locate/fit"
	"utvi/internal/locate/scene"
)

// frame fits a frame and returns its emitters.
func frame(t *testing.T, number int) (*fit.Fitter, []fit.Found) {
	t.Helper()
	s := scene.Standard()
	counts := make([]float32, s.Width*s.Height)
	s.Frame(number, counts, nil)
	s.Camera.Alike().Quanta(counts)
	f := fit.New(s.Width, s.Height, []float64{s.Camera.ReadVariance()}, fit.Settings{Sigma: 1.088})
	return f, f.Frame(counts, nil)
}

// Each symmetry moves the pixels of a window as it moves a vector, and is undone by its inverse.
func TestTurn(t *testing.T) {
	row := make([]float32, Inputs)
	for s := range Symmetries {
		const i, j = 2, 7
		clear(row)
		row[i*Side+j] = 1
		x, y := float32(j-Side/2), float32(i-Side/2)
		row[numbers+inX] = x
		row[numbers+inY] = y
		row[numbers+inJointX] = 5
		row[numbers+inCorrelation] = x * y
		out := make([]float32, Inputs)
		Turn(row, out, s)
		TurnPair(&x, &y, s)
		if at := (int(y)+Side/2)*Side + int(x) + Side/2; out[at] != 1 {
			t.Errorf("symmetry %d: the pixel is not at %v, %v", s, x, y)
		}
		joint := inJointX
		if s&4 != 0 {
			joint = inJointY
		}
		if out[numbers+inX] != x || out[numbers+inY] != y || out[numbers+inCorrelation] != x*y || out[numbers+joint] != 5 {
			t.Errorf("symmetry %d: numbers %v, want %v, %v", s, out[numbers:], x, y)
		}
	}
}

// The network inside the program loads, corrects without allocations, and gives the same whatever stands
// beside a row; frames turned round are corrected nearly alike.
func TestDefault(t *testing.T) {
	n, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	f, all := frame(t, 3)
	c := n.NewCorrector()
	out, again := make([]Correction, len(all)), make([]Correction, len(all))
	c.Correct(f, all, out)
	for i := range all {
		c.Correct(f, all[i:i+1], again[i:])
		if out[i] != again[i] {
			t.Fatalf("emitter %d alone: %+v, among others %+v", i, again[i], out[i])
		}
		if o := out[i]; !(o.SX > 0.01 && o.SX <= 3 && o.Probability > 0 && math.Abs(o.X) < 2) {
			t.Errorf("emitter %d: %+v", i, o)
		}
	}
	if n := testing.AllocsPerRun(3, func() { c.Correct(f, all, out) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// What lies outside the training is marked.
func TestOutside(t *testing.T) {
	n, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	f, all := frame(t, 3)
	c := n.NewCorrector()
	out := make([]Correction, 1)
	usual := all[0]
	for k := range all {
		if all[k].Near == 0 {
			usual = all[k]
		}
	}
	c.Correct(f, []fit.Found{usual}, out)
	if out[0].Outside {
		t.Errorf("%+v is marked", usual)
	}
	bright := usual
	bright.N *= 1e4
	c.Correct(f, []fit.Found{bright}, out)
	if !out[0].Outside {
		t.Errorf("%g quanta are not marked", bright.N)
	}
}

// Between its points, the scale runs straight; beyond them it stays.
func TestScale(t *testing.T) {
	s := Scale{At: [2][]float64{{0, 1}, nil}, Times: [2][]float64{{2, 4}, nil}}
	for widening, want := range map[float64]float64{-3: 2, 0: 2, 0.5: 3, 1: 4, 9: 4} {
		v := math.Exp(2 * widening)
		if got := s.Of(0, v, v); math.Abs(got-want) > 1e-9 {
			t.Errorf("at %v: %v, want %v", widening, got, want)
		}
	}
	if s.Of(3, 1, 1) != 1 {
		t.Error("without points, the scale is not 1")
	}
}

func TestOpenRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "net.utvi")
	if err := os.WriteFile(path, []byte("no model at all, but text"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
}
