package gpu_test

import (
	"slices"
	"testing"

	"utvi/engine"
	"utvi/engine/gpu"
	"utvi/internal/compute"
	"utvi/optim"
	"utvi/rng"
)

// A measurement has a time for a forward pass, a step, and each kernel of a step.
func TestTime(t *testing.T) {
	e := card(t)
	gpu.MeasureLittle()
	c := cases()[0]
	pool := compute.NewPool(1)
	defer pool.Close()
	r, err := e.Time(network(t, c.in, c.layers), engine.Job{Data: source(t, c, false, false), Likelihood: c.likelihood, Optimizer: optim.Paper(), Batch: 16, Seed: rng.New(9), Pool: pool})
	if err != nil {
		t.Fatal(err)
	}
	if !(r.Forward > 0 && r.Step > r.Forward) || len(r.Kernels) < 3 {
		t.Fatalf("%+v", r)
	}
	var names []string
	for _, k := range r.Kernels {
		names = append(names, k.Kernel)
		t.Logf("%s, %d blocks: %.0f µs", k.Kernel, k.Blocks, k.US)
		if k.Kernel == "" || k.Blocks < 1 || !(k.US > 0) {
			t.Errorf("%+v", k)
		}
	}
	if slices.Contains(names, "fused_any") || slices.Contains(names, "rows_any") {
		t.Errorf("a plain network runs in kernels that the driver takes long to compile: %v", names)
	}
}
