package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"testing"

	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/localization"
	"utvi/internal/modelfile"
	"utvi/internal/safetensors"
	"utvi/likelihood"
	"utvi/moment"
	"utvi/nn"
)

// resum gives a file the checksum it needs, so that changes reach what is
// behind it.
func resum(file []byte) []byte {
	const begin = `{"__metadata__":{"checksum":"sha256:`
	at := 8 + len(begin)
	if len(file) < at+64 || !strings.HasPrefix(string(file[8:]), begin) {
		return file
	}
	b := bytes.Clone(file)
	copy(b[at:at+64], strings.Repeat("0", 64))
	sum := sha256.Sum256(b)
	hex.Encode(b[at:], sum[:])
	return b
}

// tiny are networks that between them have every kind of layer.
func tiny(t testing.TB) []*Model {
	t.Helper()
	slope := nn.Stochastic{Name: "slope", F: func(x, theta float64) float64 { return x * theta }, PerUnit: true}
	var nets []*Model
	for _, c := range []Config{
		{Input: nn.Vec(2), Layers: nn.Chain{nn.Dense{Out: 2}, nn.Apply{F: fn.Tanh()}, nn.Scale{}}},
		{Input: nn.Shape{H: 3, W: 3, C: 1}, Layers: nn.Chain{nn.Conv2D{Out: 1, Kernel: [2]int{2, 2}}, nn.AvgPool2D{Size: [2]int{2, 2}}, nn.Flatten{}, nn.Noise{}}},
		{Input: nn.Shape{H: 1, W: 4, C: 1}, Layers: nn.Chain{nn.Conv1D{Out: 1, Kernel: 2}, nn.MaxPool2D{Size: [2]int{1, 2}, Stride: 1}, nn.Dropout{P: 0.5}, nn.LayerNorm{}}},
		{Input: nn.Vec(3), Layers: nn.Chain{nn.BatchNorm{Mean: []float64{1, 2, 3}, Var: []float64{1, 1, 1}}, nn.Residual{Branch: nn.Dense{Out: 3}},
			nn.Joint{Map: fn.Softmax()}, slope, nn.Conditional{Target: 2, Given: []int{0, 1}, Location: localization.PhotonNode(9, 1, 8)}}},
		{Input: nn.Vec(1), Layers: nn.Chain{nn.Apply{F: &moment.Func{Name: "user", F: func(x float64) float64 { return x }}, Rule: moment.LearnedUT(1)}}},
	} {
		n, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		nets = append(nets, n)
	}
	nets[0].Likelihood = likelihood.Weighted{Of: likelihood.Normal{Floor: 1e-9}}
	nets[0].Facts = Facts{Rows: 3, More: map[string]string{"a": "b"}}
	return nets
}

// tinyOptions bring the functions of tiny.
var tinyOptions = []Option{
	WithFunc(&moment.Func{Name: "user", F: func(x float64) float64 { return x }}),
	WithStochastic(nn.Stochastic{Name: "slope", F: func(x, theta float64) float64 { return x * theta }}),
	WithMaps(localization.Family, localization.FromNumbers),
}

func allocated(f func()) uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	before := s[0].Value.Uint64()
	f()
	metrics.Read(s)
	return s[0].Value.Uint64() - before
}

// tinyFiles are their files.
func tinyFiles(t testing.TB) [][]byte {
	t.Helper()
	var files [][]byte
	path := filepath.Join(t.TempDir(), "m")
	for _, n := range tiny(t) {
		if err := n.Save(path); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, b)
	}
	return files
}

// Whatever the bytes, with a checksum that matches: see loaded.
func FuzzLoad(f *testing.F) {
	for _, b := range tinyFiles(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		b = resum(b)
		loaded(t, len(b), func() (*Model, error) { return decodeBytes(b) })
	})
}

// Whatever the description of sound tensors: see loaded.
func FuzzDescription(f *testing.F) {
	var files []*safetensors.File
	for i, b := range tinyFiles(f) {
		file, err := safetensors.Read(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			f.Fatal(err)
		}
		files = append(files, file)
		f.Add(uint8(i), file.Metadata["utvi.model"])
	}
	f.Fuzz(func(t *testing.T, i uint8, text string) {
		file := &modelfile.File{File: safetensors.File{HasChecksum: true, Tensors: files[int(i)%len(files)].Tensors, Metadata: map[string]string{"utvi.model": text}}}
		loaded(t, len(text), func() (*Model, error) { return decode[float32](file, tinyOptions) })
	})
}

// loaded checks that loading gives an error of one line, or a model that can be
// saved and predicts, and takes no memory out of proportion.
func loaded(t *testing.T, size int, load func() (*Model, error)) {
	var n *Model
	var err error
	if used, limit := allocated(func() { n, err = load() }), uint64(1<<20+1000*size); used > limit {
		t.Errorf("%d bytes take %d bytes of memory", size, used)
	}
	if err != nil {
		if n != nil || strings.Contains(err.Error(), "\n") || len(err.Error()) > 3000 {
			t.Errorf("%v and %q", n, err)
		}
		return
	}
	if _, err := n.describe(&modelfile.File{}, ""); err != nil {
		t.Fatalf("it was loaded but cannot be saved: %v", err)
	}
	if n.Inputs() < 64 && n.Outputs() < 64 {
		n.NewPredictor(1).Predict(gauss.New[float32](1, n.Inputs()))
	}
}

func decodeBytes(b []byte) (*Model, error) {
	f, err := modelfile.Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	return decode[float32](f, tinyOptions)
}

// The fuzzing must reach what is behind the checksum.
func TestResum(t *testing.T) {
	b := tinyFiles(t)[0]
	header := binary.LittleEndian.Uint64(b)
	b[8+header+3] ^= 1 // the first weight's sign or exponent
	if _, err := decodeBytes(b); err == nil {
		t.Error("a changed weight was not noticed")
	}
	if _, err := decodeBytes(resum(b)); err != nil {
		t.Error(err)
	}
}
