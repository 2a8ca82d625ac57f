package train_test

import (
	"strings"
	"testing"

	"utvi/internal/compute"
	"utvi/internal/safetensors"
	"utvi/moment"
)

// A network says which kernels trained it, also where a machine of another kind began.
func TestFactsNameTheKernels(t *testing.T) {
	c := checkpointed(t)
	rewrite(t, c.Checkpoint, func(f *safetensors.File) {
		const key = "utvi.checkpoint"
		f.Metadata[key] = strings.Replace(f.Metadata[key], `"kernels":"`+compute.Family(), `"kernels":"others`, 1)
	})
	m := network(moment.UT(2))
	run(t, m, c)
	if m.Facts.Kernels != "others" {
		t.Errorf("after no step of its own, a continued training names the kernels %q", m.Facts.Kernels)
	}
	c.Steps += 2
	m = network(moment.UT(2))
	run(t, m, c)
	if want := "others, " + compute.Family(); m.Facts.Kernels != want {
		t.Errorf("a continued training names the kernels %q, want %q", m.Facts.Kernels, want)
	}
}
