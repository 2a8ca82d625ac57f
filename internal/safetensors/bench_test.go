package safetensors

import (
	"bytes"
	"io"
	"testing"
)

// large is 100 MB of float32.
func large() *File {
	x := make([]float32, 25_000_000)
	for i := range x {
		x[i] = float32(i)
	}
	return &File{Tensors: []Tensor{{Name: "x", Shape: []int{5000, 5000}, F32: x}}}
}

func BenchmarkWrite(b *testing.B) {
	f := large()
	b.SetBytes(int64(4 * len(f.Tensors[0].F32)))
	for b.Loop() {
		if err := f.Write(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	file := encoded(b, large())
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(bytes.NewReader(file), int64(len(file))); err != nil {
			b.Fatal(err)
		}
	}
}
