package safetensors_test

import (
	"fmt"
	"os"
	"path/filepath"

	"utvi/internal/atomicfile"
	"utvi/internal/safetensors"
)

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.safetensors")

	f := &safetensors.File{
		Metadata: map[string]string{"made by": "an example"},
		Tensors:  []safetensors.Tensor{{Name: "w", Shape: []int{1, 2}, F32: []float32{0.5, -1}}},
	}
	if err := atomicfile.Write(path, f.Write); err != nil {
		fmt.Println(err)
		return
	}
	g, err := safetensors.ReadFile(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.HasChecksum, g.Metadata["made by"], g.Tensors[0].Name, g.Tensors[0].Shape, g.Tensors[0].F32)
	// Output: true an example w [1 2] [0.5 -1]
}
