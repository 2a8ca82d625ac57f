package safetensors

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"utvi/internal/atomicfile"
	"utvi/internal/killtest"
)

func TestMain(m *testing.M) {
	killtest.Serve(func() func(path string, version int) error {
		versions := []*File{version(0), version(1)}
		return func(path string, i int) error { return atomicfile.Write(path, versions[i].Write) }
	})
	os.Exit(m.Run())
}

// version differs from the other version in every value, and in size.
func version(i int) *File {
	x := make([]float32, 50_000+30_000*i)
	for k := range x {
		x[k] = float32(i)
	}
	return &File{Tensors: []Tensor{{Name: "x", Shape: []int{len(x)}, F32: x}}}
}

// A writer killed at any moment leaves one whole version or the other.
func TestKilledWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model")
	if err := atomicfile.Write(path, version(0).Write); err != nil {
		t.Fatal(err)
	}
	killtest.Writer(t, path, 15*time.Millisecond, func() (int, error) {
		f, err := ReadFile(path)
		if err != nil {
			return 0, err
		}
		for i := range 2 {
			if f.HasChecksum && slices.Equal(f.Tensors[0].F32, version(i).Tensors[0].F32) {
				return i, nil
			}
		}
		return 0, errors.New("the file is neither version")
	})
}
