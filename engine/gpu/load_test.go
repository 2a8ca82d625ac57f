package gpu

import (
	"maps"
	"testing"

	"utvi/internal/cuda"
	"utvi/internal/cuda/kernels"
)

// Every kernel that the engine names exists, and every kernel that exists is used.
func TestKernelNames(t *testing.T) {
	if !kernels.Embedded {
		t.Skip("not run: this program embeds no kernels, for it cannot call a driver")
	}
	d := &cuda.Device{}
	k := &kernelSet{}
	used := map[string]bool{}
	there := map[string]bool{}
	for _, x := range []struct {
		text kernels.Text
		all  []entry
	}{
		{kernels.Base, k.base()}, {kernels.Sensed, k.plain(d)}, {kernels.Tensor, k.tensor()},
		{kernels.Fused, k.small(d)}, {kernels.DenseNet, k.denseNetEntries(d)}, {kernels.ConvNet, k.convNetEntries(d)}, {kernels.ManyDense, k.manyDenseEntries(d)}, {kernels.Hopper, k.wide()},
	} {
		names := x.text.Kernels()
		maps.Copy(there, names)
		for _, e := range x.all {
			used[e.name] = true
			if !names[e.name] {
				t.Errorf("there is no kernel %s", e.name)
			}
		}
	}
	for name := range there {
		if !used[name] {
			t.Errorf("nobody uses the kernel %s", name)
		}
	}
}
