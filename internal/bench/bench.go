// Package bench measures the kernels and whole networks against two limits of the
// machine: the FMA peak of its cores and the bandwidth of its memory.
//
// Machines are noisy, so nothing is compared across time: a measurement and the
// peak alternate in short windows, and the figure reported is the median of the
// ratios of neighbouring windows.
package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"utvi/internal/compute"
	"utvi/internal/compute/product"
	"utvi/internal/provenance"
)

// A Report is what `utvi bench --json` prints.
type Report struct {
	Arch     string    `json:"arch"`
	CPU      string    `json:"cpu,omitempty"`
	Cores    int       `json:"cores"`
	L1       int       `json:"l1_bytes"`
	L2       int       `json:"l2_bytes"`
	L3       int       `json:"l3_bytes"`
	Family   string    `json:"kernels_family"`
	Peak     float64   `json:"peak_gflops"`
	Limits   []Limit   `json:"limits"`
	Kernels  []Kernel  `json:"kernels"`
	Layers   []Layer   `json:"layers"`
	Networks []Network `json:"networks"`
}

// A Kernel is the figure of one kernel: of the peak for products, of time for
// elementwise work.
type Kernel struct {
	Name    string  `json:"name"`
	Shape   string  `json:"shape,omitempty"`
	Threads int     `json:"threads"`
	GFLOPS  float64 `json:"gflops,omitempty"`
	Percent float64 `json:"percent_of_peak,omitempty"`
	NsElem  float64 `json:"ns_per_element,omitempty"`
}

// A Network is the figure of one network, rule, batch and number of threads.
// Floors are the arithmetic of the products alone at the measured peak, and the weights
// read (forward), or the parameters and moments read and written (step), once from
// memory; 0 where a core's own caches hold the weights.
type Network struct {
	Net          string  `json:"net"`
	Rule         string  `json:"rule"`
	Batch        int     `json:"batch"`
	Threads      int     `json:"threads"`
	ForwardUS    float64 `json:"forward_us"`
	StepUS       float64 `json:"step_us"`
	Allocs       float64 `json:"allocs"`
	ForwardFloor float64 `json:"forward_over_floor"`
	StepFloor    float64 `json:"step_over_floor"`

	ForwardMemory float64 `json:"forward_over_memory,omitempty"`
	StepMemory    float64 `json:"step_over_memory,omitempty"`

	// How many times faster than with one thread; 0: it is one thread.
	ForwardGain float64 `json:"forward_over_one_thread,omitempty"`
	StepGain    float64 `json:"step_over_one_thread,omitempty"`
}

// Options choose what is measured.
type Options struct {
	Quick     bool          // about 30 seconds
	NoKernels bool          // networks only, no kernels and layers
	Nets      []string      // nil: all
	Rules     []string      // nil: all
	Batches   []int         // nil: all
	Threads   []int         // nil: 1, 2, 4, … and all cores
	window    time.Duration // of tests, which need no good figures
	// Progress is called before each measurement.
	Progress func(done, total int, what string)
}

// A timing is one thing to measure.
type timing struct {
	what string
	run  func(ctx context.Context, windows int, window time.Duration) error
}

// Run measures.
func Run(ctx context.Context, o Options) (*Report, error) {
	here, caches := provenance.Here(), compute.MachineCaches()
	r := &Report{Arch: runtime.GOARCH, CPU: here.CPU, Cores: here.Cores, Family: here.Kernels,
		L1: caches.L1, L2: caches.L2, L3: caches.L3}
	o.Threads = threads(o.Threads)
	windows, window := 9, 60*time.Millisecond
	if o.Quick {
		windows, window = 3, 12*time.Millisecond
	}
	if o.window > 0 {
		windows, window = 1, o.window
	}
	m := newMemory(caches)
	todo := limits(r, o.Threads, m)
	if !o.NoKernels {
		todo = append(append(todo, kernels(r)...), layers(r)...)
	}
	nets := networks(r, o, m)
	todo = append(todo, nets...)
	if len(nets) == 0 && o.NoKernels {
		return nil, errors.New("bench: the options leave nothing to measure")
	}
	var peaks []float64
	for i, t := range todo {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if o.Progress != nil {
			o.Progress(i, len(todo), t.what)
		}
		if err := t.run(ctx, windows, window); err != nil {
			return nil, fmt.Errorf("bench: %s: %w", t.what, err)
		}
		peaks = append(peaks, product.PeakGFLOPS(time.Millisecond))
	}
	r.Peak = median(peaks)
	return r, nil
}

// A figure is the median over windows of the time of one call, and of that time
// over what flop operations take at the peak.
type figure struct {
	seconds, overFloor, gflops float64
}

// measure alternates windows of f and of the peak. threads scales the peak.
func measure(windows int, window time.Duration, flop float64, threads int, f func()) figure {
	f() // warm
	var seconds, ratios []float64
	for range windows {
		peak := product.PeakGFLOPS(window / 8)
		s := fastest(window, f)
		peak = max(peak, product.PeakGFLOPS(window/8))
		seconds = append(seconds, s)
		ratios = append(ratios, s*peak*1e9*float64(threads)/max(flop, 1))
	}
	s := median(seconds)
	return figure{s, median(ratios), flop / s / 1e9}
}

// fastest repeats f for a window. Its fastest quarter counts, as the peak's own window keeps its
// best: the time of a call in seconds that these calls stay below.
func fastest(window time.Duration, f func()) float64 {
	var calls []float64
	for begin := time.Now(); time.Since(begin) < window || len(calls) == 0; {
		n := 1
		t := time.Now()
		f()
		d := time.Since(t)
		for d < 20*time.Microsecond { // short calls
			f()
			n++
			d = time.Since(t)
		}
		calls = append(calls, d.Seconds()/float64(n))
	}
	slices.Sort(calls)
	return calls[len(calls)/4]
}

// median sorts x and returns the one in the middle.
func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// allocs is how often a call of f allocates, once it is warm: the least of three counts,
// since other goroutines allocate now and then.
func allocs(f func()) float64 {
	const calls = 4
	var before, after runtime.MemStats
	least := uint64(math.MaxUint64)
	f()
	for range 3 {
		runtime.ReadMemStats(&before)
		for range calls {
			f()
		}
		runtime.ReadMemStats(&after)
		least = min(least, (after.Mallocs-before.Mallocs)/calls)
	}
	return float64(least)
}
