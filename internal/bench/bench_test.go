package bench

import (
	"context"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"utvi/internal/compute"
	"utvi/moment"
	"utvi/nn"
)

// A short run measures everything it promises, with numbers that can be.
func TestRun(t *testing.T) {
	r, err := Run(context.Background(), Options{window: time.Millisecond, Nets: []string{"1-128-128-1"}, Rules: []string{"ut", "none"}, Batches: []int{1, 128}, Threads: []int{1}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Limits) != 1 || !(r.Limits[0].Bandwidth > 0) || !(r.Limits[0].GFLOPS > 0) {
		t.Errorf("limits %+v", r.Limits)
	}
	if !(r.Peak > 0) || len(r.Networks) != 4 || len(r.Layers) != len(benchLayers) {
		t.Fatalf("peak %v, %d networks, %d layers", r.Peak, len(r.Networks), len(r.Layers))
	}
	var names []string
	for _, k := range r.Kernels {
		names = append(names, k.Name)
		if !(k.Percent > 0) && !(k.NsElem > 0) {
			t.Errorf("%s %s: %+v", k.Name, k.Shape, k)
		}
	}
	for _, want := range []string{"product", "dense_forward", "dense_backward", "tanh", "x/(1+x*x)", "normals", "adamw_step"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not measured", want)
		}
	}
	for _, n := range r.Networks {
		if !(n.ForwardUS > 0 && n.StepUS > 0 && n.ForwardFloor > 0 && n.StepFloor > 0) || n.Allocs != 0 {
			t.Errorf("%+v", n)
		}
	}
}

// Layers are measured on inputs with variance: the unscented transform looks at three
// points of each of 12 rows of 64 units, not at their means alone.
func TestLayersCarryMoments(t *testing.T) {
	seen := map[float64]bool{}
	f := &moment.Func{F: func(x float64) float64 { seen[x] = true; return x }, DF: func(float64) float64 { return 1 }}
	if _, err := layer(nn.Apply{F: f, Rule: moment.UT(2)}, nn.Vec(64), 1, time.Microsecond); err != nil {
		t.Fatal(err)
	}
	if want := 3 * 12 * 64; len(seen) != want {
		t.Errorf("the function was seen at %d points, want %d", len(seen), want)
	}
}

// The floors are those of the products: forward 2·W₁ + 3·W, step 4·W₁ + 9·W.
func TestFloors(t *testing.T) {
	for _, n := range nets {
		if n.name != "64-512-512-512-8" {
			continue
		}
		first, rest := 64.*512, 2*512.*512+512*8
		forward, step := n.floors(10, false)
		if forward != 20*(2*first+3*rest) || step != 20*(4*first+9*rest) {
			t.Errorf("%s: %v and %v", n.name, forward, step)
		}
	}
}

// Networks are measured beside one thread, and gains are listed for several threads only.
func TestGains(t *testing.T) {
	r, err := Run(context.Background(), Options{window: time.Millisecond, NoKernels: true, Nets: []string{"1-128-128-1"}, Rules: []string{"ut"}, Batches: []int{128}, Threads: []int{1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	gains := r.Gains()
	if len(r.Networks) != 2 || r.Networks[0].ForwardGain != 0 || len(gains) != 1 {
		t.Fatalf("%+v", r.Networks)
	}
	if g := gains[0]; g.Threads != 2 || g.Batch != 128 || !(g.Forward > 0) || !(g.Step > 0) {
		t.Errorf("%+v", g)
	}
}

// A gain is the time of one over that of many, whatever the two take.
func TestMeasureGain(t *testing.T) {
	sleep := func(d time.Duration) func() { return func() { time.Sleep(d) } }
	synctest.Test(t, func(t *testing.T) { // its clock goes by sleeps alone
		g := measureGain(3, time.Millisecond, sleep(100*time.Millisecond), sleep(time.Millisecond))
		if math.Abs(g-100) > 1e-9 {
			t.Errorf("a hundred times as fast is %v", g)
		}
	})
}

// More workers than there are parts of the memory read what there is.
func TestMemoryOfManyWorkers(t *testing.T) {
	pool := compute.NewPool(4)
	defer pool.Close()
	m := &memory{size: 1 << 20}
	if rate := m.read(pool, time.Millisecond); !(rate > 0) {
		t.Errorf("%v GB/s", rate)
	}
}
