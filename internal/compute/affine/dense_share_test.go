package affine

import (
	"testing"

	"utvi/internal/compute/internal/cpu"
)

// Tiles of the gradients of wide layers give every core as much to do.
func TestShareGradients(t *testing.T) {
	defer func(was cpu.Caches) { cpu.Cache = was }(cpu.Cache)
	for _, cpu.Cache.L2 = range []int{512 << 10, 2 << 20} {
		for _, s := range [][2]int{{512, 512}, {784, 2048}, {2048, 2048}, {1024, 300}} {
			for _, cores := range []int{2, 3, 4, 8, 12, 16} {
				d := Dense[float32]{In: s[0], Out: s[1]}
				d.shareGradients(cores)
				most := ceil(d.GradTiles(), cores) * d.gradRows * min(d.gradOutputs, d.Out)
				if want := d.In * d.Out / cores; most > want+want/8 {
					t.Errorf("%d × %d, %d cores: tiles of %d × %d give one core %.2f times its share",
						d.In, d.Out, cores, d.gradRows, d.gradOutputs, float64(most)/float64(want))
				}
			}
		}
	}
}
