package learn

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"utvi/internal/compute"
	"utvi/internal/locate/net"
	"utvi/train"
)

// small is a plan of a second.
func small() Plan {
	p := Usually()
	p.Scenes = 8
	p.Windows = 300
	p.Steps = 60
	p.Hidden = []int{32, 16}
	return p
}

// make makes a network and returns its file.
func makeFile(t *testing.T, p Plan) []byte {
	t.Helper()
	n, err := Make(context.Background(), p, func(int) {}, func(train.Step) {})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "net.utvi")
	if err := n.Save(path); err != nil {
		t.Fatal(err)
	}
	if _, err := net.Open(path); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The same plan makes the same file on any number of cores.
func TestSameFile(t *testing.T) {
	p := small()
	p.Workers = 1
	one := makeFile(t, p)
	p.Workers = 3
	if !bytes.Equal(one, makeFile(t, p)) {
		t.Error("three workers make another file than one")
	}
}

// The network begins with no shift and the error bars of the fit.
func TestStart(t *testing.T) {
	m, err := Defaults().network()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range m.Params.Tensors {
		if x.Name == "0.place.weight" || x.Name == "0.place.bias" {
			for _, w := range x.Mean {
				if w != 0 {
					t.Fatalf("%s starts at %v", x.Name, w)
				}
			}
		}
	}
}

// The network inside the program was trained on what utvi locate train -o default.utvi draws now: if
// this fails, the fit or the scenes have changed, and that command makes the new file. (Sums of
// numbers differ a little between kinds of processors.)
func TestDefaultIsCurrent(t *testing.T) {
	n, err := net.Default()
	if err != nil {
		t.Fatal(err)
	}
	p := Usually()
	pool := compute.NewPool(compute.Workers(0))
	defer pool.Close()
	const enough = 4 // scenes for the first thousand rows
	w, err := Draw(context.Background(), p.Optic, p.Seed, 0, enough, p.Windows, pool, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	for k, got := range begin(w) {
		if want := n.Facts.Begin[k]; math.Abs(got/want-1) > 2e-3 {
			t.Errorf("number %d: %.6f, in the file %.6f", k, got, want)
		}
	}
}
