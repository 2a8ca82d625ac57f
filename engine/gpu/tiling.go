package gpu

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"utvi/internal/cuda"
)

// A tiling cuts products on tensor cores into tiles, one for a block. All of them give
// the same bits: which one runs is a gradientOperands of speed alone.
type tiling struct {
	name                string
	rows, cols, threads int
	spare               bool        // it runs on request only
	forward, fixed      cuda.Kernel // fixed: of inputs without variances
	backward, gradients cuda.Kernel
}

// tilings lists the tiles, large ones first. Large tiles load less, small ones keep more
// multiprocessors busy. A thread of broad has more results than one of large.
var tilings = []tiling{
	{name: "broad", rows: 128, cols: 64, threads: 256, spare: true},
	{name: "large", rows: 128, cols: 64, threads: 512},
	{name: "medium", rows: 64, cols: 64, threads: 256},
	{name: "small", rows: 64, cols: 32, threads: 256},
	{name: "tiny", rows: 32, cols: 32, threads: 128},
}

// odd are the sides and threads of the tiles for operands that are not aligned.
const oddRows, oddCols, oddThreads = 64, 32, 256

// tileVariable names the environment variable that forces a tiling, to compare them.
const tileVariable = "UTVI_CUDA_TILE"

// Tiles returns the names of the tilings, large ones first.
func Tiles() []string {
	var all []string
	for _, t := range tilings {
		all = append(all, t.name)
	}
	return all
}

// Tile makes all later programs of the engine use one tiling for all products; "" lets
// the engine choose by their shapes. No result depends on it.
func (e *Engine) Tile(name string) error {
	if name != "" && !slices.Contains(Tiles(), name) {
		return fmt.Errorf("unknown tiling %q; use %s", name, strings.Join(Tiles(), ", "))
	}
	e.tile = name
	return nil
}

// startTile returns the tiling that the environment asks for.
func startTile() string { return os.Getenv(tileVariable) }

// stages and depth are those of the kernels.
const stages, stageDepth = 3, 16

// shared returns the bytes of shared memory of a product: both operands with their second
// parts. An operand is deep if its rows run along the depth.
func shared(rows, cols int, deepA, deepB bool) int {
	room := func(side int, deep bool) int {
		if deep {
			return side * (stageDepth + 4)
		}
		return stageDepth * (side + 8)
	}
	return 4 * stages * 2 * (room(rows, deepA) + room(cols, deepB))
}

// tensor lists the kernels that run on tensor cores.
func (k *kernelSet) tensor() []entry {
	k.tilings = slices.Clone(tilings)
	all := []entry{
		{"tensor_forward_odd", &k.forwardOdd, shared(oddRows, oddCols, true, false)},
		{"tensor_backward_odd", &k.backwardOdd, shared(oddRows, oddCols, true, true)},
	}
	for i := range k.tilings {
		t := &k.tilings[i]
		all = append(all,
			entry{"tensor_forward_" + t.name, &t.forward, shared(t.rows, t.cols, true, false)},
			entry{"tensor_fixed_" + t.name, &t.fixed, shared(t.rows, t.cols, true, false)},
			entry{"tensor_backward_" + t.name, &t.backward, shared(t.rows, t.cols, true, true)},
			entry{"tensor_gradients_" + t.name, &t.gradients, shared(t.rows, t.cols, false, false)})
	}
	return all
}

// networksBeside is how many networks side by side the sizes of tiles are chosen for.
const networksBeside = 8

// tiling returns the tiling for products of which count returns the number of tiles: the
// largest one that keeps the multiprocessors busy.
func (w *weights) tiling(sideBySide bool, count func(t *tiling) int) *tiling {
	all := w.kernels.tilings
	networks := 1
	if sideBySide {
		networks = networksBeside
	}
	for i := range all {
		if t := &all[i]; t.name == w.tile || w.tile == "" && !t.spare && 10*networks*count(t) >= 9*w.device.Processors {
			return t
		}
	}
	return &all[len(all)-1]
}
